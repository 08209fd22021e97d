"""Tells the owner something nobody asked for: once per key, in the one place where the owner reads."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from laneway.domain.conversation import Role
from laneway.errors import BadInput
from laneway.store import conversations, events, outbox
from laneway.store.database import Connection

# A person wrote it: no program, no request of the runner, which nobody reads again, and no work handed on.
_WRITTEN = """
SELECT m.seq FROM messages m JOIN jobs j ON j.message_id = m.id JOIN principals w ON w.id = m.principal_id
WHERE m.thread_id = t.id AND m.author = 'user' AND NOT m.meta ? 'by_job' AND w.role = ANY(%(roles)s)
  AND j.scope = 'reactive' AND NOT j.program AND coalesce(j.payload->'runner'->>'door', 'chat') = 'chat'
ORDER BY m.seq DESC LIMIT 1
"""


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
    tx: Connection, pulled: Collection[str], *, not_in: UUID | None = None, channels: Collection[str] | None = None,
    role: Role = Role.OWNER,
) -> UUID | None:  # fmt: skip
    """Where the owner, or somebody of another `role`, reads alone: the thread that was chosen, else the last used.

    Never `not_in`, and with `channels` only on one of those. On a pushed channel it is a thread named after the
    person or one of the person's addresses: in any other one people read along, or its address is the person's no
    more. On a pulled one it is a thread that a person wrote in: what a program opens for a request nobody reads.
    """
    cursor = await tx.execute(
        f"""
        SELECT t.id FROM threads t JOIN principals p ON p.id = t.principal_id LEFT JOIN LATERAL ({_WRITTEN}) s ON true
        WHERE p.role = ANY(%(roles)s) AND t.id IS DISTINCT FROM %(not_in)s
          AND (%(channels)s::text[] IS NULL OR t.channel = ANY(%(channels)s))
          AND (t.channel = ANY(%(pulled)s) AND (t.notices OR s.seq IS NOT NULL) OR t.external_id = p.id::text
              OR EXISTS (SELECT 1 FROM addresses a WHERE a.principal_id = p.id AND NOT starts_with(t.external_id, '-')
              AND a.address = t.channel || ':' || split_part(t.external_id, '/', 1)))
        ORDER BY t.notices DESC, s.seq DESC NULLS LAST LIMIT 1
        """,
        {
            "roles": [role],
            "not_in": not_in,
            "pulled": list(pulled),
            "channels": None if channels is None else list(channels),
        },
    )
    row = await cursor.fetchone()
    return None if row is None else UUID(str(row[0]))


async def is_read(tx: Connection, thread_id: UUID, roles: Collection[str]) -> bool:
    """Whether somebody of these roles has written in the thread, and so reads what is said there."""
    cursor = await tx.execute(
        f"SELECT 1 FROM threads t WHERE t.id = %(thread)s AND EXISTS ({_WRITTEN})",
        {"thread": thread_id, "roles": list(roles)},
    )
    return await cursor.fetchone() is not None


async def place(tx: Connection, pulled: Collection[str]) -> str | None:
    """Where the owner is told and asked, as channel/thread; None if that is nowhere yet."""
    found = await owners_thread(tx, pulled)
    thread = None if found is None else await conversations.thread(tx, found)
    return None if thread is None else f"{thread.channel}/{thread.external_id}"


async def choose(tx: Connection, wanted: str | None, pulled: Collection[str]) -> None:
    """The owner is told and asked there, on a channel or in channel/thread; with None, where the owner wrote last."""
    await tx.execute("UPDATE threads SET notices = false WHERE notices")
    if wanted is not None:
        named = [thread.id for thread in await conversations.threads_named(tx, wanted)]
        found = named[0] if len(named) == 1 else await owners_thread(tx, pulled, channels=[wanted])
        await tx.execute("UPDATE threads SET notices = true WHERE id = %s", (found,))
        if found is None or await owners_thread(tx, pulled) != found:
            raise BadInput(f"The owner reads nothing alone on `{wanted[:80]}`.", hint="Write to Laneway there once.")
    await events.append(tx, "principal.notices", {"place": wanted})
