"""Tells the owner something nobody asked for: once per key, in the thread where the owner reads."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from laneway.store import outbox
from laneway.store.database import Connection


async def tell_owner(
    tx: Connection, text: str, *, key: str, kind: str, pulled: Collection[str], not_in: UUID | None = None
) -> bool:
    """The owner has the text as a reply of ours; False if there is no thread to say it in. Never twice for a key."""
    thread = await owners_thread(tx, not_in=not_in)
    if thread is None:
        return False
    await outbox.write(tx, thread, text, external_id=f"notice:{key}", pulled=pulled, meta={"notice": kind})
    return True


async def owners_thread(tx: Connection, *, first: UUID | None = None, not_in: UUID | None = None) -> UUID | None:
    """Where the owner reads: `first`, if it is the owner's, else the thread last written in; never `not_in`."""
    cursor = await tx.execute(
        "SELECT t.id FROM threads t JOIN principals p ON p.id = t.principal_id "
        "WHERE p.role = 'owner' AND t.id IS DISTINCT FROM %s "
        "ORDER BY (t.id = %s) IS TRUE DESC, (SELECT max(seq) FROM messages m WHERE m.thread_id = t.id "
        "AND m.author = 'user') DESC NULLS LAST LIMIT 1",
        (not_in, first),
    )
    row = await cursor.fetchone()
    return None if row is None else UUID(str(row[0]))
