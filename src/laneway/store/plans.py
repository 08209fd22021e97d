"""Plans that were checked once, how often each request was asked, and the results they led to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.conversation import Message, Principal, Role
from laneway.domain.job import Job
from laneway.store.database import Connection
from laneway.store.json_columns import in_order
from laneway.store.rows import Rows, columns

LAST_REPLIES = 20
"""So many of the last replies are looked through for an offer."""
TABULAR = ("text/csv", "application/json", "application/x-ndjson", "application/ndjson")
"""Kinds of files that are read as tables."""


@dataclass(frozen=True, slots=True)
class KnownPlan:
    """A checked plan and who made it."""

    plan: dict[str, Any]
    made_by: str


@dataclass(frozen=True, slots=True)
class StoredResult:
    """What is known of a stored result besides its bytes."""

    job_id: UUID
    ref: str
    kind: str
    plan: dict[str, Any] | None
    counts: list[Any]
    metadata: dict[str, Any]


async def known(tx: Connection, key: str) -> KnownPlan | None:
    return await Rows(tx, KnownPlan).fetch_one(f"SELECT {columns(KnownPlan)} FROM plans WHERE key = %s", (key,))


async def keep(
    tx: Connection, key: str, made: KnownPlan, *, world: str, words: str, of: dict[str, dict[str, str]]
) -> None:
    """The plan is used from now on wherever the same is asked of tables with the same columns."""
    await tx.execute(
        "INSERT INTO plans (key, world, words, columns, plan, made_by) VALUES (%s, %s, %s, %s, %s, %s) "
        "ON CONFLICT (key) DO UPDATE SET plan = EXCLUDED.plan, made_by = EXCLUDED.made_by, created_at = now()",
        (key, world, words, Jsonb(of), in_order(made.plan), made.made_by),
    )


async def forget(tx: Connection, key: str) -> None:
    """The request is planned anew the next time."""
    await tx.execute("DELETE FROM plans WHERE key = %s", (key,))


async def prune(tx: Connection, days: int) -> int:
    """Plans and uses of long ago are gone: what is asked again is planned, and counted, anew."""
    gone = 0
    for table in ("plans", "plan_uses"):
        cursor = await tx.execute(
            f"DELETE FROM {table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM {table} "
            "WHERE created_at < now() - make_interval(days => %s) LIMIT 2000))",
            (days,),
        )
        gone += cursor.rowcount
    return gone


async def used(tx: Connection, request_key: str, job_id: UUID, principal_id: UUID | None) -> int:
    """The job counts as one use of the request, once; returns how often the principal asked it so far."""
    await tx.execute(
        "INSERT INTO plan_uses (request_key, job_id, principal_id) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
        (request_key, job_id, principal_id),
    )
    cursor = await tx.execute(
        "SELECT count(*) FROM plan_uses WHERE request_key = %s AND principal_id IS NOT DISTINCT FROM %s",
        (request_key, principal_id),
    )
    row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def record(tx: Connection, job: Job, principal_id: UUID | None, result: StoredResult) -> None:
    """What the job gave is on record with its plan, its counts and what it took."""
    await tx.execute(
        "INSERT INTO results (job_id, ref, thread_id, principal_id, kind, plan, counts, metadata) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (job_id) DO UPDATE SET ref = EXCLUDED.ref, "
        "kind = EXCLUDED.kind, plan = EXCLUDED.plan, counts = EXCLUDED.counts, metadata = EXCLUDED.metadata",
        (
            job.id, result.ref, job.thread_id, principal_id, result.kind,
            None if result.plan is None else in_order(result.plan), Jsonb(result.counts), Jsonb(result.metadata),
        ),
    )  # fmt: skip


async def of_job(tx: Connection, job_id: UUID) -> StoredResult | None:
    return await Rows(tx, StoredResult).fetch_one(
        f"SELECT {columns(StoredResult)} FROM results WHERE job_id = %s", (job_id,)
    )


async def last_before(tx: Connection, message: Message) -> StoredResult | None:
    """The last table that the thread was given before this message, unless the conversation began anew since."""
    return await Rows(tx, StoredResult).fetch_one(
        f"SELECT {columns(StoredResult, 'r.')} FROM results r JOIN jobs j ON j.id = r.job_id "
        "JOIN messages m ON m.id = j.message_id JOIN threads t ON t.id = r.thread_id "
        "WHERE r.thread_id = %s AND r.kind = 'dataset' AND m.seq < %s AND m.seq > t.context_from "
        "ORDER BY m.seq DESC LIMIT 1",
        (message.thread_id, message.seq),
    )


async def around(tx: Connection, message: Message) -> tuple[dict[str, Any], bool]:
    """What is kept beside the last thing said to the thread before this message, and whether it brings a table."""
    cursor = await tx.execute(
        "SELECT coalesce((SELECT m.meta FROM messages m JOIN threads t ON t.id = m.thread_id "
        "WHERE m.thread_id = %(thread)s AND m.author = 'assistant' AND m.seq < %(seq)s AND m.seq > t.context_from "
        "ORDER BY m.seq DESC LIMIT 1), '{}'), "
        "EXISTS (SELECT 1 FROM attachments WHERE message_id = %(message)s AND (mime = ANY(%(mimes)s) "
        "OR name ~* '\\.(csv|tsv|json|ndjson|jsonl)$'))",
        {"thread": message.thread_id, "seq": message.seq, "message": message.id, "mimes": list(TABULAR)},
    )
    row = await cursor.fetchone()
    return (dict(row[0]), bool(row[1])) if row else ({}, False)


async def offered_before(tx: Connection, message: Message) -> dict[str, Any] | None:
    """What was last offered to be made permanent in this conversation, or was done once and may be.

    Reports of runs and the like may have been written in between, but not too many of them.
    """
    cursor = await tx.execute(
        "SELECT coalesce(meta->'offer', meta->'lasting') FROM (SELECT m.meta, m.seq FROM messages m "
        "JOIN threads t ON t.id = m.thread_id WHERE m.thread_id = %(thread)s AND m.author = 'assistant' "
        "AND m.seq < %(seq)s AND m.seq > t.context_from ORDER BY m.seq DESC LIMIT %(most)s) said "
        "WHERE coalesce(meta->'offer', meta->'lasting') IS NOT NULL ORDER BY seq DESC LIMIT 1",
        {"thread": message.thread_id, "seq": message.seq, "most": LAST_REPLIES},
    )
    row = await cursor.fetchone()
    return dict(row[0]) if row and isinstance(row[0], dict) else None


async def may_read(tx: Connection, ref: str, principal: Principal) -> bool:
    """Whether the artifact is the principal's to read: the owner reads all, others what they sent or were given."""
    if principal.role is Role.OWNER:
        return True
    cursor = await tx.execute(
        "SELECT EXISTS (SELECT 1 FROM results WHERE ref = %(ref)s AND principal_id = %(who)s) OR EXISTS ("
        "SELECT 1 FROM attachments a JOIN messages m ON m.id = a.message_id "
        "WHERE a.artifact = %(ref)s AND m.principal_id = %(who)s)",
        {"ref": ref, "who": principal.id},
    )
    row = await cursor.fetchone()
    return bool(row and row[0])
