"""The outbox: replies are rows before they are sent, and every sending leaves its trace."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.ids import new_id
from laneway.domain.job import Job
from laneway.domain.judgement import OutboxRow, OutboxState
from laneway.errors import Conflict, NotFound
from laneway.store import events
from laneway.store.database import Connection
from laneway.store.json_columns import in_order
from laneway.store.rows import Rows

_SELECT = (
    "SELECT o.id, o.message_id, o.thread_id, o.channel, t.external_id AS thread_external_id, m.text, o.state, "
    "o.attempts, o.resent, o.error, o.created_at, o.sent_at, m.meta, m.result_preview, "
    "coalesce((SELECT substr(a.address, length(o.channel) + 2) FROM addresses a WHERE a.principal_id = t.principal_id "
    "AND starts_with(a.address, o.channel || ':') ORDER BY a.seen_at DESC LIMIT 1), '') AS address, "
    "(SELECT count(*) FROM deliveries d WHERE d.outbox_id = o.id) AS parts_sent "
    "FROM outbox o JOIN messages m ON m.id = o.message_id JOIN threads t ON t.id = o.thread_id"
)


MOST_DEATHS = 5
TWICE = "It was sent twice, and neither was confirmed; it may have arrived."


async def write_reply(
    tx: Connection, job: Job, text: str, *, key: str, pulled: Collection[str], meta: dict[str, Any]
) -> UUID:
    """The reply is a message and a row in the outbox, once per (job, key).

    Channels in `pulled` are read by the client itself: there a reply counts as sent when it is committed.
    """
    return await write(
        tx, job.thread_id, text, external_id=f"reply:{job.id}:{key}", pulled=pulled,
        meta={"answers": str(job.message_id), **meta}, job_id=job.id,
    )  # fmt: skip


async def write(
    tx: Connection, thread_id: UUID, text: str, *, external_id: str, pulled: Collection[str], meta: dict[str, Any],
    job_id: UUID | None = None,
) -> UUID:  # fmt: skip
    """The text is a message of ours in the thread and a row in the outbox, once per `external_id`; no job is needed."""
    preview = meta.get("result_preview")
    cursor = await tx.execute(
        """
        INSERT INTO messages (id, thread_id, author, channel, external_id, text, meta, result_preview)
        SELECT %s, t.id, 'assistant', t.channel, %s, %s, %s, %s FROM threads t WHERE t.id = %s
        ON CONFLICT (channel, external_id) DO UPDATE SET channel = EXCLUDED.channel
        RETURNING id, channel, (xmax = 0)
        """,
        (new_id(), external_id, text, Jsonb(meta), None if preview is None else in_order(preview), thread_id),
    )
    row = await cursor.fetchone()
    assert row is not None
    message_id, channel, fresh = UUID(str(row[0])), row[1], row[2]
    if fresh:
        sent = channel in pulled
        await tx.execute(
            "INSERT INTO outbox (message_id, thread_id, channel, state, sent_at) "
            "VALUES (%s, %s, %s, %s, CASE WHEN %s THEN now() END)",
            (message_id, thread_id, channel, OutboxState.SENT if sent else OutboxState.PENDING, sent),
        )
        body = {"message_id": str(message_id), "text": text, "pulled": sent}
        await events.append(tx, "reply.written", body, thread_id=thread_id, job_id=job_id)
        if not sent:
            await tx.execute("SELECT pg_notify('laneway_outbox', '')")
    return message_id


async def claim(tx: Connection, worker: str, channel: str, limit: int, now: datetime) -> list[OutboxRow]:
    """Up to `limit` replies, the first of each thread, are being sent by `worker` and by no one else."""
    cursor = await tx.execute(
        """
        UPDATE outbox SET state = 'sending', worker = %s, attempts = attempts + 1, resent = state = 'uncertain'
        WHERE id IN (
            SELECT o.id FROM outbox o
            WHERE o.state IN ('pending', 'uncertain') AND o.channel = %s
              AND (o.not_before IS NULL OR o.not_before <= %s)
              AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.thread_id = o.thread_id AND e.id < o.id
                              AND e.state IN ('pending', 'sending', 'uncertain'))
            ORDER BY o.id LIMIT %s FOR UPDATE SKIP LOCKED)
        RETURNING id
        """,
        (worker, channel, now, limit),
    )
    claimed = [row[0] for row in await cursor.fetchall()]
    return await Rows(tx, OutboxRow).fetch_all(f"{_SELECT} WHERE o.id = ANY(%s) ORDER BY o.id", (claimed,))


async def let_go(tx: Connection, worker: str, in_hand: Collection[int]) -> None:
    """What the worker has claimed without knowing it, all that is not `in_hand`, waits again as it did before."""
    await tx.execute(
        "UPDATE outbox SET state = CASE WHEN resent THEN 'uncertain' ELSE 'pending' END, resent = false, "
        "worker = NULL, attempts = attempts - 1 WHERE worker = %s AND state = 'sending' AND id <> ALL(%s)",
        (worker, list(in_hand)),
    )


async def sent(tx: Connection, row: OutboxRow, worker: str, receipt: dict[str, Any]) -> None:
    """The reply is recorded as delivered."""
    await _settle(tx, row, worker, "reply.sent", {"resent": row.resent}, state=OutboxState.SENT, receipt=receipt)


async def part_sent(tx: Connection, row: OutboxRow, part: int, receipt: dict[str, Any]) -> None:
    """One message of the reply is out; whoever goes on with the reply begins after it."""
    await tx.execute(
        "INSERT INTO deliveries (outbox_id, part, channel, external_id, receipt) VALUES (%s, %s, %s, %s, %s) "
        "ON CONFLICT (outbox_id, part) DO NOTHING",
        (row.id, part, row.channel, _provider_id(receipt), Jsonb(receipt)),
    )
    # What is uncertain is one message; those after it have not been tried.
    await tx.execute("UPDATE outbox SET resent = false WHERE id = %s AND worker IS NOT NULL", (row.id,))


async def undeliverable(tx: Connection, row: OutboxRow, worker: str, error: str) -> bool:
    """The reply is given up and listed as undeliverable; False if it was no longer ours to give up."""
    body = {"error": error}
    return await _settle(tx, row, worker, "reply.undeliverable", body, state=OutboxState.UNDELIVERABLE, error=error)


async def put_back(tx: Connection, row: OutboxRow, worker: str, error: str, until: datetime) -> None:
    """The reply will be tried again at `until`; the provider has certainly not taken it."""
    await _wait(tx, row, worker, error, until, OutboxState.UNCERTAIN if row.resent else OutboxState.PENDING)


async def not_yet(tx: Connection, row: OutboxRow, worker: str, until: datetime) -> None:
    """The reply waits for its turn until then: nothing was tried, so nothing is counted."""
    await tx.execute(
        "UPDATE outbox SET state = %s, worker = NULL, not_before = %s, attempts = attempts - 1 "
        "WHERE id = %s AND state = 'sending' AND worker = %s",
        (OutboxState.UNCERTAIN if row.resent else OutboxState.PENDING, until, row.id, worker),
    )


async def uncertain(tx: Connection, row: OutboxRow, worker: str, error: str, until: datetime) -> None:
    """The provider may have taken the reply: it will be sent once more at `until`, visibly marked."""
    if await _wait(tx, row, worker, error, until, OutboxState.UNCERTAIN):
        await events.append(tx, "reply.uncertain", {"outbox": row.id}, thread_id=row.thread_id)


async def mark_uncertain(tx: Connection, worker: str) -> list[OutboxRow]:
    """What a dead worker was sending is uncertain: each such reply will be sent once more, visibly marked.

    A worker may have died before it sent anything, so one more death does not end it; those that so many workers
    died of are given up, and returned.
    """
    cursor = await tx.execute(
        "UPDATE outbox SET state = CASE WHEN resent AND attempts >= %(most)s THEN 'undeliverable' ELSE 'uncertain' END,"
        " worker = NULL, error = CASE WHEN resent AND attempts >= %(most)s THEN %(twice)s "
        "ELSE 'cut off while it was being sent' END "
        "WHERE worker = %(worker)s AND state = 'sending' RETURNING thread_id, id, state = 'undeliverable'",
        {"most": MOST_DEATHS, "twice": TWICE, "worker": worker},
    )
    cut_off = await cursor.fetchall()
    for thread_id, row_id, resent in cut_off:
        kind = "reply.undeliverable" if resent else "reply.uncertain"
        await events.append(tx, kind, {"outbox": row_id}, thread_id=thread_id)
    await tx.execute("SELECT pg_notify('laneway_outbox', '')")
    return [await get(tx, row_id) for _, row_id, resent in cut_off if resent]


async def retry(tx: Connection, row_id: int) -> OutboxRow:
    """A reply that was given up is on its way again, marked if it may have arrived before."""
    # Whoever comes second finds it on its way; put back once more it would be sent twice.
    await tx.execute("SELECT 1 FROM outbox WHERE id = %s FOR UPDATE", (row_id,))
    row = await get(tx, row_id)
    if row.state is not OutboxState.UNDELIVERABLE:
        raise Conflict(f"Reply {row_id} is {row.state}.", hint="Only undeliverable ones can be tried again.")
    # What the provider took and could not deliver later is sent anew, and all that came after it.
    await tx.execute(
        "DELETE FROM deliveries WHERE outbox_id = %(id)s AND part >= "
        "(SELECT min(part) FROM deliveries WHERE outbox_id = %(id)s AND status = 'failed')",
        {"id": row_id},
    )
    await tx.execute(
        "UPDATE outbox SET state = CASE WHEN resent OR error = %s THEN 'uncertain' ELSE 'pending' END, resent = false, "
        "attempts = 0, not_before = NULL, error = NULL WHERE id = %s",
        (TWICE, row_id),
    )
    await tx.execute("SELECT pg_notify('laneway_outbox', '')")
    return await get(tx, row_id)


async def get(tx: Connection, row_id: int) -> OutboxRow:
    """The reply on its way, or NotFound."""
    found = await Rows(tx, OutboxRow).fetch_one(f"{_SELECT} WHERE o.id = %s", (row_id,))
    if found is None:
        raise NotFound(f"There is no reply {row_id} in the outbox.", hint="`laneway outbox` lists them.")
    return found


async def page(
    tx: Connection, *, state: OutboxState | None = None, limit: int = 50, before: int | None = None
) -> list[OutboxRow]:
    """Replies on their way, newest first."""
    return await Rows(tx, OutboxRow).fetch_all(
        f"{_SELECT} WHERE (%s::text IS NULL OR o.state = %s) AND (%s::bigint IS NULL OR o.id < %s) "
        "ORDER BY o.id DESC LIMIT %s",
        (state, state, before, before, limit),
    )


async def seconds_to_next(tx: Connection, now: datetime) -> float | None:
    """How long until the next delayed reply may be sent; None if there is none."""
    cursor = await tx.execute(
        "SELECT extract(epoch FROM min(not_before) - %s)::float8 FROM outbox "
        "WHERE state IN ('pending', 'uncertain') AND not_before > %s",
        (now, now),
    )
    row = await cursor.fetchone()
    return None if row is None or row[0] is None else max(0.0, float(row[0]))


async def minute(tx: Connection) -> str:
    """The current minute, for what may be said once in it."""
    cursor = await tx.execute("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')")
    row = await cursor.fetchone()
    assert row is not None
    return str(row[0])


async def _wait(tx: Connection, row: OutboxRow, worker: str, error: str, until: datetime, state: OutboxState) -> bool:
    cursor = await tx.execute(
        "UPDATE outbox SET state = %s, worker = NULL, error = %s, not_before = %s "
        "WHERE id = %s AND state = 'sending' AND worker = %s",
        (state, error, until, row.id, worker),
    )
    return cursor.rowcount == 1


def _provider_id(receipt: dict[str, Any]) -> str | None:
    return None if receipt.get("id") is None else str(receipt["id"])


async def _settle(
    tx: Connection,
    row: OutboxRow,
    worker: str,
    kind: str,
    body: dict[str, Any],
    *,
    state: OutboxState,
    receipt: dict[str, Any] | None = None,
    error: str | None = None,
) -> bool:
    cursor = await tx.execute(
        "UPDATE outbox SET state = %s, worker = NULL, receipt = %s, error = %s, "
        "sent_at = CASE WHEN %s THEN now() END WHERE id = %s AND state = 'sending' AND worker = %s",
        (state, None if receipt is None else Jsonb(receipt), error, state is OutboxState.SENT, row.id, worker),
    )
    if cursor.rowcount:
        body = {"message_id": str(row.message_id), **body}
        await events.append(tx, kind, body, thread_id=row.thread_id)
        await tx.execute("SELECT pg_notify('laneway_outbox', '')")
    return cursor.rowcount == 1
