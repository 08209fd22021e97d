"""A whole Laneway with stored workflows, and what tests of runs ask of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from laneway.domain.conversation import Principal
from laneway.domain.judgement import Approval, ApprovalState, Event
from laneway.domain.workflow import Cause, Workflow
from laneway.domain.workflow_run import RUN_ENDED, NodeRecord, RunStatus, WorkflowRun
from laneway.lanes.workflow.starting import Order
from laneway.llm.scripted import Asked, Say, Turn
from laneway.store import approvals, events, jobs, workflow_nodes, workflow_runs, workflow_triggers, workflows
from laneway.store.workflow_triggers import Trigger
from tests.running import Laneway, laneway

T = TypeVar("T")


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
    database_url: str = ""
    home: Path = Path()
    script: Callable[[Asked], Turn] = lambda asked: Say("{}")
    """What the model of a shared Laneway says while a test lasts."""

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

    async def end(self, made: dict[str, Any], tag: str = "flow", **order: Any) -> WorkflowRun:
        """The run of a workflow made for it, once it has ended."""
        return await self.until(await self.start(await self.store(tag, made), **order), *RUN_ENDED)

    async def error(self, made: dict[str, Any], tag: str = "flow", **order: Any) -> str:
        """What the failed run of a workflow made for it says went wrong."""
        return message_of(await self.end(made, tag, **order))

    async def query(self, text: str) -> list[Any]:
        async with self.lane.app.db.transaction() as tx:
            return await (await tx.execute(text.encode())).fetchall()

    async def until_query(self, text: str) -> list[Any]:
        """What the query gives once it gives something."""
        return await eventually(lambda: self.query(text))

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

    async def until_watched(self, workflow: Workflow) -> list[Trigger]:
        """What starts the workflow, once the server looks after it and hears every event."""

        async def found() -> list[Trigger]:
            async with self.lane.app.db.transaction() as tx:
                return await workflow_triggers.of_workflow(tx, workflow.id)

        await self.until_query("SELECT cursor FROM workflow_event_place")
        return await eventually(found)

    async def until_heard(self) -> None:
        """Everything that has happened up to now has started and woken whatever it does."""
        newest = await self.query("SELECT xact::text, id FROM events ORDER BY events.xact DESC, id DESC LIMIT 1")

        async def heard() -> bool:
            [[place]] = await self.query("SELECT cursor FROM workflow_event_place")
            return events.parse_cursor(place) >= (int(newest[0][0]), newest[0][1])

        await eventually(heard)

    async def come_due(self) -> None:
        """The moment has come that nodes, jobs and schedules wait for."""
        for table, column in (("workflow_nodes", "again_at"), ("jobs", "not_before"), ("workflow_triggers", "next_at")):
            async with self.lane.app.db.transaction() as tx:
                await tx.execute(f"UPDATE {table} SET {column} = now() WHERE {column} IS NOT NULL".encode())
        async with self.lane.app.db.transaction() as tx:
            await tx.execute("SELECT pg_notify('laneway_jobs', ''), pg_notify('laneway_due', '')")

    async def children(self, run_id: UUID) -> list[WorkflowRun]:
        async with self.lane.app.db.transaction() as tx:
            return await workflow_runs.children(tx, run_id)

    async def cancel(self, run_id: UUID) -> WorkflowRun:
        async with self.lane.app.db.transaction() as tx:
            return await workflow_runs.cancel(tx, run_id)

    async def assistant_said(self) -> list[str]:
        return [
            text for (text,) in await self.query("SELECT text FROM messages WHERE author = 'assistant' ORDER BY seq")
        ]

    async def clear(self) -> None:
        """Nothing is under way and no workflow is there any more."""
        open_jobs = "SELECT id FROM jobs WHERE status NOT IN ('done', 'failed', 'cancelled')"
        async with self.lane.app.db.transaction() as tx:
            for one in await workflows.page(tx, None, limit=1000):
                await workflows.remove(tx, one, one.principal_id)
        for (run_id,) in await self.query("SELECT id FROM workflow_runs WHERE status IN ('running', 'waiting')"):
            async with self.lane.app.db.transaction() as tx:
                if (await workflow_runs.get(tx, run_id)).status not in RUN_ENDED:
                    await workflow_runs.cancel(tx, run_id)
        for (job_id,) in await self.query(open_jobs):
            async with self.lane.app.db.transaction() as tx:
                await jobs.cancel_if_open(tx, job_id)

        async def over() -> bool:
            return not await self.query(f"{open_jobs} UNION ALL SELECT workflow_id FROM workflow_triggers")

        await eventually(over)


def message_of(run: WorkflowRun) -> str:
    """What a failed run says went wrong."""
    assert run.status is RunStatus.FAILED, run.output
    assert run.error is not None
    return str(run.error["message"])


class Slow:
    """A page that answers when it is let go."""

    def __init__(self) -> None:
        self.asked = self.free = False

    async def __call__(self, request: Request) -> Response:
        self.asked = True
        while not self.free:
            await asyncio.sleep(0.02)
        return PlainTextResponse("late")

    async def until_asked(self) -> None:
        async with asyncio.timeout(30):
            while not self.asked:
                await asyncio.sleep(0.02)


async def eventually(found: Callable[[], Awaitable[T]], seconds: float = 30) -> T:
    """What it gives once that is something."""
    async with asyncio.timeout(seconds):
        while not (value := await found()):
            await asyncio.sleep(0.03)
    return value


@asynccontextmanager
async def workflowing(database_url: str, home: Path, model: Any = None, **settings: Any) -> AsyncIterator[Workflows]:
    """Laneway runs workflows while the block lasts; this machine's own servers may be asked."""
    opened = {"allowed_hosts": ("127.0.0.1",), **settings}
    async with laneway(database_url, home, model, **opened) as lane:
        yield Workflows(lane, database_url, home)
