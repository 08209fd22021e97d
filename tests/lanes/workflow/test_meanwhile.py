"""What comes while a run is working, or is about to rest, reaches it: answers, events, and the word to stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from laneway.clock import SystemClock
from laneway.domain.job import JobStatus
from laneway.domain.judgement import ApprovalState
from laneway.domain.workflow_run import RunStatus, WorkflowRun
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Delay, Say, ScriptedModel
from laneway.store import approvals, jobs, workflow_nodes, workflow_runs
from tests.lanes.workflow.running_workflows import Workflows, document, node, workflowing
from tests.servers.pages import Pages

GATE = 4711


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


@pytest.fixture
def slow(pages: Pages) -> Slow:
    page = pages.pages["/slow"] = Slow()
    return page


def beside(first: dict[str, Any], pages: Pages) -> dict[str, Any]:
    """A workflow that waits at its first node, and a second later has slow work to do beside it."""
    rest = [
        node("soon", "wait", {"seconds": 1}),
        node("a", "transform", {"set": 1}),
        node("b", "transform", {"set": 1}),
    ]
    return document([first, *rest, node("slow", "http", {"url": f"{pages.url}/slow"})], ["soon a", "a b", "b slow"])


@asynccontextmanager
async def connected(database_url: str) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        yield connection


async def held_up(connection: psycopg.AsyncConnection[Any]) -> None:
    """Somebody waits for a lock that this connection holds."""
    mine = "SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    async with asyncio.timeout(30):
        while await (await connection.execute(mine)).fetchone() is None:
            # What others do is seen anew only by another look at it.
            await connection.execute("SELECT pg_stat_clear_snapshot()")
            await asyncio.sleep(0.05)


async def gated(connection: psycopg.AsyncConnection[Any]) -> None:
    """Whoever writes what a node waits for comes no further than to just before that, while this one goes on."""
    await connection.execute(
        "CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$BEGIN PERFORM pg_advisory_xact_lock({GATE}); RETURN NULL; END$$"
    )
    await connection.execute(
        "CREATE TRIGGER gate BEFORE UPDATE OF waits ON workflow_nodes FOR EACH STATEMENT EXECUTE FUNCTION gate()"
    )
    await connection.commit()
    await connection.execute(f"SELECT pg_advisory_xact_lock({GATE})")


@pytest.mark.parametrize("committed", ["while it works", "when it rests"])
async def test_an_answer_that_comes_while_a_run_works_beside_its_question_wakes_it(
    flows: Workflows, pages: Pages, slow: Slow, committed: str
) -> None:
    run = await flows.run(beside(node("ask", "hitl", {"message": "Go on?"}), pages))
    await slow.until_asked()
    asked = await flows.asked(run)
    async with flows.lane.app.db.transaction() as tx:
        await approvals.answer(tx, asked.id, ApprovalState.APPROVED, flows.owner)
        if committed == "when it rests":
            slow.free = True
            await flows.lane.until(run.job_id, JobStatus.WAITING)
    slow.free = True
    assert (await flows.until(run.id, RunStatus.DONE)).output["ask"]["decision"] == "approved"


async def test_an_event_that_comes_while_its_node_is_looked_at_again_is_not_written_over(
    flows: Workflows, pages: Pages, slow: Slow, database_url: str
) -> None:
    run = await flows.run(beside(node("event", "wait", {"event": "order.came_in"}), pages))
    slow.free = True
    async with connected(database_url) as connection:
        await gated(connection)
        record = (await flows.nodes(run))["event"]
        await held_up(connection)
        await workflow_nodes.came(connection, record, {"n": 1}, SystemClock().now())
        await connection.commit()
    assert (await flows.until(run.id, RunStatus.DONE)).output["event"]["event"] == {"n": 1}


async def test_what_a_run_starts_while_it_is_being_cancelled_is_cancelled_too(
    flows: Workflows, pages: Pages, slow: Slow, database_url: str
) -> None:
    await flows.store("child", document([node("ask", "hitl", {"message": "Pay?"})]))
    nodes = [node("slow", "http", {"url": f"{pages.url}/slow"}), node("sub", "subworkflow", {"workflow": "child"})]
    run_id = await flows.start(await flows.store("parent", document(nodes, ["slow sub"])))
    await slow.until_asked()
    job_id = (await flows.get(run_id)).job_id
    async with connected(database_url) as connection:
        # Whoever cancels has begun, and comes no further than to the job.
        await connection.execute("SELECT 1 FROM jobs WHERE id = %s FOR NO KEY UPDATE", (job_id,))
        cancelling = asyncio.create_task(cancelled(flows, run_id))
        await held_up(connection)
        slow.free = True
        # It has started the other run, or does so when it is known whether it may.
        async with asyncio.timeout(30):
            while not await children(flows, run_id) and await waiting(flows) < 2:
                await asyncio.sleep(0.05)
        await connection.rollback()
    await cancelling
    assert (await flows.until(run_id, RunStatus.CANCELLED)).status is RunStatus.CANCELLED
    assert [child.status for child in await children(flows, run_id)] in ([], [RunStatus.CANCELLED])


async def cancelled(flows: Workflows, run_id: UUID) -> None:
    async with flows.lane.app.db.transaction() as tx:
        await workflow_runs.cancel(tx, run_id)


async def children(flows: Workflows, run_id: UUID) -> list[WorkflowRun]:
    async with flows.lane.app.db.transaction() as tx:
        return await workflow_runs.children(tx, run_id)


async def waiting(flows: Workflows) -> int:
    """How many wait for a lock that somebody else holds."""
    locked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    async with flows.lane.app.db.transaction() as tx:
        row = await (await tx.execute(locked)).fetchone()
    return 0 if row is None else int(row[0])


async def test_a_run_that_is_told_to_stop_when_it_is_about_to_rest_does_not_rest(
    flows: Workflows, pages: Pages, slow: Slow, database_url: str
) -> None:
    nodes = [node("slow", "http", {"url": f"{pages.url}/slow"}), node("event", "wait", {"event": "never.happens"})]
    run_id = await flows.start(await flows.store("flow", document(nodes, ["slow event"])))
    await slow.until_asked()
    job_id = (await flows.get(run_id)).job_id
    async with connected(database_url) as connection:
        # The row says it; whoever runs the job is told so too late.
        await connection.execute("UPDATE jobs SET cancel_requested_at = now() WHERE id = %s", (job_id,))
        slow.free = True
        await held_up(connection)
        await connection.commit()
    assert (await flows.until(run_id)).status is RunStatus.CANCELLED


async def test_a_run_goes_on_at_once_when_the_one_it_waits_for_was_stopped_in_its_work(
    flows: Workflows, pages: Pages, slow: Slow
) -> None:
    await flows.store("child", document([node("slow", "http", {"url": f"{pages.url}/slow"})]))
    parent = await flows.run(document([node("sub", "subworkflow", {"workflow": "child"})]), "parent")
    await slow.until_asked()
    [child] = await children(flows, parent.id)
    async with flows.lane.app.db.transaction() as tx:
        await jobs.request_cancel(tx, child.job_id)
    await flows.lane.until(child.job_id, JobStatus.CANCELLED)
    # Without being told of it, it would be looked at twenty seconds after it went to rest.
    assert (await flows.until(parent.id, RunStatus.FAILED, seconds=10)).status is RunStatus.FAILED


async def test_what_an_agent_node_hands_on_while_its_run_is_being_cancelled_is_cancelled_too(
    database_url: str, tmp_path: Path
) -> None:
    model = ScriptedModel(lambda asked: Delay(Say("Done."), 60))
    async with workflowing(database_url, tmp_path, model) as flows, connected(database_url) as connection:
        made = document([node("do", "agent", {"prompt": "Look around.", "tools": ["server_info"]})])
        workflow = await flows.store("flow", made)
        await gated(connection)
        run_id = await flows.start(workflow)
        await held_up(connection)
        cancelling = asyncio.create_task(cancelled(flows, run_id))
        async with asyncio.timeout(30):
            while not cancelling.done() and await waiting(flows) < 2:
                await asyncio.sleep(0.05)
        await connection.commit()
        await cancelling
        await flows.until(run_id, RunStatus.CANCELLED)
        async with flows.lane.app.db.transaction() as tx:
            handed_on = [job for job in await jobs.page(tx) if job.lane == "tools"]
        for job in handed_on:
            assert (await flows.lane.until(job.id, seconds=10)).status is JobStatus.CANCELLED


async def test_a_yes_that_comes_while_its_call_is_looked_at_again_is_a_yes(
    database_url: str, tmp_path: Path, pages: Pages, slow: Slow
) -> None:
    orders: list[str] = []

    async def order(what: str) -> dict[str, str]:
        """Order something. what: the thing."""
        orders.append(what)
        return {"status": "success", "result": "ordered"}

    slow.free = True
    made = beside(node("do", "function", {"name": "order", "arguments": {"what": "tea"}}), pages)
    tools = [ToolEntry(order, changes=True, asks=True)]
    async with workflowing(database_url, tmp_path, tools=tools) as flows, connected(database_url) as connection:
        run = await flows.run(made)
        asked = await flows.asked(run)
        # It has seen that nobody has answered, and comes no further than to whether such calls are always allowed.
        await connection.execute("LOCK TABLE permissions IN ACCESS EXCLUSIVE MODE")
        await held_up(connection)
        async with flows.lane.app.db.transaction() as tx:
            await approvals.answer(tx, asked.id, ApprovalState.APPROVED, flows.owner)
        await connection.rollback()
        done = await flows.until(run.id, RunStatus.DONE, RunStatus.FAILED)
    assert (done.status, orders) == (RunStatus.DONE, ["tea"]), done.error
