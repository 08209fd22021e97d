"""What starts workflows by itself: schedules, events and phrases, each occasion once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from laneway.clock import FakeClock, SystemClock
from laneway.domain.conversation import Role
from laneway.domain.workflow import Cause, Workflow
from laneway.domain.workflow_run import RunStatus, WorkflowRun
from laneway.errors import BadInput
from laneway.lanes.workflow.hearing import sent
from laneway.lanes.workflow.phrases import matched
from laneway.lanes.workflow.starting import Order
from laneway.lanes.workflow.triggers import MOST_STARTS, Triggers, when
from laneway.store import events, jobs, principals, workflow_triggers, workflows
from tests.lanes.workflow.running_workflows import Workflows, document, node


def in_half_a_day() -> str:
    """A daily schedule that is not due by itself while a test runs, whenever that is."""
    return f"0 {(datetime.now(UTC).hour + 12) % 24} * * *"


def triggered(*triggers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return document([node("a", "transform", {"set": "$input"})], triggers=list(triggers), **more)


async def until_run(flows: Workflows, workflow: Workflow, count: int = 1) -> list[Any]:
    async with asyncio.timeout(60):
        while True:
            found = await flows.runs_of(workflow)
            if len(found) >= count and all(run.status is not RunStatus.RUNNING for run in found):
                return found[::-1]
            await asyncio.sleep(0.05)


async def due_now(database_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        await connection.execute("UPDATE workflow_triggers SET next_at = now() WHERE next_at IS NOT NULL")
        await connection.execute("SELECT pg_notify('laneway_due', '')")


async def watched(flows: Workflows, workflow: Workflow) -> list[Any]:
    async with flows.lane.app.db.transaction() as tx:
        return await workflow_triggers.of_workflow(tx, workflow.id)


async def of_a_program(flows: Workflows, run: WorkflowRun) -> bool:
    """Whether people's messages go before this run."""
    async with flows.lane.app.db.transaction() as tx:
        return await jobs.is_programs(tx, run.job_id)


async def next_at(flows: Workflows, workflow: Workflow) -> datetime | None:
    return (await flows.until_watched(workflow))[0].next_at


async def test_a_schedule_starts_runs_in_its_zone_and_goes_with_its_version(
    flows: Workflows, database_url: str
) -> None:
    there = datetime.now(ZoneInfo("Asia/Tokyo")) + timedelta(hours=12)
    workflow = await flows.store(
        "daily", triggered({"type": "cron", "schedule": f"0 {there.hour} * * *", "timezone": "Asia/Tokyo"})
    )
    due = await next_at(flows, workflow)
    assert due is not None
    assert (due.astimezone(UTC).hour, due.minute) == (there.astimezone(UTC).hour, 0)
    await due_now(database_url)
    [run] = await until_run(flows, workflow)
    assert (run.status, run.cause["type"], run.cause["missed"]) == (RunStatus.DONE, "cron", 0)
    assert await of_a_program(flows, run)
    assert run.output["at"] == run.cause["at"]
    changed = await flows.change(workflow, triggered())
    async with asyncio.timeout(20):
        while await watched(flows, changed):
            await asyncio.sleep(0.05)


async def test_a_workflow_that_was_removed_starts_nothing_until_it_is_back(flows: Workflows, database_url: str) -> None:
    workflow = await flows.store("daily", triggered({"type": "cron", "schedule": "@hourly"}))
    assert await next_at(flows, workflow) is not None
    app = flows.lane.app
    async with app.db.transaction() as tx:
        await workflows.remove(tx, workflow, workflow.principal_id)
    async with asyncio.timeout(30):
        while await watched(flows, workflow):
            await asyncio.sleep(0.05)
    async with app.db.transaction() as tx:
        await app.workflows.patches.restore(tx, workflow.principal_id, "daily", Cause(workflow.principal_id))
    assert await next_at(flows, workflow) is not None
    await due_now(database_url)
    [run] = await until_run(flows, workflow)
    assert run.cause["type"] == "cron"


async def test_one_time_starts_one_run_though_many_workers_look(flows: Workflows, database_url: str) -> None:
    workflow = await flows.store("day", triggered({"type": "cron", "schedule": in_half_a_day()}))
    assert await next_at(flows, workflow) is not None
    app = flows.lane.app
    others = [Triggers(app.db, app.runs, FakeClock(datetime.now(UTC) + timedelta(hours=24))) for _ in range(5)]
    await asyncio.gather(*(one.turn() for one in others))
    [run] = await until_run(flows, workflow)
    assert run.cause["missed"] == 0
    await asyncio.gather(*(one.turn() for one in others))
    assert len(await flows.runs_of(workflow)) == 1


async def test_while_a_run_works_its_next_time_is_skipped(flows: Workflows, database_url: str) -> None:
    workflow = await flows.store("slow", triggered({"type": "cron", "schedule": in_half_a_day()}))
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


