"""What a live reader of events needs beside them: whether some are committed but may not be shown yet."""

from __future__ import annotations

from laneway.errors import BadInput
from laneway.store import events
from laneway.store.database import Connection

LARGEST = 2**63 - 1


async def withheld(tx: Connection) -> bool:
    """Whether committed events wait for an older transaction to end; its end will notify nobody.

    Ask this before `events.after`: False then means that everything committed by now is in what is read.
    """
    cursor = await tx.execute(
        "SELECT EXISTS (SELECT 1 FROM events WHERE xact >= pg_snapshot_xmin(pg_current_snapshot()))"
    )
    row = await cursor.fetchone()
    return bool(row and row[0])


async def place(tx: Connection, since: str) -> str:
    """The cursor that `since` means: `now`, `start`, or the id of an event."""
    if since == "now":
        return await events.newest_cursor(tx)
    if since == "start":
        return events.START
    if max(events.parse_cursor(since)) > LARGEST:
        raise BadInput(
            f"`{since[:40]}` is not an event cursor.", hint="Use the id of an event you received, as it was."
        )
    return since
