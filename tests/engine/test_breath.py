"""While the event loop is late, jobs begin one by one; a job that comes alone is never held up."""

from __future__ import annotations

import asyncio
import time

from laneway.engine import breath


async def test_a_job_that_comes_alone_begins_at_once() -> None:
    began = time.monotonic()
    for _ in range(1000):
        await breath.room(breath.AT_ONCE - 1)
    assert time.monotonic() - began < breath.LONGEST_SECONDS


async def test_a_busy_loop_holds_jobs_back_and_never_for_good() -> None:
    async def busy() -> None:
        while True:
            time.sleep(breath.LATE_SECONDS * 3)  # noqa: ASYNC251  the loop shall be late
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(busy()) for _ in range(2)]
    began = time.monotonic()
    await breath.room(20)
    waited = time.monotonic() - began
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert waited >= breath.LONGEST_SECONDS
    assert waited < 20 * breath.LONGEST_SECONDS
