"""While many come in, everybody else takes turns in the moments the doors leave; at other times nobody waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from laneway.engine import breath
from laneway.engine.breath import Breath

pytestmark = pytest.mark.alone
"""The doors are busy for a second after a crowd came: a collector that holds the process so long would end that."""


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
    with here.door():
        began = time.monotonic()
        for _ in range(1000):
            await here.turn()
    assert not here.busy
    assert time.monotonic() - began < breath.BUSY_SECONDS


async def test_while_somebody_of_many_stands_at_a_door_nothing_else_begins_and_never_for_good() -> None:
    here = Breath()
    crowd(here)
    with here.door():
        began = time.monotonic()
        await here.turn()
    assert time.monotonic() - began >= breath.LONGEST_SECONDS


async def test_the_turn_comes_as_soon_as_the_doors_are_free() -> None:
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
    assert order == ["door", "job"]


async def test_a_late_loop_holds_everybody_else_back_while_the_doors_are_busy() -> None:
    here = Breath()

    async def busy() -> None:
        while True:
            time.sleep(breath.LATE_SECONDS * 8)  # noqa: ASYNC251  the loop shall be late
            await asyncio.sleep(0)

    crowd(here)
    task = asyncio.create_task(busy())
    began = time.monotonic()
    await here.turn()
    waited = time.monotonic() - began
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert waited >= breath.LONGEST_SECONDS


async def test_turns_are_given_one_by_one_and_nobody_starves() -> None:
    here = Breath()
    crowd(here)
    begun: list[int] = []

    async def job(number: int) -> None:
        await here.turn()
        begun.append(number)

    async with coming(here):
        await asyncio.gather(*(job(number) for number in range(20)))
    assert begun == list(range(20))
