"""Makes an order certain: what a test needs to know about who waits for whom in the database."""

from __future__ import annotations

import asyncio

from laneway.store.database import Database


async def somebody_waits(db: Database, how_many: int = 1, seconds: float = 20) -> None:
    """Returns once so many transactions in this database wait for a lock of another."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with asyncio.timeout(seconds):
        while True:
            async with db.transaction() as tx:
                row = await (await tx.execute(waiting)).fetchone()
            if row is not None and row[0] >= how_many:
                return
            await asyncio.sleep(0.02)
