"""Signs of life of a database, read without starting, changing or migrating anything."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from pathlib import Path

import psutil

from laneway.errors import Unavailable
from laneway.store import figures
from laneway.store.database import Connection, Database

FRESH_SECONDS, PATIENCE_SECONDS = 0.5, 2.5
"""How long an answer about the database counts, and how long one is waited for: the truth is told within the sum."""


class Pulse:
    """What a database lacks for work, asked by one query at a time, however many want to know."""

    def __init__(self, db: Database) -> None:
        self._db, self._asked_at, self._answer = db, 0.0, list[str]()
        self._asking: asyncio.Task[list[str]] | None = None

    async def missing(self) -> list[str]:
        """What is missing: the database, its tables, or a live worker."""
        now = time.monotonic()
        if self._asking is None or (self._asking.done() and now - self._asked_at > FRESH_SECONDS):
            self._asked_at, self._asking = now, asyncio.create_task(self._ask())
        # Known to be away, it is not waited for: whoever asks whether the process lives wants to know at once.
        patience = 0.1 if self._answer == ["database"] else max(0.0, self._asked_at + PATIENCE_SECONDS - now)
        # Not cancelled: with a server that hangs, cancelling a query hangs as well.
        await asyncio.wait([self._asking], timeout=patience)
        self._answer = self._asking.result() if self._asking.done() else ["database"]
        return self._answer

    async def _ask(self) -> list[str]:
        try:
            async with self._db.transaction() as tx:
                if not await figures.migrated(tx):
                    return ["migrated"]
                return [] if await figures.live_workers(tx) else ["worker"]
        except Unavailable:
            return ["database"]


def running_address(home: Path) -> str | None:
    """The address of the embedded server of this data directory if it runs."""
    # The file PostgreSQL keeps while it runs: process id, directory, start, port, socket directory, …
    try:
        lines = (home / "postgres" / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        pid, socket_directory = int(lines[0]), lines[4].strip()
        if psutil.Process(pid).name() != "postgres":
            return None
    except (OSError, ValueError, IndexError, psutil.Error):
        return None
    return f"postgresql://postgres:@/postgres?host={socket_directory}"


async def now(tx: Connection) -> datetime:
    """What time it is for the database."""
    cursor = await tx.execute("SELECT clock_timestamp()")
    row = await cursor.fetchone()
    assert row is not None
    moment: datetime = row[0]
    return moment
