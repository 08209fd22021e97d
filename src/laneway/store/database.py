"""The pool, transactions, and listening for notifications."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from laneway.store.json_columns import read_fast
from laneway.store.migrate import unreachable

Connection = AsyncConnection[TupleRow]

JOBS, CANCELS, OUTBOX, EVENTS, DELTAS, CORRECTIONS, DUE = (
    "laneway_jobs",
    "laneway_cancels",
    "laneway_outbox",
    "laneway_events",
    "laneway_deltas",
    "laneway_corrections",
    "laneway_due",
)
"""Notification channels: a job is ready, a job must stop, a reply is ready, an event was stored, text streams,
a correction was made or decided, something became due earlier than before."""


class Database:
    """One PostgreSQL, reached through a small pool."""

    def __init__(self, url: str, size: int = 12) -> None:
        self.url = url
        read_fast()
        # A run that is stopped in the middle of a query costs its connection; the pool need not shout about it.
        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url, min_size=2, max_size=size, open=False, timeout=5, kwargs={"connect_timeout": 5}, name="laneway",
            # Whoever asks next tries anew: left to itself, the pool pauses for minutes after a long outage.
            reconnect_timeout=2,
        )  # fmt: skip

    async def open(self) -> None:
        """The pool is connected, or Unavailable says why not."""
        try:
            await self._pool.open(wait=True, timeout=10)
        except (PoolTimeout, psycopg.OperationalError) as error:
            await self._pool.close()
            raise unreachable(self.url, error) from error

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A connection inside a transaction: all of it is committed, or none."""
        try:
            async with self._pool.connection() as connection:
                yield connection
        except (PoolTimeout, psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise self._gone(error) from error

    async def listen(self, *channels: str) -> AsyncGenerator[tuple[str, str] | None, None]:
        """Yields None once listening, then each (channel, payload); ends with Unavailable when the server goes."""
        try:
            connection = await AsyncConnection.connect(self.url, autocommit=True, connect_timeout=5)
        except psycopg.OperationalError as error:
            raise self._gone(error) from error
        async with connection:
            try:
                for channel in channels:
                    await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
                yield None
                async for notification in connection.notifies():
                    yield notification.channel, notification.payload
            except psycopg.OperationalError as error:
                raise self._gone(error) from error

    @asynccontextmanager
    async def lone_connection(self) -> AsyncIterator[Connection]:
        """A connection of its own that commits each statement; Unavailable when the server goes."""
        try:
            async with await AsyncConnection.connect(self.url, autocommit=True, connect_timeout=5) as connection:
                yield connection
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise self._gone(error) from error

    def _gone(self, error: Exception) -> BaseException:
        """What to raise when a query ended with an error of the server: a query that was cancelled with us is none."""
        task = asyncio.current_task()
        return asyncio.CancelledError() if task is not None and task.cancelling() else unreachable(self.url, error)

    async def notify(self, channel: str, payload: str) -> None:
        """Whoever listens on `channel` has been told `payload`; nothing is stored."""
        async with self.transaction() as tx:
            await tx.execute("SELECT pg_notify(%s, %s)", (channel, payload))
