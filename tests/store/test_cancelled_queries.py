"""A query that is cancelled with its task ends as a cancellation, not as a database that went away."""

from __future__ import annotations

import asyncio

import pytest

from laneway.store.database import Database


async def test_a_cancelled_query_is_a_cancellation(database_url: str) -> None:
    db = Database(database_url)
    await db.open()
    try:

        async def slow() -> None:
            async with db.transaction() as tx:
                await tx.execute("SELECT pg_sleep(30)")

        for pause in (0.001, 0.01, 0.1):
            task = asyncio.create_task(slow())
            await asyncio.sleep(pause)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(asyncio.shield(task), 30)
    finally:
        await db.close()
