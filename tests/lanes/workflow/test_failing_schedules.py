"""A schedule whose runs fail again and again speaks at the first and when it is paused, and goes on when mended."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from laneway.domain.workflow import Workflow
from laneway.domain.workflow_run import RunStatus
from laneway.lanes.workflow.failing import MOST_FAILURES
from laneway.store import workflow_runs, workflow_triggers
from tests.lanes.workflow.running_workflows import Workflows, document, node
from tests.lanes.workflow.test_triggers import due_now, in_half_a_day, next_at, until_run
from tests.servers.pages import Pages

DAILY = [{"type": "cron", "schedule": in_half_a_day()}]


async def told(flows: Workflows) -> list[str]:
    async with flows.lane.app.db.transaction() as tx:
        rows = await (await tx.execute("SELECT text FROM messages WHERE author = 'assistant' ORDER BY seq")).fetchall()
    return [row[0] for row in rows if "workflow" in row[0] or "did not work" in row[0]]


async def fails(flows: Workflows, workflow: Workflow, database_url: str, times: range) -> list[Any]:
    found: list[Any] = []
    for number in times:
        await due_now(database_url)
        found = await until_run(flows, workflow, number)
        for run in found:
            await flows.lane.until(run.job_id)
    return found


async def until_it_goes_on(flows: Workflows, workflow: Workflow) -> None:
    async with asyncio.timeout(30):
        while await next_at(flows, workflow) is None:
            await asyncio.sleep(0.05)


async def test_the_owner_is_told_of_the_first_failure_and_of_the_pause_and_of_nothing_between(
    flows: Workflows, pages: Pages, database_url: str
) -> None:
    well = False

    async def shop(request: Request) -> Response:
        return JSONResponse({}) if well else PlainTextResponse("no", 404)

    pages.pages["/shop"] = shop
    made = document([node("get", "http", {"url": f"{pages.url}/shop"})], triggers=DAILY)
    workflow = await flows.store("daily", made)
    await next_at(flows, workflow)
    await fails(flows, workflow, database_url, range(1, 2))
    [first] = await told(flows)
    assert "The node `get` failed" in first
    runs = await fails(flows, workflow, database_url, range(2, MOST_FAILURES))
    assert await told(flows) == [first], "the second and the others are on record and told to nobody"
    assert {run.status for run in runs} == {RunStatus.FAILED}
    await fails(flows, workflow, database_url, range(MOST_FAILURES, MOST_FAILURES + 1))
    [_, last] = await told(flows)
    assert f"It is the {MOST_FAILURES}th failure in a row, so the schedule of `daily` is paused." in last
    assert await next_at(flows, workflow) is None
    await due_now(database_url)
    await asyncio.sleep(0.5)
    assert len(await flows.runs_of(workflow)) == MOST_FAILURES, "a paused schedule starts nothing"
    well = True
    mended = await flows.until(await flows.start(workflow))
    assert mended.status is RunStatus.DONE
    await until_it_goes_on(flows, workflow)
    well = False
    before = len(await told(flows))
    await fails(flows, workflow, database_url, range(MOST_FAILURES + 2, MOST_FAILURES + 3))
    assert len(await told(flows)) == before + 1, "after a run that ended well, the next failure is a first one again"


async def test_a_changed_workflow_goes_on_and_a_retry_by_a_person_is_always_told(
    flows: Workflows, pages: Pages, database_url: str
) -> None:
    pages.pages["/shop"] = PlainTextResponse("no", 404)
    made = document([node("get", "http", {"url": f"{pages.url}/shop"})], triggers=DAILY)
    workflow = await flows.store("daily", made)
    await next_at(flows, workflow)
    runs = await fails(flows, workflow, database_url, range(1, 3))
    assert len(await told(flows)) == 1
    async with flows.lane.app.db.transaction() as tx:
        await workflow_runs.reopen(tx, runs[-1].id)
    await flows.until(runs[-1].id, RunStatus.FAILED)
    assert len(await told(flows)) == 2
    async with flows.lane.app.db.transaction() as tx:
        assert await workflow_triggers.pause(tx, workflow.id, 0)
    assert await next_at(flows, workflow) is None
    await flows.change(workflow, {**made, "metadata": {"name": "Daily"}})
    async with flows.lane.app.db.transaction() as tx:
        await workflow_runs.wake(tx)
    await until_it_goes_on(flows, workflow)


async def test_a_schedule_of_a_workflow_that_cannot_run_says_so_once(flows: Workflows, database_url: str) -> None:
    await flows.lane.send("/help", "desk")
    workflow = await flows.store("half", document([node("get", "http")], triggers=DAILY))
    await next_at(flows, workflow)
    for _ in range(3):
        await due_now(database_url)
        async with asyncio.timeout(20):
            while (due := await next_at(flows, workflow)) is None or not await _passed(flows, due):
                await asyncio.sleep(0.05)
    [said] = [one for one in await told(flows) if "`half`" in one]
    assert "was to start (cron) and cannot run. The node 'get' (http) cannot run yet" in said
    assert await flows.runs_of(workflow) == []


async def _passed(flows: Workflows, due: Any) -> bool:
    """Whether the occasion is over: the next time lies ahead."""
    async with flows.lane.app.db.transaction() as tx:
        row = await (await tx.execute("SELECT %s > now()", (due,))).fetchone()
    return bool(row and row[0])
