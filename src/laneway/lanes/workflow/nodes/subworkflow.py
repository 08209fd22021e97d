"""`subworkflow`: runs another workflow as a job of its own and waits for it as a row."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from laneway.domain.workflow_run import RunStatus
from laneway.lanes.workflow.hands import Doing, Done, Failed, Kind, Outcome, Waits
from laneway.store import workflow_nodes, workflow_runs


async def run(doing: Doing) -> Outcome:
    """Its output is what that run gave; one that failed or was cancelled fails the node."""
    began = (doing.record.waits or {}).get("run")
    async with doing.db.transaction() as tx:
        if began is None or (doing.record.waits or {}).get("attempt") != doing.record.attempts:
            child = await doing.start(
                tx, doing.run, replace(doing.record, sources=list(doing.sources)), doing.config, doing.input()
            )
            return Waits({"run": str(child), "attempt": doing.record.attempts})
        found = await workflow_runs.get(tx, UUID(str(began)))
        # What its nodes have read is in what it gives, and in the reason why it failed.
        read = (*found.sources, *await workflow_nodes.sources(tx, found.id))
    if found.status is RunStatus.DONE:
        return Done(found.output, read)
    if found.status in (RunStatus.FAILED, RunStatus.CANCELLED):
        why = (found.error or {}).get("message", "")
        return Failed(f"The run {found.id} of `{found.tag}` was {found.status}. {why}".strip(), sources=read)
    return Waits({"run": began, "attempt": doing.record.attempts})


KIND = Kind("subworkflow", run)
