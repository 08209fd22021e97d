"""Jobs that came through Redis: which have no result there yet, and what belongs into it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from laneway.domain.conversation import Receipt
from laneway.domain.job import Job
from laneway.domain.judgement import ApprovalState
from laneway.errors import JobCancelled, described, failure
from laneway.store import jobs, outbox
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns

CHANNEL = "redis"
PREFIX = "job:"
"""Before the id of a job in the id of its message: no job can be named like a reply of ours."""

CANCELLED = "It was cancelled before it began, or while it waited for an answer."


@dataclass(frozen=True, slots=True)
class Asked:
    """The job that a reply answers, by the id that its sender gave it."""

    job_id: str
    job: Job
    not_approved: ApprovalState | None
    """How its last question ended, if that was not with a yes."""


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


async def is_known(tx: Connection, job_id: str) -> bool:
    """Whether a job of this id was taken or refused before."""
    cursor = await tx.execute(
        "SELECT 1 FROM messages WHERE channel = %s AND external_id = ANY(%s) LIMIT 1",
        (CHANNEL, [PREFIX + job_id, refusal_key(job_id)]),
    )
    return await cursor.fetchone() is not None


def refusal_key(job_id: str) -> str:
    """The id of the reply that refuses a job."""
    return f"refused:{job_id}"


async def asked(tx: Connection, message_id: UUID, *, question: bool = False) -> Asked | None:
    """The job of this message; None if it did not come through Redis itself.

    What is handed work by it asks its `question`.
    """
    cursor = await tx.execute(
        "SELECT substr(m.external_id, %s), j.id FROM messages m JOIN jobs j ON j.message_id = m.id "
        "WHERE m.id = (SELECT CASE WHEN %s THEN coalesce((meta->>'origin')::uuid, id) ELSE id END "
        "FROM messages WHERE id = %s) AND m.channel = %s AND starts_with(m.external_id, %s) ORDER BY j.seq LIMIT 1",
        (len(PREFIX) + 1, question, message_id, CHANNEL, PREFIX),
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
