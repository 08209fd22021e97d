"""A job that was given a time ends when it is over; the time it waits for a person does not count."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from laneway.engine.running import End, Run
from laneway.store import job_parts
from laneway.store.database import Database


@asynccontextmanager
async def limited(db: Database, run: Run) -> AsyncIterator[None]:
    """The run is told to end when its job's time is over, if it was given one."""
    given = (run.job.payload.get("runner") or {}).get("timeout_sec")
    if not isinstance(given, int | float):
        yield
        return
    async with db.transaction() as tx:
        spent = await job_parts.expense(tx, run.job.id)
    left = given - spent["execution_time_ms"] / 1000
    timer = asyncio.get_running_loop().call_later(max(0.0, left), run.stop, End.LATE)
    try:
        yield
    finally:
        timer.cancel()
