"""What starts workflows by itself, each occasion once; a schedule that fails again and again is paused."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from laneway.clock import FakeClock, SystemClock
from laneway.domain.conversation import Role
from laneway.domain.workflow import Cause, Workflow
from laneway.domain.workflow_run import RunStatus, WorkflowRun
from laneway.errors import BadInput
from laneway.lanes.workflow.checks import check
from laneway.lanes.workflow.hearing import sent
from laneway.lanes.workflow.runs import MOST_FAILURES
from laneway.lanes.workflow.starting import Order
from laneway.lanes.workflow.triggers import MOST_STARTS, Triggers
from laneway.store import events, jobs, principals, workflow_triggers, workflows
from tests.lanes.workflow.documents import flow, steps
from tests.lanes.workflow.running_workflows import Workflows, document, eventually, node
from tests.servers.pages import Pages


def in_half_a_day() -> str:
    """A daily schedule that is not due by itself while a test runs, whenever that is."""
    return f"0 {(datetime.now(UTC).hour + 12) % 24} * * *"


def triggered(*triggers: dict[str, Any]) -> dict[str, Any]:
    return steps("a", a={"set": "$input"}, triggers=list(triggers))


async def until_run(flows: Workflows, workflow: Workflow, count: int = 1) -> list[WorkflowRun]:
    async def found() -> list[WorkflowRun]:
        runs = await flows.runs_of(workflow)
        return runs[::-1] if len(runs) >= count and all(one.status is not RunStatus.RUNNING for one in runs) else []

    return await eventually(found, 60)


async def next_at(flows: Workflows, workflow: Workflow) -> datetime | None:
    return (await flows.until_watched(workflow))[0].next_at


async def test_a_schedule_starts_runs_in_its_zone_and_goes_with_its_version(flows: Workflows) -> None:
    there = datetime.now(ZoneInfo("Asia/Tokyo")) + timedelta(hours=12)
    workflow = await flows.store(
        "daily", triggered({"type": "cron", "schedule": f"0 {there.hour} * * *", "timezone": "Asia/Tokyo"})
    )
    due = await next_at(flows, workflow)
    assert due is not None
    assert (due.astimezone(UTC).hour, due.minute) == (there.astimezone(UTC).hour, 0)
    await flows.come_due()
    [run] = await until_run(flows, workflow)
    assert (run.status, run.cause["type"], run.cause["missed"]) == (RunStatus.DONE, "cron", 0)
    assert run.output["at"] == run.cause["at"]
    async with flows.lane.app.db.transaction() as tx:
        assert await jobs.is_programs(tx, run.job_id), "people's messages go before it"
    changed = await flows.change(workflow, triggered())
    assert await flows.until_query(NONE.format(changed.id))


NONE = "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM workflow_triggers WHERE workflow_id = '{}')"


async def test_a_workflow_that_was_removed_starts_nothing_until_it_is_back(flows: Workflows) -> None:
    workflow = await flows.store("daily", triggered({"type": "cron", "schedule": "@hourly"}))
    assert await next_at(flows, workflow) is not None
    app = flows.lane.app
    async with app.db.transaction() as tx:
        await workflows.remove(tx, workflow, workflow.principal_id)
    assert await flows.until_query(NONE.format(workflow.id))
    async with app.db.transaction() as tx:
        await app.workflows.patches.restore(tx, workflow.principal_id, "daily", Cause(workflow.principal_id))
    assert await next_at(flows, workflow) is not None
    await flows.come_due()
    [run] = await until_run(flows, workflow)
    assert run.cause["type"] == "cron"


async def test_one_occasion_starts_one_run_though_many_workers_look_and_the_owner_reads_elsewhere(
    flows: Workflows,
) -> None:
    workflow = await flows.store("day", triggered({"type": "cron", "schedule": in_half_a_day()}))
    assert await next_at(flows, workflow) is not None
    app = flows.lane.app
    others = [Triggers(app.db, app.runs, FakeClock(datetime.now(UTC) + timedelta(hours=24))) for _ in range(5)]
    await asyncio.gather(*(one.turn() for one in others))
    [run] = await until_run(flows, workflow)
    assert run.cause["missed"] == 0
    await asyncio.gather(*(one.turn() for one in others))
    assert len(await flows.runs_of(workflow)) == 1
    await flows.lane.send("/help", "desk")
    first = await flows.until(await flows.start(workflow, key="delivery-1"), RunStatus.DONE)
    await flows.lane.send("/help", "terminal", channel="console")
    assert await flows.start(workflow, key="delivery-1") == first.id
    assert await flows.start(workflow, key="delivery-2") != first.id
    assert len(await flows.runs_of(workflow)) == 3


async def test_while_a_run_works_its_next_time_is_skipped(flows: Workflows) -> None:
    workflow = await flows.store("slow", triggered({"type": "cron", "schedule": in_half_a_day()}))
    assert await next_at(flows, workflow) is not None
    await flows.come_due()
    [run] = await until_run(flows, workflow)
    works = f"UPDATE workflow_runs SET status = '{{}}' WHERE id = '{run.id}' RETURNING 1"
    await flows.query(works.format("running"))
    await flows.come_due()
    await flows.until_query("SELECT 1 FROM events WHERE kind = 'workflow.run.skipped' AND body->>'workflow' = 'slow'")
    assert [one.id for one in await flows.runs_of(workflow)] == [run.id]
    await flows.query(works.format("done"))


ASKS = [{"type": "cron", "schedule": in_half_a_day()}]
OVERLAPS: dict[str | None, list[str]] = {
    None: ["waiting"], "skip": ["waiting"], "queue": ["waiting", "waiting"], "cancel": ["cancelled", "waiting"],
}  # fmt: skip


async def test_while_a_run_waits_its_next_time_does_what_the_workflow_says(flows: Workflows) -> None:
    stored = {}
    for number, overlap in enumerate(OVERLAPS):
        asks = document([node("ask", "hitl", {"message": "May it?"})])
        made = {**asks, "triggers": ASKS, **({"overlap": overlap} if overlap else {})}
        assert check(made) == []
        stored[overlap] = await flows.store(f"asks-{number}", made)
        assert await next_at(flows, stored[overlap]) is not None

    async def all_asked() -> bool:
        found = [await flows.runs_of(workflow) for workflow in stored.values()]
        return all(runs and runs[-1].status is RunStatus.WAITING for runs in found)

    await flows.come_due()
    await eventually(all_asked, 60)
    await flows.come_due()

    async def as_wanted() -> bool:
        found = {overlap: await flows.runs_of(workflow) for overlap, workflow in stored.items()}
        return {overlap: [str(one.status) for one in runs[::-1]] for overlap, runs in found.items()} == OVERLAPS

    await eventually(as_wanted, 60)
    skipped = await flows.query("SELECT body->>'workflow' FROM events WHERE kind = 'workflow.run.skipped'")
    assert {row[0] for row in skipped if row[0].startswith("asks-")} == {"asks-0", "asks-1"}
    [first, second] = (await flows.runs_of(stored["queue"]))[::-1]
    assert second.waits_for == first.id


BROKEN = document([node("x", "transform", {"expression": "output.nothing"})])


async def test_an_event_starts_a_run_when_its_condition_is_true_and_somebody_elses_does_not(flows: Workflows) -> None:
    listens = {"type": "event", "event": "workflow.run.failed", "condition": "output.workflow == 'report'"}
    watcher = await flows.store("watcher", triggered(listens))
    await flows.until_watched(watcher)
    waits = await flows.run(document([node("hear", "wait", {"event": "workflow.run.failed"})]), "waits")
    async with flows.lane.app.db.transaction() as tx:
        other = await principals.add(tx, Role.OPERATOR, "ops", "lw_ops")
        theirs = (await workflows.create(tx, "report", BROKEN, [], Cause(other.id)))[0]
        run_id = (await flows.lane.app.runs.start(tx, theirs, other, Order()))[0]
    await flows.until(run_id, RunStatus.FAILED)
    await flows.run(BROKEN, "report")
    await flows.run(BROKEN, "other")
    await flows.until_heard()
    [run] = await until_run(flows, watcher)
    assert run.input["event"]["run"] != str(run_id), "that of the owner's own workflow of this name"
    assert run.sources == ["an event"]
    woken = await flows.until(waits.id, RunStatus.DONE)
    assert woken.output["event"]["run"] == run.input["event"]["run"]


async def test_a_workflow_never_hears_its_own_echo_and_two_do_not_play_ball(flows: Workflows) -> None:
    own, other = [
        await flows.store(tag, triggered({"type": "event", "event": "workflow.run.done"})) for tag in ("own", "other")
    ]
    await flows.until_watched(own)
    await flows.until_watched(other)
    await flows.until(await flows.start(own), RunStatus.DONE)
    await until_run(flows, other)

    async def count_once_quiet() -> int:
        runs = await flows.runs_of(own) + await flows.runs_of(other)
        await flows.until_heard()
        after = await flows.runs_of(own) + await flows.runs_of(other)
        return len(after) if len(runs) == len(after) and all(one.status is RunStatus.DONE for one in runs) else 0

    assert await eventually(count_once_quiet, 60) <= 9


async def test_many_events_start_a_workflow_only_so_often_in_a_minute_and_their_refusals_are_refused_in_silence(
    flows: Workflows,
) -> None:
    kinds = ("thing.came", "workflow.run.refused")
    workflow = await flows.store("listens", triggered(*({"type": "event", "event": kind} for kind in kinds)))
    await flows.until_watched(workflow)
    async with flows.lane.app.db.transaction() as tx:
        for number in range(MOST_STARTS + 5):
            await events.append(tx, "thing.came", {"n": number})
    for _ in range(2):
        # What is heard first makes the events that are heard then.
        await flows.until_heard()
    assert len(await flows.runs_of(workflow)) == MOST_STARTS
    refused = "SELECT 1 FROM events WHERE kind = 'workflow.run.refused' AND body->>'workflow' = 'listens'"
    assert len(await flows.query(refused)) == 5


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


async def send_event(flows: Workflows, kind: str, data: dict[str, Any], id: str | None = None) -> None:
    async with flows.lane.app.db.transaction() as tx:
        await events.append(tx, kind, sent(data, id))


ORDER = {"id": "ORDER-8", "kind": "bolt", "at": "dock 3", "job_id": 7, "sent_as": "parcel", "event": "e"}


async def test_what_the_sender_says_of_an_event_wins_over_what_we_know_of_it_and_comes_once(flows: Workflows) -> None:
    condition = '$.id == "ORDER-8" && event.sent_as == "s1" || $.kind == "order.came_in"'
    listens = {"type": "event", "event": "order.came_in", "condition": condition}
    made = steps("a", a={"set": {"theirs": "$input.event", "ours": "$trigger"}}, triggers=[listens])
    workflow = await flows.store("orders", made)
    await flows.until_watched(workflow)
    for data, name in ((ORDER, "s1"), (ORDER, "s1"), ({**ORDER, "id": "ORDER-9"}, "s1"), ({"n": 1}, "s2")):
        await send_event(flows, "order.came_in", data, name)
    await flows.until_heard()
    told, plain = [run.output for run in await until_run(flows, workflow, 2)]
    assert told["theirs"] == ORDER
    ours = told["ours"]
    assert (ours["type"], ours["kind"], ours["event"], ours["sent_as"]) == ("event", *["order.came_in"] * 2, "s1")
    assert isinstance(ours["id"], int)
    assert datetime.fromisoformat(ours["at"]).tzinfo is not None
    event = plain["theirs"]
    assert (event["n"], event["kind"], event["sent_as"]) == (1, "order.came_in", "s2")
    assert set(event) == {"n", "kind", "id", "at", "job_id", "sent_as"}
    with pytest.raises(BadInput, match=r"\$laneway"):
        sent({"$laneway": 1}, None)


async def test_an_event_is_not_passed_over_because_its_node_began_to_wait_a_moment_ago(flows: Workflows) -> None:
    app = flows.lane.app
    workflow = await flows.store("waits", document([node("w", "wait", {"event": "order.came_in"})]))

    async def looked_after() -> bool:
        async with app.db.transaction() as tx:
            return not await workflow_triggers.any_changed(tx)

    await eventually(looked_after)
    async with await psycopg.AsyncConnection.connect(flows.database_url) as connection:
        # They have seen that nobody waits, and come no further than to where they would note what has happened.
        await connection.execute("LOCK TABLE workflow_event_place IN ACCESS EXCLUSIVE MODE")
        looking = [asyncio.create_task(Triggers(app.db, app.runs, SystemClock()).turn()) for _ in range(3)]
        await flows.until_query(
            "SELECT 1 FROM pg_locks WHERE relation = 'workflow_event_place'::regclass AND NOT granted OFFSET 2"
        )
        run = await flows.until(await flows.start(workflow))
        await send_event(flows, "order.came_in", {"n": 1})
        await connection.rollback()
    await asyncio.gather(*looking)
    assert (await flows.until(run.id, RunStatus.DONE)).output["event"]["n"] == 1


async def test_a_condition_that_cannot_be_worked_out_is_told_once_and_starts_nothing(flows: Workflows) -> None:
    workflow = await flows.store(
        "low", triggered({"type": "event", "event": "q.low", "condition": "$.qty < 3"},
                         {"type": "event", "event": "workflow.trigger.erred", "condition": "$.no_such < 3"}),
    )  # fmt: skip
    await flows.until_watched(workflow)
    for _ in range(3):
        await send_event(flows, "q.low", {"quantity": 1})
        await flows.until_heard()
    await flows.until_heard()
    first, second = (workflow_triggers.problem_of(one) for one in await flows.until_watched(workflow))
    assert first is not None
    assert second is not None
    assert first["why"].startswith("The condition `$.qty < 3` could not be worked out for an event:")
    assert "qty" in first["why"]
    erred = "SELECT 1 FROM events WHERE kind = 'workflow.trigger.erred' AND body->>'workflow' = 'low'"
    assert len(await flows.query(erred)) == 1
    assert await flows.runs_of(workflow) == []
    await send_event(flows, "q.low", {"qty": 1})
    assert len(await until_run(flows, workflow)) == 1


DAILY = [{"type": "cron", "schedule": in_half_a_day()}]


async def messages_about(flows: Workflows, name: str) -> list[str]:
    """What was said of the workflow, or of its node of this name."""
    return [one for one in await flows.assistant_said() if f"{name}`" in one]


async def fails(flows: Workflows, workflow: Workflow, times: Iterable[int]) -> list[WorkflowRun]:
    found: list[WorkflowRun] = []
    for number in times:
        await flows.come_due()
        found = await until_run(flows, workflow, number)
        for run in found:
            await flows.lane.until(run.job_id)
    return found


async def until_it_goes_on(flows: Workflows, workflow: Workflow) -> None:
    await eventually(lambda: next_at(flows, workflow))


async def test_the_owner_is_told_of_the_first_failure_and_of_the_pause_and_of_nothing_between(
    flows: Workflows, pages: Pages
) -> None:
    well = False

    async def shop(request: Request) -> Response:
        return JSONResponse({}) if well else PlainTextResponse("no", 404)

    pages.pages["/shop"] = shop
    workflow = await flows.store(
        "daily", flow("get_daily:http", get_daily={"url": f"{pages.url}/shop"}, triggers=DAILY)
    )
    await next_at(flows, workflow)
    await fails(flows, workflow, [1])
    [first] = await messages_about(flows, "daily")
    assert "The node `get_daily` failed" in first
    runs = await fails(flows, workflow, range(2, MOST_FAILURES))
    assert await messages_about(flows, "daily") == [first], "the second and the others are on record and told to nobody"
    assert {run.status for run in runs} == {RunStatus.FAILED}
    await fails(flows, workflow, [MOST_FAILURES])
    [_, last] = await messages_about(flows, "daily")
    assert f"It is the {MOST_FAILURES}th failure in a row, so the schedule of `daily` is paused." in last
    assert await next_at(flows, workflow) is None
    await flows.come_due()
    well = True
    mended = await flows.until(await flows.start(workflow))
    assert mended.status is RunStatus.DONE
    await until_it_goes_on(flows, workflow)
    well = False
    before = len(await messages_about(flows, "daily"))
    runs = await fails(flows, workflow, [MOST_FAILURES + 2])
    assert len(runs) == MOST_FAILURES + 2, "a paused schedule starts nothing"
    assert len(await messages_about(flows, "daily")) == before + 1, "after one that ended well it is a first one"


async def test_a_schedule_of_a_workflow_that_cannot_run_says_so_once(flows: Workflows) -> None:
    await flows.lane.send("/help", "desk")
    workflow = await flows.store("half", flow("get:http", triggers=DAILY))
    await next_at(flows, workflow)
    for _ in range(3):
        await flows.come_due()
        await flows.until_query(
            f"SELECT 1 FROM workflow_triggers WHERE workflow_id = '{workflow.id}' AND next_at > now()"
        )
    [said] = await messages_about(flows, "half")
    assert "was to start (cron) and cannot run. The node 'get' (http) cannot run yet" in said
    assert await flows.runs_of(workflow) == []
