"""Loops that last as long as the process begin again after an error, and end when they are told to."""

from __future__ import annotations

import asyncio

import pytest

from laneway.engine.kept import keep

PAUSE = 0.01


class Loop:
    """A loop that fails as often as it is told to, and then waits for ever."""

    def __init__(self, failures: int) -> None:
        self.failures, self.begun, self.over = failures, 0, 0
        self.waiting = asyncio.Event()

    async def run(self) -> None:
        self.begun += 1
        try:
            if self.begun <= self.failures:
                raise ZeroDivisionError("nobody foresaw it")
            self.waiting.set()
            await asyncio.sleep(3600)
        finally:
            self.over += 1


async def test_a_loop_that_fails_begins_again_and_the_log_says_why(caplog: pytest.LogCaptureFixture) -> None:
    loop = Loop(failures=2)
    task = asyncio.create_task(keep("clockwork", loop.run, pause=PAUSE))
    await asyncio.wait_for(loop.waiting.wait(), 30)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert (loop.begun, loop.over) == (3, 3)
    told = [record for record in caplog.records if "clockwork" in record.getMessage()]
    assert len(told) == 2
    assert all(record.exc_info is not None and "nobody foresaw it" in str(record.exc_info[1]) for record in told)


async def test_a_loop_that_is_not_needed_any_more_does_not_begin_again() -> None:
    loop = Loop(failures=2)
    await asyncio.wait_for(keep("clockwork", loop.run, going=lambda: loop.begun < 2, pause=PAUSE), 30)
    assert loop.begun == 2


async def test_a_loop_that_ends_by_itself_stays_ended() -> None:
    begun = []

    async def once() -> None:
        begun.append(True)

    await asyncio.wait_for(keep("clockwork", once, pause=PAUSE), 30)
    assert begun == [True]


async def test_a_loop_told_to_end_may_finish_what_it_has_in_hand() -> None:
    waiting, done = asyncio.Event(), []

    async def careful() -> None:
        try:
            waiting.set()
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(PAUSE)
            done.append(True)

    task = asyncio.create_task(keep("clockwork", careful, pause=PAUSE))
    await asyncio.wait_for(waiting.wait(), 30)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert done == [True]
