"""Runs of one workflow that look back at the run before: one after the other, in the order they were started."""

from __future__ import annotations

from uuid import UUID

from laneway.domain.workflow_run import WorkflowRun
from laneway.store.database import Connection

OPEN = "c.status IN ('running', 'waiting') AND cj.status NOT IN ('failed', 'cancelled')"
"""Whether the run `c`, whose job is `cj`, has not ended."""


async def line_up(tx: Connection, workflow_id: UUID) -> None:
    """Whoever starts a run of this workflow next does so after this transaction: runs are in the order of commits."""
    await tx.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 7))", (str(workflow_id),))


async def take(tx: Connection, run: WorkflowRun) -> UUID | None:
    """It is the run's turn, and it compares itself with the last one that ended well; else the run it waits for."""
    before = await _before(tx, run)
    if before is not None:
        await tx.execute("UPDATE workflow_runs SET waits_for = %s WHERE id = %s", (before, run.id))
        return before
    await tx.execute(
        "UPDATE workflow_runs SET waits_for = NULL, previous_id = (SELECT p.id FROM workflow_runs p "
        "WHERE p.workflow_id = %s AND p.seq < %s AND p.status = 'done' AND NOT p.test ORDER BY p.seq DESC LIMIT 1) "
        "WHERE id = %s",
        (run.workflow_id, run.seq, run.id),
    )
    return None


async def _before(tx: Connection, run: WorkflowRun) -> UUID | None:
    """The last run started before this one that has not ended."""
    cursor = await tx.execute(
        "SELECT c.id FROM workflow_runs c JOIN jobs cj ON cj.id = c.job_id "
        f"WHERE c.workflow_id = %s AND c.seq < %s AND NOT c.test AND {OPEN} ORDER BY c.seq DESC LIMIT 1",
        (run.workflow_id, run.seq),
    )
    row = await cursor.fetchone()
    return None if row is None else UUID(str(row[0]))
