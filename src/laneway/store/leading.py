"""One process at a time: a lock of the database, held as long as the connection that took it lasts."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from laneway.store.database import Connection, Database

TRY_AGAIN_SECONDS = 5.0
_SPACE = 0x1A4E  # Locks of ours, apart from those of others in the same database.


@asynccontextmanager
async def leading(db: Database, name: str, pause: float = TRY_AGAIN_SECONDS) -> AsyncIterator[Connection]:
    """Nobody else leads under this name while the block lasts; waits for its turn."""
    number = zlib.crc32(name.encode()) - 2**31
    async with db.lone_connection() as connection:
        while True:
            cursor = await connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (_SPACE, number))
            row = await cursor.fetchone()
            if row and row[0]:
                break
            await asyncio.sleep(pause)
        yield connection


async def still_leading(connection: Connection) -> None:
    """Returns if the lock is still ours; the error of a lost connection says that it may not be."""
    await connection.execute("SELECT 1")
