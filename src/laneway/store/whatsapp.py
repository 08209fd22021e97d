"""What WhatsApp's Cloud API needs remembered: the 24-hour window of a thread, early statuses, and fees."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.judgement import OutboxRow, OutboxState
from laneway.store import events, undelivered
from laneway.store.database import Connection

WINDOW = timedelta(hours=24)
RECENT = 20
"""Messages looked at for the newest one: they may have arrived in another order than they were said in."""

KEPT = timedelta(days=1)
"""How long a status waits for its message; one of a message that another program sent waits in vain."""


async def window_open(tx: Connection, thread_id: UUID, now: datetime) -> bool:
    """Whether the person of the thread wrote within the last 24 hours, as far as we know."""
    cursor = await tx.execute(
        """
        SELECT greatest(
            (SELECT max(said) FROM (
                SELECT coalesce((m.meta->>'said_at')::timestamptz, m.created_at) AS said FROM messages m
                WHERE m.thread_id = %(thread)s AND m.author = 'user' AND NOT m.meta ?| '{system,reaction}'
                ORDER BY m.seq DESC LIMIT %(recent)s) newest),
            (SELECT heard_at FROM whatsapp_windows WHERE thread_id = %(thread)s)),
            (SELECT shut_at FROM whatsapp_windows WHERE thread_id = %(thread)s)
        """,
        {"thread": thread_id, "recent": RECENT},
    )
    row = await cursor.fetchone()
    heard, shut = row if row else (None, None)
    return heard is not None and now - heard < WINDOW and (shut is None or heard > shut)


async def heard(tx: Connection, thread_id: UUID, at: datetime) -> None:
    """The person of the thread did something at this time that opens the window, and that is no message."""
    await tx.execute(
        "INSERT INTO whatsapp_windows AS w (thread_id, heard_at) VALUES (%s, %s) ON CONFLICT (thread_id) "
        "DO UPDATE SET heard_at = greatest(w.heard_at, EXCLUDED.heard_at)",
        (thread_id, at),
    )


async def shut(tx: Connection, thread_id: UUID, at: datetime) -> None:
    """WhatsApp said at this time that the window is shut; what the person says later opens it again."""
    await tx.execute(
        "INSERT INTO whatsapp_windows AS w (thread_id, shut_at) VALUES (%s, %s) ON CONFLICT (thread_id) "
        "DO UPDATE SET shut_at = greatest(w.shut_at, EXCLUDED.shut_at)",
        (thread_id, at),
    )


async def send_otherwise(tx: Connection, row: OutboxRow, external_id: str) -> None:
    """The reply is on its way again from the message on that WhatsApp took and then refused."""
    await tx.execute(
        "DELETE FROM deliveries d USING deliveries refused WHERE d.outbox_id = %s AND refused.outbox_id = d.outbox_id "
        "AND refused.external_id = %s AND d.part >= refused.part",
        (row.id, external_id),
    )
    await tx.execute(
        "UPDATE outbox SET state = 'pending', sent_at = NULL, not_before = NULL WHERE id = %s AND state = 'sent'",
        (row.id,),
    )
    await tx.execute("SELECT pg_notify('laneway_outbox', '')")


async def refused_later(tx: Connection, row: OutboxRow, error: str) -> None:
    """A reply that WhatsApp had taken did not arrive: it is listed as undeliverable and the owner knows."""
    cursor = await tx.execute(
        "UPDATE outbox SET state = 'undeliverable', error = %s WHERE id = %s AND state = 'sent'", (error, row.id)
    )
    if cursor.rowcount:
        body = {"message_id": str(row.message_id), "error": error}
        await events.append(tx, "reply.undeliverable", body, thread_id=row.thread_id)
        await undelivered.tell(tx, row, error)


async def arrived_after_all(tx: Connection, row: OutboxRow) -> None:
    """A reply that was said to have failed is delivered, unless another message of it has failed."""
    await tx.execute(
        "UPDATE outbox SET state = 'sent', error = NULL WHERE id = %s AND state = 'undeliverable' "
        "AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.outbox_id = outbox.id AND d.status = 'failed')",
        (row.id,),
    )


def settled(row: OutboxRow) -> bool:
    """Whether all of the reply went out, so that what is said of its messages can be applied."""
    return row.state in (OutboxState.SENT, OutboxState.UNDELIVERABLE)


async def status_of(tx: Connection, external_id: str) -> str:
    """How far the message got, as far as we were told."""
    cursor = await tx.execute(
        "SELECT status FROM deliveries WHERE channel = 'whatsapp' AND external_id = %s LIMIT 1", (external_id,)
    )
    row = await cursor.fetchone()
    return "" if row is None else str(row[0])


async def keep_early(tx: Connection, external_id: str, status: str, body: dict[str, Any]) -> None:
    """What WhatsApp said of a message waits until its sending is on record."""
    await tx.execute(
        "INSERT INTO whatsapp_early (external_id, status, body) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
        (external_id, status, Jsonb(body)),
    )


async def take_early(tx: Connection) -> list[dict[str, Any]]:
    """What was said too early and can be applied now; it waits no longer, and what is too old is gone."""
    await tx.execute("DELETE FROM whatsapp_early WHERE created_at < now() - %s::interval", (KEPT,))
    cursor = await tx.execute(
        """
        DELETE FROM whatsapp_early e WHERE EXISTS (
            SELECT 1 FROM deliveries d JOIN outbox o ON o.id = d.outbox_id
            WHERE d.channel = 'whatsapp' AND d.external_id = e.external_id AND o.state IN ('sent', 'undeliverable'))
        RETURNING body
        """
    )
    return [row[0] for row in await cursor.fetchall()]


async def charge(
    tx: Connection, external_id: str, thread_id: UUID, category: str, cost: Decimal, meta: dict[str, Any]
) -> bool:
    """What the message costs is in the ledger, once; False if it was there already."""
    cursor = await tx.execute(
        "INSERT INTO token_ledger AS l (scope, provider, model, state, cost, thread, principal, world, meta_json, "
        "settled_at) SELECT 'reactive', 'whatsapp', %s, 'settled', %s, t.id, t.principal_id, t.world, %s, now() "
        "FROM threads t WHERE t.id = %s ON CONFLICT ((meta_json->>'message')) WHERE provider = 'whatsapp' "
        "DO UPDATE SET state = 'settled', cost = EXCLUDED.cost WHERE l.state = 'released'",
        (category, cost, Jsonb({**meta, "message": external_id}), thread_id),
    )
    return cursor.rowcount == 1


async def refund(tx: Connection, external_id: str) -> None:
    """A message that did not arrive costs nothing."""
    await tx.execute(
        "UPDATE token_ledger SET state = 'released', cost = 0 WHERE provider = 'whatsapp' "
        "AND meta_json->>'message' = %s AND state = 'settled'",
        (external_id,),
    )
