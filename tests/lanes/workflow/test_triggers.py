"""What starts workflows by itself: schedules, events and phrases, each occasion once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from laneway.clock import FakeClock
from laneway.domain.workflow import Workflow
from laneway.domain.workflow_run import RunStatus
from laneway.lanes.workflow.phrases import matched
from laneway.lanes.workflow.starting import Order
from laneway.lanes.workflow.triggers import MOST_STARTS, Triggers, when
from laneway.store import events, workflow_triggers
from tests.lanes.workflow.running_workflows import Workflows, document, node


def triggered(*triggers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return document([node("a", "transform", {"set": "$input"})], triggers=list(triggers), **more)


async def until_run(flows: Workflows, workflow: Workflow, count: int = 1) -> list[Any]:
    async with asyncio.timeout(30):
        while True:
            found = await flows.runs_of(workflow)
            if len(found) >= count and all(run.status is not RunStatus.RUNNING for run in found):
                return found[::-1]
            await asyncio.sleep(0.05)


async def due_now(database_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        await connection.execute("UPDATE workflow_triggers SET next_at = now() WHERE next_at IS NOT NULL")
        await connection.execute("SELECT pg_notify('laneway_due', '')")


async def next_at(flows: Workflows, workflow: Workflow) -> datetime | None:
    async with asyncio.timeout(20):
        while True:
            async with flows.lane.app.db.transaction() as tx:
                found = await workflow_triggers.of_workflow(tx, workflow.id)
            if found:
                return found[0].next_at
            await asyncio.sleep(0.05)


async def test_a_schedule_starts_runs_in_its_zone_and_goes_with_its_version(
    flows: Workflows, database_url: str
) -> None:
    workflow = await flows.store(
        "daily", triggered({"type": "cron", "schedule": "0 9 * * *", "timezone": "Asia/Tokyo"})
    )
    due = await next_at(flows, workflow)
    assert due is not None
    assert (due.astimezone(UTC).hour, due.minute) == (0, 0)
    await due_now(database_url)
    [run] = await until_run(flows, workflow)
    assert (run.status, run.cause["type"], run.cause["missed"]) == (RunStatus.DONE, "cron", 0)
    assert run.output["at"] == run.cause["at"]
    changed = await flows.change(workflow, triggered())
    async with asyncio.timeout(20):
        while True:
            async with flows.lane.app.db.transaction() as tx:
                if not await workflow_triggers.of_workflow(tx, changed.id):
                    break
            await asyncio.sleep(0.05)


async def test_one_time_starts_one_run_though_many_workers_look(flows: Workflows, database_url: str) -> None:
    workflow = await flows.store("minute", triggered({"type": "cron", "schedule": "@hourly"}))
    assert await next_at(flows, workflow) is not None
    app = flows.lane.app
    others = [
        Triggers(app.db, app.runs, FakeClock(datetime.now(UTC) + timedelta(hours=1, minutes=5))) for _ in range(5)
    ]
    await asyncio.gather(*(one.turn() for one in others))
    [run] = await until_run(flows, workflow)
    assert run.cause["missed"] in (0, 1)
    await asyncio.gather(*(one.turn() for one in others))
    assert len(await flows.runs_of(workflow)) == 1


async def test_while_a_run_works_its_next_time_is_skipped(flows: Workflows, database_url: str) -> None:
    workflow = await flows.store("slow", triggered({"type": "cron", "schedule": "@hourly"}))
    assert await next_at(flows, workflow) is not None
    await due_now(database_url)
    [run] = await until_run(flows, workflow)
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        await connection.execute("UPDATE workflow_runs SET status = 'running', finished_at = NULL")
    await due_now(database_url)
    async with asyncio.timeout(20):
        while "workflow.run.skipped" not in await _kinds(flows):
            await asyncio.sleep(0.05)
    assert [one.id for one in await flows.runs_of(workflow)] == [run.id]


async def _kinds(flows: Workflows) -> list[str]:
    async with flows.lane.app.db.transaction() as tx:
        return [event.kind for event in await events.after(tx, events.START, limit=1000)]


async def test_an_event_starts_a_run_when_its_condition_is_true(flows: Workflows) -> None:
    failed = triggered({"type": "event", "event": "workflow.run.failed", "condition": "output.workflow == 'bad'"})
    watcher = await flows.store("watcher", failed)
    await next_at(flows, watcher)
    await asyncio.sleep(0.5)
    broken = document([node("x", "transform", {"expression": "output.nothing"})])
    await flows.run(broken, "other")
    await flows.run(broken, "bad")
    [run] = await until_run(flows, watcher)
    assert run.input["event"]["workflow"] == "bad"
    assert run.sources == ["an event"]
    await asyncio.sleep(1)
    assert len(await flows.runs_of(watcher)) == 1


async def test_a_workflow_never_hears_its_own_echo_and_two_do_not_play_ball(flows: Workflows) -> None:
    own = await flows.store("own", triggered({"type": "event", "event": "workflow.run.done"}))
    await next_at(flows, own)
    other = await flows.store("other", triggered({"type": "event", "event": "workflow.run.done"}))
    await next_at(flows, other)
    await asyncio.sleep(0.5)
    await flows.until(await flows.start(own), RunStatus.DONE)
    async with asyncio.timeout(30):
        before = -1
        while (now := len(await flows.runs_of(own)) + len(await flows.runs_of(other))) != before:
            before = now
            await asyncio.sleep(2)
    assert 2 <= before <= 9
    async with flows.lane.app.db.transaction() as tx:
        for number in range(MOST_STARTS + 5):
            await events.append(tx, "workflow.run.done", {"n": number})
    await until_run(flows, other, MOST_STARTS)
    await asyncio.sleep(1)
    assert len([run for run in await flows.runs_of(other) if run.cause["type"] == "event"]) <= MOST_STARTS


async def test_a_phrase_starts_its_workflow_in_the_thread_it_was_said_in(flows: Workflows) -> None:
    workflow = await flows.store("report", triggered({"type": "chat", "phrase": "run the report"}))
    await next_at(flows, workflow)
    receipt = await flows.lane.send("Run the report: for May", "desk")
    [run] = await until_run(flows, workflow)
    assert (run.job_id, run.cause["type"], run.input["rest"]) == (receipt.job_id, "chat", "for May")
    await flows.lane.until(run.job_id)
    [reply] = await flows.lane.replies(receipt.message_id)
    assert reply.text.startswith("The workflow `report` has run: 1 nodes, ended at `a`.")
    await flows.lane.ask("please run the report some day", "desk")
    assert len(await flows.runs_of(workflow)) == 1


def test_a_phrase_is_the_whole_message_or_what_stands_before_its_colon() -> None:
    assert matched("Run the report", " run  the REPORT! ") == ""
    assert matched("run the report", "run the report: for May") == "for May"
    assert matched("run the report", "run the report for May") is None
    assert matched("", "") is None


def test_the_names_of_usual_schedules_are_known() -> None:
    assert when({"schedule": "@daily"}) == ("0 0 * * *", "UTC")
    assert when({"schedule": "*/5 * * * *", "timezone": "Europe/Berlin"}) == ("*/5 * * * *", "Europe/Berlin")


async def test_a_refused_start_that_is_listened_for_is_not_refused_for_ever(flows: Workflows) -> None:
    made = triggered({"type": "event", "event": "workflow.run.refused"})
    workflow = await flows.store("listens", made)
    await next_at(flows, workflow)
    async with flows.lane.app.db.transaction() as tx:
        for number in range(MOST_STARTS):
            order = Order(cause={"type": "event"}, key=f"k{number}")
            await flows.lane.app.runs.start(tx, workflow, flows.owner, order)
    await until_run(flows, workflow, MOST_STARTS)
    async with flows.lane.app.db.transaction() as tx:
        await events.append(tx, "workflow.run.refused", {"workflow": "another", "why": "It could not."})
    await asyncio.sleep(5)
    async with flows.lane.app.db.transaction() as tx:
        found = await (await tx.execute("SELECT count(*) FROM events WHERE kind = 'workflow.run.refused'")).fetchone()
    assert found is not None
    assert found[0] <= 2
