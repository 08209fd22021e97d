"""A whole Laneway with stored workflows, and what tests of runs ask of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from laneway.domain.conversation import Principal
from laneway.domain.judgement import Approval, ApprovalState, Event
from laneway.domain.workflow import Cause, Workflow
from laneway.domain.workflow_run import RUN_ENDED, NodeRecord, RunStatus, WorkflowRun
from laneway.lanes.workflow.starting import Order
from laneway.store import approvals, events, workflow_nodes, workflow_runs, workflow_triggers, workflows
from laneway.store.workflow_triggers import Trigger
from tests.running import Laneway, laneway


def document(nodes: Sequence[Mapping[str, Any]], edges: Sequence[Any] = (), **more: Any) -> dict[str, Any]:
    """A workflow; an edge may be written `"a b"`."""
    drawn = [dict(zip(("from", "to"), one.split(), strict=True)) if isinstance(one, str) else one for one in edges]
    return {"nodes": [dict(node) for node in nodes], "edges": drawn, **more}


def node(id: str, type: str, config: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": type, "config": dict(config or {}), **more}


@dataclass
class Workflows:
    """Stores workflows, runs them, and looks at what became of it."""

    lane: Laneway

    @property
    def owner(self) -> Principal:
        return self.lane.owner

    async def store(self, tag: str, made: dict[str, Any]) -> Workflow:
        async with self.lane.app.db.transaction() as tx:
            return (await workflows.create(tx, tag, made, [], Cause(self.owner.id)))[0]

    async def change(self, workflow: Workflow, made: dict[str, Any]) -> Workflow:
        async with self.lane.app.db.transaction() as tx:
            return (await workflows.add_version(tx, workflow, made, [], [], Cause(self.owner.id)))[0]

    async def start(self, workflow: Workflow, **order: Any) -> UUID:
        async with self.lane.app.db.transaction() as tx:
            return (await self.lane.app.runs.start(tx, workflow, self.owner, Order(**order)))[0]

    async def run(self, made: dict[str, Any], tag: str = "flow", **order: Any) -> WorkflowRun:
        """The run of a workflow made for it, once it has ended or waits."""
        return await self.until(await self.start(await self.store(tag, made), **order))

    async def get(self, run_id: UUID) -> WorkflowRun:
        async with self.lane.app.db.transaction() as tx:
            return await workflow_runs.get(tx, run_id)

    async def until(self, run_id: UUID, *statuses: RunStatus, seconds: float = 30) -> WorkflowRun:
        wanted = set(statuses) or {*RUN_ENDED, RunStatus.WAITING}
        async with asyncio.timeout(seconds):
            while (run := await self.get(run_id)).status not in wanted:
                await asyncio.sleep(0.03)
        if run.status in RUN_ENDED:
            await self.lane.until(run.job_id)
        return await self.get(run_id)

    async def until_watched(self, workflow: Workflow) -> list[Trigger]:
        """What starts the workflow, once the server looks after it."""
        async with asyncio.timeout(20):
            while True:
                async with self.lane.app.db.transaction() as tx:
                    found = await workflow_triggers.of_workflow(tx, workflow.id)
                if found:
                    return found
                await asyncio.sleep(0.05)

    async def nodes(self, run: WorkflowRun) -> dict[str, NodeRecord]:
        """The last visit to each node."""
        async with self.lane.app.db.transaction() as tx:
            return {record.node: record for record in await workflow_nodes.of_run(tx, run.id)}

    async def visits(self, run: WorkflowRun) -> list[str]:
        """The nodes in the order they were begun."""
        async with self.lane.app.db.transaction() as tx:
            return [record.node for record in await workflow_nodes.of_run(tx, run.id)]

    async def events(self, run: WorkflowRun) -> list[Event]:
        async with self.lane.app.db.transaction() as tx:
            return await events.of_job(tx, run.job_id)

    async def asked(self, run: WorkflowRun) -> Approval:
        """The question the run waits at."""
        async with self.lane.app.db.transaction() as tx:
            found = await approvals.page(tx, state=ApprovalState.PENDING)
        [mine] = [one for one in found if one.job_id == run.job_id]
        return mine

    async def answer(self, run: WorkflowRun, state: str, choice: str | None = None) -> None:
        asked = await self.asked(run)
        async with self.lane.app.db.transaction() as tx:
            await approvals.answer(tx, asked.id, ApprovalState(state), self.owner, choice)

    async def runs_of(self, workflow: Workflow) -> list[WorkflowRun]:
        async with self.lane.app.db.transaction() as tx:
            return await workflow_runs.page(tx, workflow.id, limit=100)


@asynccontextmanager
async def workflowing(database_url: str, home: Path, model: Any = None, **settings: Any) -> AsyncIterator[Workflows]:
    """Laneway runs workflows while the block lasts; this machine's own servers may be asked."""
    opened = {"allowed_hosts": ("127.0.0.1",), **settings}
    async with laneway(database_url, home, model, **opened) as lane:
        yield Workflows(lane)
