"""A lane's run that ended with open questions: what it had said and done, until the answers are in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.store.database import Connection
from laneway.store.json_columns import in_order
from laneway.store.rows import Rows, columns


@dataclass(frozen=True, slots=True)
class Pause:
    """Where a run stopped: its messages so far, the calls it may not make yet, and what it had been told by whom."""

    messages: list[dict[str, Any]]
    calls: list[dict[str, Any]]
    counts: dict[str, int]
    sources: list[str]
    found: list[str]


async def put(tx: Connection, job_id: UUID, pause: Pause) -> None:
    """The job's next run will find it; an earlier pause of the job is replaced."""
    await tx.execute(
        "INSERT INTO pauses (job_id, messages, calls, counts, sources, found) VALUES (%s, %s, %s, %s, %s, %s) "
        "ON CONFLICT (job_id) DO UPDATE SET messages = EXCLUDED.messages, calls = EXCLUDED.calls, "
        "counts = EXCLUDED.counts, sources = EXCLUDED.sources, found = EXCLUDED.found, created_at = now()",
        (
            job_id, in_order(pause.messages), in_order(pause.calls), Jsonb(pause.counts), pause.sources, pause.found,
        ),
    )  # fmt: skip


async def of_job(tx: Connection, job_id: UUID) -> Pause | None:
    return await Rows(tx, Pause).fetch_one(f"SELECT {columns(Pause)} FROM pauses WHERE job_id = %s", (job_id,))


async def exists(tx: Connection, job_id: UUID) -> bool:
    """Whether an earlier run of the job stopped and left something to go on with."""
    cursor = await tx.execute("SELECT 1 FROM pauses WHERE job_id = %s", (job_id,))
    return await cursor.fetchone() is not None


async def copy(tx: Connection, from_job: UUID, to_job: UUID) -> None:
    """The other job stands where this one stood, if it stood anywhere."""
    found = await of_job(tx, from_job)
    if found is not None:
        await put(tx, to_job, found)
