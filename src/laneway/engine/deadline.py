"""A job that was given a time ends when it is over; the time it waits for a person does not count."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from laneway.clock import SystemClock
from laneway.engine.running import End, Run
from laneway.store import approvals
from laneway.store.database import Database


@asynccontextmanager
async def limited(db: Database, run: Run) -> AsyncIterator[None]:
    """The run is told to end when its job's time is over, if it was given one."""
    left = await seconds_left(db, run)
    if left is None:
        yield
        return
    timer = asyncio.get_running_loop().call_later(max(0.0, left), run.stop, End.LATE)
    try:
        yield
    finally:
        timer.cancel()


async def seconds_left(db: Database, run: Run) -> float | None:
    """How long the run may take: what earlier runs left, all of it after a question; None without a limit."""
    given = (run.job.payload.get("runner") or {}).get("timeout_sec")
    if not isinstance(given, int | float):
        return None
    async with db.transaction() as tx:
        asked = await approvals.any_of_job(tx, run.job.id)
    began = run.job.started_at
    spent = 0.0 if asked or began is None else (SystemClock().now() - began).total_seconds()
    return float(given) - spent
