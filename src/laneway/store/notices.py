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
    thread = await owners_thread(tx, pulled, not_in=not_in)
    if thread is None:
        return False
    await outbox.write(tx, thread, text, external_id=f"notice:{key}", pulled=pulled, meta={"notice": kind})
    return True


async def owners_thread(
    tx: Connection, pulled: Collection[str], *, first: UUID | None = None, not_in: UUID | None = None,
    channels: Collection[str] | None = None,
) -> UUID | None:  # fmt: skip
    """Where the owner reads alone: `first`, if it is the owner's, else the thread last written in; never `not_in`.

    With `channels`, only on one of those.

    On a pushed channel that is a thread named after the owner or one of the owner's addresses: in any other one
    people read along, or its address is the owner's no more.
    """
    cursor = await tx.execute(
        """
        SELECT t.id FROM threads t JOIN principals p ON p.id = t.principal_id
        WHERE p.role = 'owner' AND t.id IS DISTINCT FROM %(not_in)s
          AND (%(channels)s::text[] IS NULL OR t.channel = ANY(%(channels)s))
          AND (t.id = %(first)s OR t.channel = ANY(%(pulled)s) OR t.external_id = p.id::text OR EXISTS (
              SELECT 1 FROM addresses a WHERE a.principal_id = p.id AND NOT starts_with(t.external_id, '-')
              AND a.address = t.channel || ':' || split_part(t.external_id, '/', 1)))
        ORDER BY (t.id = %(first)s) IS TRUE DESC, (
            SELECT max(seq) FROM messages m WHERE m.thread_id = t.id AND m.author = 'user') DESC NULLS LAST LIMIT 1
        """,
        {
            "not_in": not_in,
            "first": first,
            "pulled": list(pulled),
            "channels": None if channels is None else list(channels),
        },
    )
    row = await cursor.fetchone()
    return None if row is None else UUID(str(row[0]))