async def test_runs_of_somebody_elses_workflows_start_and_wake_nothing(flows: Workflows) -> None:
    listens = {"type": "event", "event": "workflow.run.failed", "condition": "output.workflow == 'report'"}
    watcher = await flows.store("watcher", triggered(listens))
    await next_at(flows, watcher)
    waits = await flows.run(document([node("hear", "wait", {"event": "workflow.run.failed"})]), "waits")
    broken = document([node("x", "transform", {"expression": "output.nothing"})])
    async with flows.lane.app.db.transaction() as tx:
        other = await principals.add(tx, Role.OPERATOR, "ops", "lw_ops")
        theirs = (await workflows.create(tx, "report", broken, [], Cause(other.id)))[0]
        run_id = (await flows.lane.app.runs.start(tx, theirs, other, Order()))[0]
    await flows.until(run_id, RunStatus.FAILED)
    await flows.run(broken, "report")
    [run] = await until_run(flows, watcher)
    assert run.input["event"]["run"] != str(run_id), "that of the owner's own workflow of this name"
    woken = await flows.until(waits.id, RunStatus.DONE)
    assert woken.output["event"]["run"] == run.input["event"]["run"]
    await asyncio.sleep(1)
    assert len(await flows.runs_of(watcher)) == 1


async def test_a_workflow_never_hears_its_own_echo_and_two_do_not_play_ball(flows: Workflows) -> None:
    own = await flows.store("own", triggered({"type": "event", "event": "workflow.run.done"}))
    await next_at(flows, own)
    other = await flows.store("other", triggered({"type": "event", "event": "workflow.run.done"}))
    await next_at(flows, other)
    await asyncio.sleep(0.5)
    await flows.until(await flows.start(own), RunStatus.DONE)
    await until_run(flows, other)
    async with asyncio.timeout(60):
        before = -1
        while (now := len(await flows.runs_of(own)) + len(await flows.runs_of(other))) != before:
            before = now
            await asyncio.sleep(2)
    assert before <= 9
    async with flows.lane.app.db.transaction() as tx:
        for number in range(MOST_STARTS + 5):
            await events.append(tx, "workflow.run.done", {"n": number})
    await until_run(flows, other, MOST_STARTS)
    await asyncio.sleep(1)
    begun = sorted(run.created_at for run in await flows.runs_of(other) if run.cause["type"] == "event")
    # A slow machine may need so long for them that the minute is over and others follow.
    minutes = [later - one for one, later in zip(begun, begun[MOST_STARTS:], strict=False)]
    assert all(passed > timedelta(seconds=50) for passed in minutes), minutes


async def test_a_phrase_starts_its_workflow_in_the_thread_it_was_said_in(flows: Workflows) -> None:
    workflow = await flows.store("report", triggered({"type": "chat", "phrase": "run the report"}))
    await next_at(flows, workflow)
    receipt = await flows.lane.send("Run the report: for May", "desk")
    [run] = await until_run(flows, workflow)
    assert (run.job_id, run.cause["type"], run.input["rest"]) == (receipt.job_id, "chat", "for May")
    await flows.lane.until(run.job_id)
    [reply] = await flows.lane.replies(receipt.message_id)
    assert reply.text.startswith("The workflow `report` has run: 1 node, ended at `a`.")
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


async def told(flows: Workflows, kind: str, data: dict[str, Any], id: str | None = None) -> None:
    async with flows.lane.app.db.transaction() as tx:
        await events.append(tx, kind, sent(data, id))


ORDER = {"id": "ORDER-8", "kind": "bolt", "at": "dock 3", "job_id": 7, "sent_as": "parcel", "event": "e"}


async def test_what_the_sender_says_of_an_event_wins_over_what_we_know_of_it(flows: Workflows) -> None:
    listens = {"type": "event", "event": "order.came_in", "condition": '$.id == "ORDER-8" && event.sent_as == "s1"'}
    made = document(
        [node("a", "transform", {"set": {"theirs": "$input.event", "ours": "$trigger"}})], triggers=[listens]
    )
    workflow = await flows.store("orders", made)
    await next_at(flows, workflow)
    await asyncio.sleep(0.5)
    for _ in range(2):
        await told(flows, "order.came_in", ORDER, "s1")
    [run] = await until_run(flows, workflow)
    assert run.output["theirs"] == ORDER
    ours = run.output["ours"]
    assert (ours["type"], ours["kind"], ours["event"], ours["sent_as"]) == ("event", *["order.came_in"] * 2, "s1")
    assert isinstance(ours["id"], int)
    assert datetime.fromisoformat(ours["at"]).tzinfo is not None
    await told(flows, "order.came_in", {**ORDER, "id": "ORDER-9"}, "s1")
    await asyncio.sleep(1)
    assert len(await flows.runs_of(workflow)) == 1


