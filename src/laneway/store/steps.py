"""Reads which steps a job's runs have stored, from the engine's own table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from laneway.store.database import Connection


@dataclass(frozen=True, slots=True)
class Step:
    """One stored step: its name, the run it belongs to, and how it went."""

    job_id: UUID
    run: int
    number: int
    name: str
    began: datetime | None
    milliseconds: int | None
    failed: bool


async def of_jobs(tx: Connection, job_ids: Sequence[UUID]) -> list[Step]:
    """The steps of these jobs, in the order of their runs.

    A run that resumes another copies the steps before it; such a copy is listed once, with the run that made it.
    """
    cursor = await tx.execute(
        """
        SELECT DISTINCT ON (j.id, o.function_id, o.function_name, o.started_at_epoch_ms)
               j.id, split_part(o.workflow_uuid, '.', 2)::int, o.function_id, o.function_name,
               o.started_at_epoch_ms, o.completed_at_epoch_ms - o.started_at_epoch_ms, o.error IS NOT NULL
        FROM unnest(%s::uuid[]) AS j(id)
        JOIN dbos.operation_outputs o ON o.workflow_uuid = ANY(
            SELECT j.id::text || '.' || n FROM generate_series(1, (SELECT run FROM jobs WHERE jobs.id = j.id)) AS n)
        ORDER BY j.id, o.function_id, o.function_name, o.started_at_epoch_ms, 2
        """,
        (list(job_ids),),
    )
    steps = [_step(row) for row in await cursor.fetchall()]
    return sorted(steps, key=lambda step: (str(step.job_id), step.run, step.number))


def _step(row: tuple[UUID, int, int, str, int | None, int | None, bool]) -> Step:
    job_id, run, number, name, began, milliseconds, failed = row
    moment = None if began is None else datetime.fromtimestamp(began / 1000, UTC)
    return Step(job_id, run, number, name, moment, milliseconds, failed)
