"""Runs that wait hold no worker: people, time, other runs and events wake them; retry, cancel and test runs."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from laneway.clock import SystemClock
from laneway.domain.job import JobStatus
from laneway.domain.workflow_run import NodeStatus, RunStatus
from laneway.lanes.workflow.remembering import Remembering
from laneway.store import approvals, plans, workflow_nodes, workflow_runs
from tests.lanes.workflow.running_workflows import Workflows, document, node
from tests.servers.pages import Pages
from tests.servers.smtp_server import SmtpServer


def asking(**more: Any) -> dict[str, Any]:
    return document(
        [
            node("ask", "hitl", {"message": "Pay ${$input.sum}?", **more}),
            node("paid", "transform", {"set": "paid"}),
            node("not", "transform", {"set": "not paid: ${$nodes.ask.decision}"}),
        ],
        [{"from": "ask", "to": "paid", "condition": "output.decision == 'approved'"}, {"from": "ask", "to": "not"}],
    )


async def test_a_person_is_asked_as_a_row_and_the_answer_decides_the_way(flows: Workflows) -> None:
    workflow = await flows.store("pay", asking())
    for state, output in (("approved", "paid"), ("rejected", "not paid: rejected")):
        run = await flows.until(await flows.start(workflow, input={"sum": 7}))
        assert run.status is RunStatus.WAITING
        job = await flows.lane.job(run.job_id)
        assert (job.status, job.worker) == (JobStatus.WAITING, None)
        asked = await flows.asked(run)
        assert asked.why == "The workflow pay asks: Pay 7?"
        assert asked.action["arguments"] == {"workflow": "pay", "node": "ask", "message": "Pay 7?"}
        assert asked.may_answer == ["owner"]
        await flows.answer(run, state)
        done = await flows.until(run.id, RunStatus.DONE, RunStatus.FAILED)
        assert done.output == output
        assert (await flows.nodes(done))["ask"].output["by"] == str(flows.owner.id)


async def test_a_choice_is_the_decision_and_only_owner_may_make_it(flows: Workflows) -> None:
    made = document([node("ask", "hitl", {"message": "Which?", "options": ["red", "blue"]})])
    run = await flows.run(made)
    assert (await flows.asked(run)).may_answer == ["owner"]
    await flows.answer(run, "approved", "blue")
    assert (await flows.until(run.id, RunStatus.DONE)).output["decision"] == "blue"


async def test_nobody_goes_on_past_a_no_only_because_the_edge_has_no_condition(flows: Workflows) -> None:
    made = document(
        [node("ask", "hitl", {"message": "Go on?"}), node("on", "transform", {"set": "went on"})], ["ask on"]
    )
    run = await flows.run(made)
    await flows.answer(run, "rejected")
    done = await flows.until(run.id, RunStatus.DONE)
    assert (await flows.visits(done), done.ended_at) == (["ask"], ["ask"])


async def test_a_question_put_aside_by_a_newer_command_is_asked_again(flows: Workflows) -> None:
    run = await flows.run(asking(), input={"sum": 1})
    first = await flows.asked(run)
    async with flows.lane.app.db.transaction() as tx:
        await approvals.supersede(tx, first)
    async with asyncio.timeout(20):
        while True:
            async with flows.lane.app.db.transaction() as tx:
                open_ones = [one for one in await approvals.page(tx) if one.state == "pending"]
            if open_ones and (await flows.get(run.id)).status is RunStatus.WAITING:
                break
            await asyncio.sleep(0.05)
    assert open_ones[0].id != first.id
    await flows.answer(run, "approved")
    assert (await flows.until(run.id, RunStatus.DONE)).output == "paid"


async def test_an_expired_question_is_a_decision_too(flows: Workflows) -> None:
    run = await flows.run(asking(deadline_ms=1000), input={"sum": 1})
    done = await flows.until(run.id, RunStatus.DONE, seconds=30)
    assert done.output == "not paid: expired"


async def test_waiting_for_time_holds_no_worker_and_wakes_by_itself(flows: Workflows) -> None:
    made = document(
        [node("wait", "wait", {"until": "$input.until"}), node("on", "transform", {"set": "on"})], ["wait on"]
    )
    workflow = await flows.store("flow", made)
    later, soon = (SystemClock().now() + timedelta(seconds=seconds) for seconds in (3600, 2))
    rests = await flows.until(await flows.start(workflow, input={"until": later.isoformat()}), RunStatus.WAITING)
    job = await flows.lane.job(rests.job_id)
    assert (job.status, job.worker) == (JobStatus.QUEUED, None)
    done = await flows.until(await flows.start(workflow, input={"until": soon.isoformat()}), RunStatus.DONE)
    assert SystemClock().now() >= soon
    assert done.output == "on"


async def test_waiting_for_an_event_wakes_at_the_right_one(flows: Workflows) -> None:
    wanted = {"event": "workflow.run.done", "condition": "output.workflow == 'other'", "timeout_ms": 60000}
    made = document(
        [node("wait", "wait", wanted),
         node("on", "transform", {"set": "$nodes.wait.event.workflow"})], ["wait on"],
    )  # fmt: skip
    run = await flows.run(made)
    job = await flows.lane.job(run.job_id)
    assert (run.status, job.status) == (RunStatus.WAITING, JobStatus.WAITING)
    trivial = document([node("a", "transform", {"set": 1})])
    await flows.run(trivial, "another")
    await flows.run(trivial, "other")
    assert (await flows.until(run.id, RunStatus.DONE)).output == "other"


async def test_an_event_that_does_not_come_in_time_fails_the_node(flows: Workflows) -> None:
    run = await flows.run(document([node("wait", "wait", {"event": "never.happens", "timeout_ms": 500})]))
    failed = await flows.until(run.id, RunStatus.FAILED)
    assert failed.error is not None
    assert "No event `never.happens` came in time" in failed.error["message"]


async def test_a_sub_workflow_is_a_run_of_its_own_and_its_output_comes_back(flows: Workflows) -> None:
    await flows.store("child", document([node("double", "transform", {"expression": "output.n * 2"})]))
    parent = document(
        [node("sub", "subworkflow", {"workflow": "child", "input": {"n": "$input.n"}}),
         node("told", "transform", {"set": "twice is ${$nodes.sub}"})], ["sub told"],
    )  # fmt: skip
    run = await flows.until(await flows.start(await flows.store("parent", parent), input={"n": 21}), RunStatus.DONE)
    assert run.output == "twice is 42"
    async with flows.lane.app.db.transaction() as tx:
        [child] = await workflow_runs.children(tx, run.id)
    assert (child.tag, child.parent_node, child.cause["type"], child.depth) == ("child", "sub", "node", 1)
    assert child.job_id != run.job_id


async def test_a_sub_workflow_that_fails_fails_its_node_and_one_that_calls_itself_ends(flows: Workflows) -> None:
    await flows.store("child", document([node("bad", "transform", {"expression": "output.nothing"})]))
    run = await flows.start(await flows.store("parent", document([node("sub", "subworkflow", {"workflow": "child"})])))
    failed = await flows.until(run, RunStatus.FAILED)
    assert failed.error is not None
    assert "of `child` failed." in failed.error["message"]
    own = await flows.store("own", document([node("sub", "subworkflow", {"workflow": "own"})]))
    ended = await flows.until(await flows.start(own), RunStatus.FAILED, seconds=60)
    assert len(await flows.runs_of(own)) == 8
    assert ended.error is not None


async def test_a_long_pause_before_the_next_attempt_is_a_row(flows: Workflows, pages: Pages) -> None:
    answers = [503, 503]

    async def flaky(request: Request) -> Response:
        return JSONResponse({}, status_code=answers.pop() if answers else 200)

    def getting(pause: int) -> dict[str, Any]:
        retry = {"max_attempts": 2, "backoff_ms": pause}
        return document([node("get", "http", {"url": f"{pages.url}/flaky"}, retry=retry)])

    pages.pages["/flaky"] = flaky
    run = await flows.run(getting(3_600_000), "rests")
    assert run.status is RunStatus.WAITING
    job = await flows.lane.job(run.job_id)
    assert (job.status, job.worker, len(pages.visits)) == (JobStatus.QUEUED, None, 1)
    assert (await flows.nodes(run))["get"].status is NodeStatus.RETRYING
    done = await flows.until(await flows.start(await flows.store("wakes", getting(3500))), RunStatus.DONE)
    assert ((await flows.nodes(done))["get"].attempts, len(pages.visits)) == (2, 3)


async def test_a_retry_begins_at_the_failed_node_and_repeats_nothing_before_it(
    flows: Workflows, pages: Pages, smtp: SmtpServer
) -> None:
    pages.pages["/a"], pages.pages["/b"] = PlainTextResponse("a"), PlainTextResponse("no", 500)
    made = document(
        [
            node("a", "http", {"url": f"{pages.url}/a", "method": "POST", "body": "x"}),
            node("tell", "notify", {"channel": "email", "message": "a"}),
            node("b", "http", {"url": f"{pages.url}/b"}),
            node("end", "transform", {"set": "$nodes.a.body"}),
        ],
        ["a tell", "tell b", "b end"],
    )
    run = await flows.run(made)
    assert run.status is RunStatus.FAILED
    pages.pages["/b"] = PlainTextResponse("b")
    async with flows.lane.app.db.transaction() as tx:
        await workflow_runs.reopen(tx, run.id)
    done = await flows.until(run.id, RunStatus.DONE)
    assert (done.output, done.error) == ("a", None)
    assert [visit.path for visit in pages.visits] == ["/a", "/b", "/b"]
    assert len(smtp.mails) == 1


async def test_cancelling_ends_a_waiting_run_its_children_and_a_working_one(flows: Workflows, pages: Pages) -> None:
    await flows.store("child", asking())
    parent = document([node("sub", "subworkflow", {"workflow": "child", "input": {"sum": 1}})])
    run = await flows.run(parent, "parent")
    async with asyncio.timeout(20):
        while True:
            async with flows.lane.app.db.transaction() as tx:
                [child] = await workflow_runs.children(tx, run.id)
            if child.status is RunStatus.WAITING:
                break
            await asyncio.sleep(0.05)
    async with flows.lane.app.db.transaction() as tx:
        assert (await workflow_runs.cancel(tx, run.id)).status is RunStatus.CANCELLED
    assert (await flows.get(child.id)).status is RunStatus.CANCELLED
    assert (await flows.lane.job(run.job_id)).status is JobStatus.CANCELLED

    held = asyncio.Event()

    async def slow(request: Request) -> Response:
        held.set()
        await asyncio.sleep(60)
        return PlainTextResponse("late")

    pages.pages["/slow"] = slow
    made = document(
        [node("get", "http", {"url": f"{pages.url}/slow"}), node("on", "transform", {"set": 1})], ["get on"]
    )
    working = await flows.start(await flows.store("working", made))
    async with asyncio.timeout(20):
        while not held.is_set():
            await asyncio.sleep(0.02)
    async with flows.lane.app.db.transaction() as tx:
        await workflow_runs.cancel(tx, working)
    ended = await flows.until(working, RunStatus.CANCELLED)
    assert await flows.visits(ended) == ["get"]


async def test_a_test_run_uses_pinned_outputs_and_does_nothing_outside(
    flows: Workflows, pages: Pages, smtp: SmtpServer
) -> None:
    made = document(
        [
            node("price", "http", {"url": f"{pages.url}/price"}),
            node("pick", "conditional"),
            node("ask", "hitl", {"message": "Tell?"}),
            node("tell", "notify", {"channel": "email", "message": "It is ${$nodes.price.body.price}."}),
            node("order", "http", {"url": f"{pages.url}/order", "method": "POST", "body": {"n": 1}}),
        ],
        ["price pick", {"from": "pick", "to": "ask", "condition": "output.body.price < 100"},
         {"from": "ask", "to": "tell", "condition": "output.decision == 'approved'"}, "tell order"],
    )  # fmt: skip
    pinned = {"price": {"body": {"price": 95}}, "ask": {"decision": "approved"}}
    run = await flows.run(made, test=True, pinned=pinned, cause={"type": "test"})
    assert run.status is RunStatus.DONE, run.error
    assert await flows.visits(run) == ["price", "pick", "ask", "tell", "order"]
    nodes = await flows.nodes(run)
    assert nodes["tell"].output == {"test": True, "would": {"channel": "email", "message": "It is 95."}}
    assert nodes["order"].output["would"]["method"] == "POST"
    assert (nodes["price"].pinned, nodes["tell"].pinned) == (True, False)
    assert (pages.visits, smtp.mails) == ([], [])
    async with flows.lane.app.db.transaction() as tx:
        assert await Remembering(flows.lane.app.artifacts).recorded(tx, run.workflow_id, 10) == []


async def test_recorded_runs_tell_what_their_nodes_gave(flows: Workflows) -> None:
    workflow = await flows.store("flow", document([node("a", "transform", {"set": "$input.n"})]))
    for n in range(3):
        await flows.until(await flows.start(workflow, input={"n": n}), RunStatus.DONE)
    async with flows.lane.app.db.transaction() as tx:
        found = await Remembering(flows.lane.app.artifacts).recorded(tx, workflow.id, 2)
    assert [(one.version, one.input, one.outputs, one.ended_at_nodes, one.status) for one in found] == [
        (1, {"n": n}, {"a": n}, ["a"], "done") for n in (2, 1)
    ]


async def test_a_run_sees_what_the_one_before_it_gave(flows: Workflows) -> None:
    dropped = "output.price < 100 && has(ctx.previous.price) && ctx.previous.price.price >= 100"
    made = document(
        [
            node("price", "transform", {"set": {"price": "$input.price"}}),
            node("pick", "conditional"),
            node("drop", "transform", {"set": "dropped"}),
        ],
        ["price pick", {"from": "pick", "to": "drop", "condition": dropped}],
    )
    workflow = await flows.store("flow", made)
    ended = []
    for price in (90, 120, 95, 94, 130, 99):
        run = await flows.until(await flows.start(workflow, input={"price": price}), RunStatus.DONE)
        ended.append(run.ended_at)
    assert ended == [["pick"], ["pick"], ["drop"], ["pick"], ["pick"], ["drop"]]


async def test_what_old_runs_gave_is_forgotten_and_the_newest_stay(flows: Workflows) -> None:
    workflow = await flows.store("flow", document([node("a", "transform", {"set": "$input.n"})]))
    for n in range(3):
        await flows.until(await flows.start(workflow, input={"n": n}), RunStatus.DONE)
    async with flows.lane.app.db.transaction() as tx:
        await tx.execute("UPDATE workflow_runs SET finished_at = now() - interval '100 days'")
        assert await workflow_nodes.prune(tx, 90) == 0
        assert await workflow_nodes.prune(tx, 90, newest=2) == 1
        found = await Remembering(flows.lane.app.artifacts).recorded(tx, workflow.id, 2)
    assert [one.outputs for one in found] == [{"a": 2}, {"a": 1}]


async def test_old_plans_are_forgotten(flows: Workflows) -> None:
    made = plans.KnownPlan({"steps": []}, "planner")
    async with flows.lane.app.db.transaction() as tx:
        await plans.keep(tx, "old", made, world="owner", words="x", of={})
        await tx.execute("UPDATE plans SET created_at = now() - interval '100 days'")
        await plans.keep(tx, "young", made, world="owner", words="x", of={})
        assert await plans.prune(tx, 90) == 1
        assert await plans.known(tx, "old") is None
        assert await plans.known(tx, "young") == made
