"""Jobs that came through Redis: which have no result there yet, and what belongs into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, LiteralString
from uuid import UUID

from laneway.domain.conversation import Receipt
from laneway.domain.job import Job, JobStatus
from laneway.domain.judgement import ApprovalState, OutboxRow
from laneway.errors import JobCancelled, described, failure
from laneway.store import jobs, outbox
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns

CHANNEL = "redis"
MOST_ATTEMPTS = 20
"""So often a job may be sent again under its id after it failed."""

ENDED = (JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED)
CANCELLED = "It was cancelled before it began, or while it waited for an answer."


@dataclass(frozen=True, slots=True)
class Asked:
    """The job that a reply answers, by the id that its sender gave it."""

    job_id: str
    job: Job
    not_approved: ApprovalState | None
    """How its last question ended, if that was not with a yes."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One of the jobs that were sent under an id, and its result once it has ended."""

    number: int
    asked: Asked | None
    """None if it was refused."""
    result: OutboxRow | None


async def opened(tx: Connection, receipt: Receipt) -> None:
    """The job is one of those that owe a result to Redis."""
    await tx.execute("INSERT INTO redis_open (job_id) VALUES (%s) ON CONFLICT DO NOTHING", (receipt.job_id,))


async def closed(tx: Connection, job_id: UUID) -> None:
    """The job's result is in Redis."""
    await tx.execute("DELETE FROM redis_open WHERE job_id = %s", (job_id,))


async def unfinished(tx: Connection) -> int:
    """How many jobs from Redis are queued or running; those that wait for a person keep nobody waiting."""
    cursor = await tx.execute(
        "SELECT count(*) FROM redis_open r JOIN jobs j ON j.id = r.job_id WHERE j.status IN ('queued', 'running')"
    )
    row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def last_attempt(tx: Connection, job_id: str) -> Attempt | None:
    """What became of the last job of this id; None if none was taken or refused before."""
    keys = [key_of(kind, job_id, number + 1) for number in range(MOST_ATTEMPTS) for kind in ("job", "refused")]
    cursor = await tx.execute(
        "SELECT id, external_id, author = 'assistant' FROM messages WHERE channel = %s AND external_id = ANY(%s) "
        "ORDER BY created_at DESC, id DESC LIMIT 1",
        (CHANNEL, keys),
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    number = keys.index(str(row[1])) // 2 + 1
    if row[2]:
        return Attempt(number, None, await _last_reply(tx, "m.id = %s", (row[0],)))
    found = await asked(tx, row[0])
    said = await _last_reply(
        tx, "m.thread_id = %s AND m.author = 'assistant' AND m.meta->>'answers' = %s "
        "AND NOT m.meta ?| '{notice,approval}'", (found.job.thread_id, str(row[0])),
    ) if found is not None and found.job.status in ENDED else None  # fmt: skip
    return Attempt(number, found, said)


async def _last_reply(tx: Connection, which: LiteralString, values: tuple[object, ...]) -> OutboxRow | None:
    cursor = await tx.execute(
        f"SELECT o.id FROM outbox o JOIN messages m ON m.id = o.message_id WHERE {which} ORDER BY o.id DESC LIMIT 1",
        values,
    )
    row = await cursor.fetchone()
    return None if row is None else await outbox.get(tx, row[0])


async def publish_again(tx: Connection, row: OutboxRow) -> None:
    """The result is published once more: somebody asks for it anew."""
    await tx.execute(
        "UPDATE messages SET meta = jsonb_set(meta, '{times}', to_jsonb(coalesce((meta->>'times')::int, 1) + 1)) "
        "WHERE id = %s",
        (row.message_id,),
    )
    await tx.execute("DELETE FROM deliveries WHERE outbox_id = %s", (row.id,))
    await tx.execute(
        "UPDATE outbox SET state = 'pending', attempts = 0, resent = false, not_before = NULL, error = NULL "
        "WHERE id = %s",
        (row.id,),
    )
    await tx.execute("SELECT pg_notify('laneway_outbox', '')")


def key_of(kind: Literal["job", "refused"], job_id: str, attempt: int = 1) -> str:
    """The id of the message that is this attempt at the job, or of the reply that refuses it."""
    return f"{kind}{'' if attempt == 1 else attempt}:{job_id}"


async def asked(tx: Connection, message_id: UUID, *, question: bool = False) -> Asked | None:
    """The job of this message; None if it did not come through Redis itself.

    What is handed work by it asks its `question`.
    """
    cursor = await tx.execute(
        "SELECT substr(m.external_id, strpos(m.external_id, ':') + 1), j.id FROM messages m "
        "JOIN jobs j ON j.message_id = m.id "
        "WHERE m.id = (SELECT CASE WHEN %s THEN coalesce((meta->>'origin')::uuid, id) ELSE id END "
        "FROM messages WHERE id = %s) AND m.channel = %s AND m.external_id ~ '^job[0-9]*:' ORDER BY j.seq LIMIT 1",
        (question, message_id, CHANNEL),
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    return Asked(str(row[0]), await jobs.get(tx, row[1]), await _not_approved(tx, row[1]))


async def _not_approved(tx: Connection, job_id: UUID) -> ApprovalState | None:
    # A question of what was meant that nobody answers is settled by its safe reading, and the work goes on.
    cursor = await tx.execute(
        "SELECT state, choices = '[]' FROM approvals WHERE job_id = %s ORDER BY created_at DESC, id DESC LIMIT 1",
        (job_id,),
    )
    row = await cursor.fetchone()
    if row is None or row[0] in (ApprovalState.APPROVED, ApprovalState.PENDING):
        return None
    return ApprovalState(row[0]) if row[1] or row[0] == ApprovalState.SUPERSEDED else None


async def tell_cancelled(tx: Connection) -> int:
    """Jobs that were cancelled without a word have a reply that says so; returns how many were told of."""
    silent = await Rows(tx, Job).fetch_all(
        f"SELECT {columns(Job, 'j.')} FROM redis_open r JOIN jobs j ON j.id = r.job_id "
        "WHERE j.status = 'cancelled' AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.channel = %s "
        "AND m.author = 'assistant' AND m.meta->>'answers' = j.message_id::text AND m.meta ? 'failed') "
        "LIMIT 100 FOR UPDATE OF r SKIP LOCKED",
        (CHANNEL,),
    )
    for job in silent:
        fault = job.error or described(JobCancelled(CANCELLED))
        failed = failure("cancelled", str(fault["message"]))
        await outbox.write_reply(
            tx, job, str(fault["message"]), key=f"cancelled.{job.run}", pulled=(), meta={"failed": failed}
        )
    return len(silent)


async def forget_settled(tx: Connection) -> None:
    """Jobs that ended long ago owe nothing any more: their result was given up, or its record was cut off."""
    await tx.execute(
        "DELETE FROM redis_open r USING jobs j WHERE j.id = r.job_id AND j.finished_at < now() - interval '7 days'"
    )


async def hurry(tx: Connection) -> None:
    """Results that wait for Redis to come back are sent now."""
    await tx.execute(
        "UPDATE outbox SET not_before = NULL, attempts = 0 WHERE channel = %s AND state = 'pending'", (CHANNEL,)
    )
    await tx.execute("SELECT pg_notify('laneway_outbox', '')")
