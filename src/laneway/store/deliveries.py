"""What became of the single messages a reply was sent as, by the ids their provider gave them."""

from __future__ import annotations

from typing import Any

from laneway.domain.judgement import OutboxRow
from laneway.store import events, outbox
from laneway.store.database import Connection


async def receipts(tx: Connection, outbox_id: int) -> list[dict[str, Any]]:
    """What the provider gave us for each message of a reply, in order."""
    cursor = await tx.execute("SELECT receipt FROM deliveries WHERE outbox_id = %s ORDER BY part", (outbox_id,))
    return [row[0] for row in await cursor.fetchall()]


async def reply_of(tx: Connection, channel: str, external_id: str) -> OutboxRow | None:
    """The reply that this message of the provider is a part of."""
    cursor = await tx.execute(
        "SELECT outbox_id FROM deliveries WHERE channel = %s AND external_id = %s LIMIT 1", (channel, external_id)
    )
    row = await cursor.fetchone()
    return None if row is None else await outbox.get(tx, row[0])


async def asking(tx: Connection, approval: str) -> list[OutboxRow]:
    """The replies that put this question to its thread, and to whoever may answer it elsewhere."""
    cursor = await tx.execute(
        "SELECT o.id FROM outbox o JOIN messages m ON m.id = o.message_id WHERE m.meta->>'approval' = %s ORDER BY o.id",
        (approval,),
    )
    return [await outbox.get(tx, row[0]) for row in await cursor.fetchall()]


async def set_status(
    tx: Connection, channel: str, external_id: str, status: str, rank: int, error: str | None = None
) -> bool:
    """The message has this status if it ranks higher than the one before; False if nothing changed or it is unknown."""
    cursor = await tx.execute(
        "UPDATE deliveries SET status = %s, status_rank = %s, status_at = now(), error = %s "
        "WHERE channel = %s AND external_id = %s AND status_rank < %s RETURNING outbox_id",
        (status, rank, error, channel, external_id, rank),
    )
    row = await cursor.fetchone()
    if row is None:
        return False
    reply = await outbox.get(tx, row[0])
    body = {"message_id": str(reply.message_id), "status": status, **({"error": error} if error else {})}
    await events.append(tx, "reply.status", body, thread_id=reply.thread_id)
    return True
