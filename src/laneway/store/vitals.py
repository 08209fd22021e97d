"""Signs of life of a database, read without starting, changing or migrating anything."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import psutil

from laneway.store.database import Connection


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
