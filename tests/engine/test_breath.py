"""While many come in, everybody else takes turns in the moments the doors leave; at other times nobody waits."""

from __future__ import annotations

import asyncio

from laneway.engine import breath
from laneway.engine.breath import Breath


def crowd(here: Breath) -> None:
    """So many have just come that the doors are busy."""
    for _ in range(breath.BUSY_COUNT):
        with here.door():
            pass


async def test_the_turn_comes_as_soon_as_the_doors_are_free_and_in_a_moment_if_they_never_are() -> None:
    here = Breath()
    order: list[str] = []

    async def job() -> None:
        await here.turn()
        order.append("job")

    crowd(here)
    with here.door():
        waiting = asyncio.create_task(job())
        await asyncio.sleep(0)
        order.append("door")
    await waiting
    crowd(here)
    with here.door():
        waiting = asyncio.create_task(job())
        await asyncio.sleep(0)
        order.append("door")
        await waiting
    assert order == ["door", "job"] * 2
