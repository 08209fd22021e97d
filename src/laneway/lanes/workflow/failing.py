"""A schedule whose runs fail again and again: its owner is told at the first, not at each, and when it is paused."""

from __future__ import annotations

from laneway.domain.workflow_run import WorkflowRun
from laneway.store import events, workflow_runs, workflow_triggers
from laneway.store.database import Connection

MOST_FAILURES = 5
"""Failed runs in a row after which a schedule is paused."""


async def said_of_failure(tx: Connection, run: WorkflowRun) -> str | None:
    """What is said beside the failure of the run, which has just ended; None if nothing is said at all."""
    if run.cause.get("type") != "cron" or run.cause.get("retried") or run.test:
        return ""
    count = await workflow_runs.failed_in_a_row(tx, run)
    if count >= MOST_FAILURES and await workflow_triggers.pause(tx, run.workflow_id, int(run.cause["trigger"])):
        body = {"workflow": run.tag, "trigger": run.cause["trigger"], "failures": count}
        await events.append(tx, "workflow.schedule.paused", body, job_id=run.job_id)
        return (
            f"It is the {count}th failure in a row, so the schedule of `{run.tag}` is paused. It goes on when the "
            f"workflow is changed, or when a run of it ends well: `laneway workflow run {run.tag}`."
        )
    return "" if count <= 1 else None
