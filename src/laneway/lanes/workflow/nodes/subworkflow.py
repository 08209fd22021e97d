"""`subworkflow`: runs another workflow as a job of its own and waits for it as a row."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from laneway.domain.workflow_run import RUN_ENDED, RunStatus
from laneway.lanes.workflow.hands import Doing, Done, Failed, Kind, Outcome, Waits, ended_as
from laneway.store import workflow_nodes, workflow_runs


async def run(doing: Doing) -> Outcome:
    """Its output is what that run gave; one that failed, was cancelled or took too long fails the node."""
    waits = doing.record.waits or {}
    if waits.get("run") is None or waits.get("attempt") != doing.record.attempts:
        return await _begun(doing)
    until = datetime.fromisoformat(waits["until"]) if waits.get("until") else None
    async with doing.db.transaction() as tx:
        found = await workflow_runs.get(tx, UUID(str(waits["run"])))
        if found.status not in RUN_ENDED and until is not None and until <= doing.clock.now():
            await workflow_runs.cancel(tx, found.id)
            return Failed(doing.late, code="timeout")
        # What its nodes have read is in what it gives, and in the reason why it failed.
        read = (*found.sources, *await workflow_nodes.sources(tx, found.id))
    if found.status is RunStatus.DONE:
        return Done(found.output, read)
    if found.status in RUN_ENDED:
        why = (found.error or {}).get("message", "")
        return Failed(f"The run {found.id} of `{found.tag}` {ended_as(found.status)}. {why}".strip(), sources=read)
    return Waits(waits, until)


async def _begun(doing: Doing) -> Outcome:
    until = doing.clock.now() + timedelta(seconds=doing.own_seconds) if doing.own_seconds else None
    record = replace(doing.record, sources=list(doing.sources))
    async with doing.db.transaction() as tx:
        child = await doing.start(tx, doing.run, record, doing.config, doing.input())
        # After the thread's row, as everybody does: whoever cancels the run sees this one, or it was never started.
        await doing.hold(tx)
    waits = {"run": str(child), "attempt": doing.record.attempts, "until": until.isoformat() if until else None}
    return Waits(waits, until)


KIND = Kind("subworkflow", run)
