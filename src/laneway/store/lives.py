"""The whole life of a message, read back from what every part wrote down: the answer to "why?"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from laneway.domain.conversation import Message, Thread
from laneway.domain.job import Job
from laneway.domain.judgement import Approval, Classification, Correction, Effect, Event, OutboxState
from laneway.errors import NotFound
from laneway.store import conversations, corrections, events, jobs, steps
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns
from laneway.store.steps import Step

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One row of the ledger: a call of a model and what it took; nothing yet while it is being made."""

    id: int
    provider: str
    model: str
    tokens_input: int
    tokens_output: int
    tokens_total: int
    tokens_cached: int
    tokens_reasoning: int
    cost: Decimal
    state: str
    job: UUID
    meta_json: dict[str, Any]
    created_at: datetime
    settled_at: datetime | None


@dataclass(frozen=True, slots=True)
class Reply:
    """What was said in answer, and how far it got."""

    message_id: UUID
    answers: UUID
    text: str
    state: OutboxState
    resent: bool
    error: str | None
    created_at: datetime
    sent_at: datetime | None


@dataclass(frozen=True, slots=True)
class JobLife:
    """One job and everything that was recorded under it."""

    job: Job
    classification: Classification | None
    steps: list[Step]
    model_calls: list[ModelCall]
    tools: list[Effect]
    approvals: list[Approval]
    reactions: list[Event]


@dataclass(frozen=True, slots=True)
class Life:
    """A message from its arrival to its replies."""

    message: Message
    thread: Thread
    duplicates: int
    jobs: list[JobLife]
    replies: list[Reply]
    corrections: list[Correction]


async def of_message(tx: Connection, message_id: UUID) -> Life:
    """The life of the message, or NotFound."""
    message = await conversations.message(tx, message_id)
    if message is None:
        raise NotFound(f"There is no message {message_id}.", hint="GET /messages lists them.")
    thread = await conversations.thread(tx, message.thread_id)
    assert thread is not None
    found = (await jobs.page(tx, message_id=message_id, limit=200))[::-1]
    lives = [await of_job(tx, job) for job in found]
    return Life(
        message,
        thread,
        await _duplicates(tx, [job.id for job in found]),
        lives,
        await replies(tx, message_id),
        await corrections.of_message(tx, message_id),
    )


async def message_behind(tx: Connection, id: UUID) -> UUID:
    """The message that this id is about: its own, that of a reply to it, or that of a job it started."""
    cursor = await tx.execute(
        "SELECT (m.meta->>'answers')::uuid FROM messages m WHERE m.id = %s AND m.author = 'assistant' "
        "AND m.meta ? 'answers' UNION ALL SELECT message_id FROM jobs WHERE id = %s",
        (id, id),
    )
    row = await cursor.fetchone()
    return row[0] if row else id


async def of_job(tx: Connection, job: Job) -> JobLife:
    """Everything recorded under one job, oldest first."""
    return JobLife(
        job,
        await jobs.classification_of(tx, job.id),
        await steps.of_jobs(tx, [job.id]),
        await model_calls(tx, job.id),
        await _rows(tx, Effect, "effects", "job_id = %s ORDER BY created_at, key", [job.id]),
        await _rows(tx, Approval, "approvals", "job_id = %s ORDER BY id", [job.id]),
        [event for event in await events.of_job(tx, job.id, limit=5000) if event.kind.startswith("reactor.")],
    )


async def model_calls(tx: Connection, job_id: UUID) -> list[ModelCall]:
    """The job's calls of models, oldest first."""
    return await Rows(tx, ModelCall).fetch_all(
        "SELECT id, provider, model, tokens_input, tokens_output, tokens_cached, tokens_reasoning, state, job, "
        "meta_json, tokens_total, cost, created_at, settled_at FROM token_ledger WHERE job = %s ORDER BY id",
        (job_id,),
    )


async def replies(tx: Connection, message_id: UUID) -> list[Reply]:
    """What was answered to the message, oldest first."""
    # The reply names the message it answers; the thread bounds the search to what its index can find.
    return await Rows(tx, Reply).fetch_all(
        "SELECT m.id AS message_id, q.id AS answers, m.text, o.state, o.resent, o.error, m.created_at, o.sent_at "
        "FROM messages q JOIN messages m ON m.thread_id = q.thread_id AND m.seq > q.seq "
        "AND m.author = 'assistant' AND m.meta->>'answers' = q.id::text JOIN outbox o ON o.message_id = m.id "
        "WHERE q.id = %s ORDER BY m.seq",
        (message_id,),
    )


async def _duplicates(tx: Connection, job_ids: Sequence[UUID]) -> int:
    cursor = await tx.execute(
        "SELECT count(*) FROM events WHERE job_id = ANY(%s) AND kind = 'message.duplicate'", (list(job_ids),)
    )
    row = await cursor.fetchone()
    return 0 if row is None else int(row[0])


async def _rows(tx: Connection, kind: type[T], table: str, which: str, values: Sequence[object]) -> list[T]:
    return await Rows(tx, kind).fetch_all(f"SELECT {columns(kind)} FROM {table} WHERE {which}".encode(), values)
