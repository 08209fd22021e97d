"""How fast one sender may write: so many messages in any minute, counted in what is stored."""

from __future__ import annotations

from uuid import UUID

from laneway.domain.conversation import Incoming
from laneway.errors import TooMany
from laneway.store.database import Connection

AT_ONCE = 50
"""More messages of one sender than are ever being written at the same moment, in all processes together."""


async def check(tx: Connection, incoming: Incoming, limit: int) -> None:
    """Returns only if the sender may write one more message now, or this one is here already; else TooMany."""
    sender = incoming.principal.id
    # Messages that come at the same moment do not see one another. Far from the limit that does not matter.
    if limit > AT_ONCE and await _until_below(tx, sender, limit - AT_ONCE) is None:
        return
    await tx.execute("SELECT pg_advisory_xact_lock(hashtextextended('sender:' || %s, 0))", (str(sender),))
    wait = await _until_below(tx, sender, limit - 1)
    if wait is None or await _is_here(tx, incoming):
        return
    raise TooMany(
        f"You have sent {limit} messages within a minute.", hint=f"Wait {max(1, round(wait))} s.", retry_after=wait
    )


async def _until_below(tx: Connection, sender: UUID, count: int) -> float | None:
    """In how many seconds the sender's last minute holds `count` messages at most; None if it does now."""
    cursor = await tx.execute(
        "SELECT extract(epoch FROM created_at + interval '1 minute' - now())::float8 FROM messages "
        "WHERE principal_id = %s AND author = 'user' AND created_at > now() - interval '1 minute' "
        # What is only overheard in a group, or read later for the sake of the rest, asks for nothing.
        "AND EXISTS (SELECT 1 FROM jobs j WHERE j.message_id = messages.id) "
        "ORDER BY created_at DESC OFFSET %s LIMIT 1",
        (sender, count),
    )
    row = await cursor.fetchone()
    return None if row is None else float(row[0])


async def _is_here(tx: Connection, incoming: Incoming) -> bool:
    cursor = await tx.execute(
        "SELECT 1 FROM messages WHERE channel = %s AND external_id = %s", (incoming.channel, incoming.external_id)
    )
    return await cursor.fetchone() is not None
