"""The figures a person or a monitor asks for: how much there is, how old it is, who is alive."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from laneway.domain.judgement import OutboxState
from laneway.store import jobs, ledger
from laneway.store.database import Connection
from laneway.store.migrate import HEAD
from laneway.store.rows import Rows, columns
from laneway.store.workers import SILENCE_SECONDS, Worker


@dataclass(frozen=True, slots=True)
class Figures:
    """How things stand at this moment."""

    jobs: dict[str, int]
    oldest_queued_seconds: float
    messages: dict[str, int]
    outbox: dict[str, int]
    approvals_pending: int
    cost_today: Decimal
    tokens_today: int
    workers: list[Worker]
    judged: dict[str, int]
    confidence: dict[str, int]
    corrected: int
    results: dict[str, int]
    """Results of pipelines and workflows, by whether their plan was known (plan), read from a cache, or made."""


async def take(tx: Connection) -> Figures:
    """The figures of now."""
    today = await ledger.spent(tx, today=True)
    outbox = await _counts(tx, "SELECT state, count(*) FROM outbox GROUP BY state")
    return Figures(
        jobs=await jobs.counts(tx),
        oldest_queued_seconds=await oldest_queued_seconds(tx),
        messages=await _counts(tx, "SELECT author, count(*) FROM messages GROUP BY author"),
        outbox={state: outbox.get(state, 0) for state in OutboxState},
        approvals_pending=sum((await _counts(tx, _PENDING)).values()),
        cost_today=today.cost,
        tokens_today=today.tokens,
        workers=await live_workers(tx),
        judged=await _counts(tx, "SELECT decided_by, count(*) FROM classifications GROUP BY 1"),
        confidence=await _counts(tx, _CONFIDENCE),
        corrected=sum((await _counts(tx, _CORRECTED)).values()),
        results=await _counts(tx, "SELECT coalesce(metadata->>'cache_kind', 'none'), count(*) FROM results GROUP BY 1"),
    )


_PENDING = "SELECT state, count(*) FROM approvals WHERE state = 'pending' GROUP BY state"


_CONFIDENCE = "SELECT least(floor(confidence * 10), 9) / 10, count(*) FROM classifications GROUP BY 1"
_CORRECTED = (
    "SELECT 'corrected', count(DISTINCT message_id) FROM corrections WHERE taxonomy = 'message' AND state = 'accepted'"
)


async def oldest_queued_seconds(tx: Connection) -> float:
    """How long the job that could have started first has been queued; 0 if none is."""
    cursor = await tx.execute(
        "SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM jobs "
        "WHERE status = 'queued' AND (not_before IS NULL OR not_before <= now())"
    )
    row = await cursor.fetchone()
    return 0.0 if row is None else float(row[0])


async def live_workers(tx: Connection) -> list[Worker]:
    """Workers whose last sign of life is fresh, newest first."""
    return await Rows(tx, Worker).fetch_all(
        f"SELECT {columns(Worker)} FROM workers WHERE gone_at IS NULL "
        "AND beat_at >= now() - make_interval(secs => %s) ORDER BY started_at DESC",
        (SILENCE_SECONDS,),
    )


async def migrated(tx: Connection) -> bool:
    """Whether the tables are those this version needs."""
    cursor = await tx.execute("SELECT to_regclass('laneway_version') IS NOT NULL")
    row = await cursor.fetchone()
    if row is None or not row[0]:
        return False
    cursor = await tx.execute("SELECT version_num FROM laneway_version")
    row = await cursor.fetchone()
    return row is not None and row[0] == HEAD


async def _counts(tx: Connection, statement: str) -> dict[str, int]:
    cursor = await tx.execute(statement.encode())
    return {str(row[0]): int(row[1]) for row in await cursor.fetchall()}
