"""What comes while a run is working, or is about to rest, reaches it: answers, events, and the word to stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from laneway.clock import SystemClock
from laneway.domain.job import JobStatus
from laneway.domain.judgement import ApprovalState
from laneway.domain.workflow_run import RunStatus
from laneway.lanes.tools import ToolEntry
from laneway.store import approvals, jobs, workflow_nodes
from tests.lanes.workflow.documents import steps
from tests.lanes.workflow.running_workflows import Slow, Workflows, document, eventually, node, workflowing
from tests.servers.pages import Pages

GATE = 4711


@pytest.fixture
def slow(pages: Pages) -> Slow:
    page = pages.pages["/slow"] = Slow()
    return page


def beside(first: dict[str, Any], pages: Pages) -> dict[str, Any]:
    """A workflow that waits at its first node, and half a second later has slow work to do beside it."""
    rest = [node("soon", "wait", {"seconds": 0.5}), *(node(name, "transform", {"set": 1}) for name in "ab")]
    return document([first, *rest, node("slow", "http", {"url": f"{pages.url}/slow"})], ["soon a", "a b", "b slow"])


@pytest.fixture
async def flows(database_url: str, tmp_path: Path) -> AsyncIterator[Workflows]:
    """A Laneway of the test's own, whose tables it may lock; its tool must be allowed."""
    orders: list[str] = []

    async def order(what: str) -> dict[str, str]:
        """Order something. what: the thing."""
        orders.append(what)
        return {"status": "success", "result": f"That was order {len(orders)}."}

    tools = [ToolEntry(order, changes=True, asks=True)]
    async with workflowing(database_url, tmp_path, tools=tools) as opened:
        yield opened


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        yield connection


async def held_up(connection: psycopg.AsyncConnection[Any]) -> None:
    """Somebody waits for a lock that this connection holds."""
    mine = "SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"

    async def waits() -> Any:
        # What others do is seen anew only by another look at it.
        await connection.execute("SELECT pg_stat_clear_snapshot()")
        return await (await connection.execute(mine)).fetchone()

    await eventually(waits)


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
    flows: Workflows, pages: Pages, slow: Slow, connection: psycopg.AsyncConnection[Any]
) -> None:
    run = await flows.run(beside(node("event", "wait", {"event": "order.came_in"}), pages))
    slow.free = True
    await gated(connection)
    record = (await flows.nodes(run))["event"]
    await held_up(connection)
    await workflow_nodes.came(connection, record, {"n": 1}, SystemClock().now())
    await connection.commit()
    assert (await flows.until(run.id, RunStatus.DONE)).output["event"]["event"] == {"n": 1}


TWO_WAIT = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() OFFSET 1"
"""Two wait for locks that others hold."""


async def test_what_a_run_starts_while_it_is_being_cancelled_is_cancelled_too(
    flows: Workflows, pages: Pages, slow: Slow, connection: psycopg.AsyncConnection[Any]
) -> None:
    await flows.store("child", steps("ask:hitl", ask={"message": "Pay?"}))
    slowly, sub = {"url": f"{pages.url}/slow"}, {"workflow": "child"}
    made = steps("slow:http sub:subworkflow", "slow sub", slow=slowly, sub=sub)
    run_id = await flows.start(await flows.store("parent", made))
    await slow.until_asked()
    job_id = (await flows.get(run_id)).job_id
    # Whoever cancels has begun, and comes no further than to the job.
    await connection.execute("SELECT 1 FROM jobs WHERE id = %s FOR NO KEY UPDATE", (job_id,))
    cancelling = asyncio.create_task(flows.cancel(run_id))
    await held_up(connection)
    slow.free = True

    # It has started the other run, or does so when it is known whether it may.
    async def started() -> bool:
        return bool(await flows.children(run_id) or await flows.query(TWO_WAIT))

    await eventually(started)
    await connection.rollback()
    await cancelling
    assert (await flows.until(run_id, RunStatus.CANCELLED)).status is RunStatus.CANCELLED
    assert [child.status for child in await flows.children(run_id)] in ([], [RunStatus.CANCELLED])


async def test_a_run_that_is_told_to_stop_when_it_is_about_to_rest_does_not_rest(
    flows: Workflows, pages: Pages, slow: Slow, connection: psycopg.AsyncConnection[Any]
) -> None:
    made = steps(
        "slow:http event:wait", "slow event", slow={"url": f"{pages.url}/slow"}, event={"event": "never.happens"}
    )
    run_id = await flows.start(await flows.store("flow", made))
    await slow.until_asked()
    job_id = (await flows.get(run_id)).job_id
    # The row says it; whoever runs the job is told so too late.
    await connection.execute("UPDATE jobs SET cancel_requested_at = now() WHERE id = %s", (job_id,))
    slow.free = True
    await held_up(connection)
    await connection.commit()
    assert (await flows.until(run_id)).status is RunStatus.CANCELLED


async def test_a_run_goes_on_at_once_when_the_one_it_waits_for_was_stopped_in_its_work(
    flows: Workflows, pages: Pages, slow: Slow
) -> None:
    await flows.store("child", steps("slow:http", slow={"url": f"{pages.url}/slow"}))
    parent = await flows.run(steps("sub:subworkflow", sub={"workflow": "child"}), "parent")
    await slow.until_asked()
    [child] = await flows.children(parent.id)
    async with flows.lane.app.db.transaction() as tx:
        await jobs.request_cancel(tx, child.job_id)
    await flows.lane.until(child.job_id, JobStatus.CANCELLED)
    # Without being told of it, it would be looked at twenty seconds after it went to rest.
    assert (await flows.until(parent.id, RunStatus.FAILED, seconds=10)).status is RunStatus.FAILED
    slow.free = True


async def test_a_yes_that_comes_while_its_call_is_looked_at_again_is_a_yes(
    flows: Workflows, pages: Pages, slow: Slow, connection: psycopg.AsyncConnection[Any]
) -> None:
    slow.free = True
    run = await flows.run(beside(node("do", "function", {"name": "order", "arguments": {"what": "tea"}}), pages))
    asked = await flows.asked(run)
    # It has seen that nobody has answered, and comes no further than to whether such calls are always allowed.
    await connection.execute("LOCK TABLE permissions IN ACCESS EXCLUSIVE MODE")
    await held_up(connection)
    async with flows.lane.app.db.transaction() as tx:
        await approvals.answer(tx, asked.id, ApprovalState.APPROVED, flows.owner)
    await connection.rollback()
    done = await flows.until(run.id, RunStatus.DONE, RunStatus.FAILED)
    assert done.status is RunStatus.DONE, done.error
    assert "That was order 1." in str((await flows.nodes(done))["do"].output)
