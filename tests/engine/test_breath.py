"""While many come in, everybody else takes turns in the moments the doors leave; at other times nobody waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from laneway.engine import breath
from laneway.engine.breath import Breath


def crowd(here: Breath) -> None:
    """So many have just come that the doors are busy."""
    for _ in range(breath.BUSY_COUNT):
        with here.door():
            pass


@asynccontextmanager
async def coming(here: Breath) -> AsyncIterator[None]:
    """Others keep coming, one after the other, as long as the block lasts."""

    async def come() -> None:
        while True:
            with here.door():
                await asyncio.sleep(0)
            await asyncio.sleep(breath.BUSY_SECONDS / breath.BUSY_COUNT / 4)

    task = asyncio.create_task(come())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_whoever_comes_alone_makes_nobody_wait() -> None:
    here = Breath()
    # The turn is taken before anything else runs.
    with here.door(), pytest.raises(StopIteration):
        here.turn().send(None)


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


async def test_turns_are_given_one_by_one_and_nobody_starves() -> None:
    here = Breath()
    crowd(here)
    begun: list[int] = []

    async def job(number: int) -> None:
        await here.turn()
        begun.append(number)

    async with coming(here):
        await asyncio.gather(*(job(number) for number in range(5)))
    assert begun == list(range(5))