async def test_what_is_ours_keeps_its_name_where_the_data_has_no_such_field(flows: Workflows) -> None:
    listens = {"type": "event", "event": "order.came_in", "condition": '$.kind == "order.came_in"'}
    workflow = await flows.store("orders", triggered(listens))
    await next_at(flows, workflow)
    await asyncio.sleep(0.5)
    await told(flows, "order.came_in", {"n": 1}, "s1")
    [run] = await until_run(flows, workflow)
    event = run.output["event"]
    assert (event["n"], event["kind"], event["sent_as"]) == (1, "order.came_in", "s1")
    assert set(event) == {"n", "kind", "id", "at", "job_id", "sent_as"}
    with pytest.raises(BadInput, match=r"\$laneway"):
        sent({"$laneway": 1}, None)


async def test_a_node_that_waits_gives_the_event_as_it_was_sent_and_what_is_ours_beside_it(flows: Workflows) -> None:
    waits = node("w", "wait", {"event": "order.came_in", "condition": '$.id == "ORDER-8" && event.id > 0'})
    run = await flows.run(document([waits]))
    data = {**ORDER, "run": str(run.id)}
    async with asyncio.timeout(30):
        while (run := await flows.get(run.id)).status is RunStatus.WAITING:
            await told(flows, "order.came_in", data)
            await asyncio.sleep(0.5)
    run = await flows.until(run.id, RunStatus.DONE)
    assert run.output["event"] == data
    assert run.output["about"]["kind"] == "order.came_in"


async def test_an_event_is_not_passed_over_because_its_node_began_to_wait_a_moment_ago(
    flows: Workflows, database_url: str
) -> None:
    app, workflow = (
        flows.lane.app,
        await flows.store("waits", document([node("w", "wait", {"event": "order.came_in"})])),
    )
    await until_looked_after(flows)
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        # They have seen that nobody waits, and come no further than to where they would note what has happened.
        await connection.execute("LOCK TABLE workflow_event_place IN ACCESS EXCLUSIVE MODE")
        looking = [asyncio.create_task(Triggers(app.db, app.runs, SystemClock()).turn()) for _ in range(3)]
        await held_up(connection, 3)
        run = await flows.until(await flows.start(workflow))
        await told(flows, "order.came_in", {"n": 1})
        await connection.rollback()
    await asyncio.gather(*looking)
    assert (await flows.until(run.id, RunStatus.DONE)).output["event"]["n"] == 1


async def until_looked_after(flows: Workflows) -> None:
    """The triggers of all workflows are known to the server."""
    async with asyncio.timeout(30):
        while True:
            async with flows.lane.app.db.transaction() as tx:
                if not await workflow_triggers.any_changed(tx):
                    return
            await asyncio.sleep(0.05)


async def held_up(connection: psycopg.AsyncConnection[Any], count: int) -> None:
    """So many wait for the place of the events."""
    waiting = "SELECT count(*) FROM pg_locks WHERE relation = 'workflow_event_place'::regclass AND NOT granted"
    async with asyncio.timeout(30):
        while (await (await connection.execute(waiting)).fetchone() or (0,))[0] < count:
            await asyncio.sleep(0.05)


async def test_a_condition_that_cannot_be_worked_out_is_told_once_and_starts_nothing(flows: Workflows) -> None:
    workflow = await flows.store(
        "low", triggered({"type": "event", "event": "q.low", "condition": "$.qty < 3"},
                         {"type": "event", "event": "workflow.trigger.erred", "condition": "$.no_such < 3"}),
    )  # fmt: skip
    await next_at(flows, workflow)
    await asyncio.sleep(0.5)
    for _ in range(3):
        await told(flows, "q.low", {"quantity": 1})
        await asyncio.sleep(0.5)
    async with asyncio.timeout(20):
        while True:
            async with flows.lane.app.db.transaction() as tx:
                first, second = await workflow_triggers.of_workflow(tx, workflow.id)
            found, other = workflow_triggers.problem_of(first), workflow_triggers.problem_of(second)
            if found and other:
                break
            await asyncio.sleep(0.05)
    assert found["why"].startswith("The condition `$.qty < 3` could not be worked out for an event:")
    assert "qty" in found["why"]
    await asyncio.sleep(1)
    assert (await _kinds(flows)).count("workflow.trigger.erred") == 1
    assert await flows.runs_of(workflow) == []
    await told(flows, "q.low", {"qty": 1})
    assert len(await until_run(flows, workflow)) == 1
    changed = await flows.change(workflow, triggered({"type": "event", "event": "q.low", "condition": "$.qty < 4"}))
    async with asyncio.timeout(20):
        while True:
            async with flows.lane.app.db.transaction() as tx:
                left = await workflow_triggers.of_workflow(tx, changed.id)
            if [one.config.get("condition") for one in left] == ["$.qty < 4"]:
                break
            await asyncio.sleep(0.05)
    assert workflow_triggers.problem_of(left[0]) is None
