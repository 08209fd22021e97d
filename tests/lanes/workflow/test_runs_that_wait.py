"""Runs that wait hold no worker: people, time, other runs and events wake them; retry, cancel and test runs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from starlette.responses import JSONResponse, PlainTextResponse

from laneway.clock import SystemClock
from laneway.domain.job import JobStatus
from laneway.domain.workflow_run import NodeStatus, RunStatus
from laneway.lanes.workflow.remembering import Remembering
from laneway.store import approvals, plans, workflow_nodes, workflow_runs
from tests.lanes.workflow.documents import steps
from tests.lanes.workflow.running_workflows import Slow, Workflows, message_of
from tests.servers.pages import Pages
from tests.servers.smtp_server import SmtpServer


def asking(**more: Any) -> dict[str, Any]:
    return steps(
        "ask:hitl paid unpaid", "ask paid if output.decision == 'approved'", "ask unpaid",
        ask={"message": "Pay ${$input.sum}?", **more}, unpaid={"set": "not paid: ${$nodes.ask.decision}"},
    )  # fmt: skip


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
    choosing = await flows.run(steps("ask:hitl", ask={"message": "Which?", "options": ["red", "blue"]}), "choose")
    await flows.answer(choosing, "approved", "blue")
    assert (await flows.until(choosing.id, RunStatus.DONE)).output["decision"] == "blue"


async def test_nobody_goes_on_past_a_no_only_because_the_edge_has_no_condition(flows: Workflows) -> None:
    run = await flows.run(steps("ask:hitl on", "ask on", ask={"message": "Go on?"}))
    await flows.answer(run, "rejected")
    done = await flows.until(run.id, RunStatus.DONE)
    assert (await flows.visits(done), done.ended_at) == (["ask"], ["ask"])


async def test_a_question_put_aside_by_a_newer_command_is_asked_again(flows: Workflows) -> None:
    run = await flows.run(asking(), input={"sum": 1})
    first = await flows.asked(run)
    async with flows.lane.app.db.transaction() as tx:
        await approvals.supersede(tx, first)
    [[second]] = await flows.until_query(
        "SELECT a.id FROM approvals a JOIN jobs j ON j.id = a.job_id "
        f"WHERE a.state = 'pending' AND j.status = 'waiting' AND j.id = '{run.job_id}'"
    )
    assert second != first.id
    await flows.answer(run, "approved")
    assert (await flows.until(run.id, RunStatus.DONE)).output == "paid"


async def test_an_expired_question_is_a_decision_too(flows: Workflows) -> None:
    run = await flows.run(asking(deadline_ms=60_000), input={"sum": 1})
    await flows.query("UPDATE approvals SET deadline = now() - interval '1 second' RETURNING 1")
    async with flows.lane.app.db.transaction() as tx:
        await approvals.expire(tx)
    assert (await flows.until(run.id, RunStatus.DONE)).output == "not paid: expired"


async def test_waiting_for_time_holds_no_worker_and_wakes_by_itself(flows: Workflows) -> None:
    workflow = await flows.store("flow", steps("wait:wait on", "wait on", wait={"until": "$input.until"}))
    for seconds in (3600, 1):
        moment = SystemClock().now() + timedelta(seconds=seconds)
        run = await flows.until(await flows.start(workflow, input={"until": moment.isoformat()}), RunStatus.WAITING)
        job = await flows.lane.job(run.job_id)
        assert (job.status, job.worker) == (JobStatus.QUEUED, None)
    done = await flows.until(run.id, RunStatus.DONE)
    assert (done.output, SystemClock().now() >= moment) == ("on", True)


async def test_waiting_for_an_event_wakes_at_the_right_one(flows: Workflows) -> None:
    wait = {"event": "workflow.run.done", "condition": "output.workflow == 'other'", "timeout_ms": 60000}
    made = steps("wait:wait on", "wait on", wait=wait, on={"set": "$nodes.wait.event.workflow"})
    run = await flows.run(made)
    job = await flows.lane.job(run.job_id)
    assert (run.status, job.status) == (RunStatus.WAITING, JobStatus.WAITING)
    await flows.run(steps("a"), "another")
    await flows.run(steps("a"), "other")
    assert (await flows.until(run.id, RunStatus.DONE)).output == "other"


async def test_a_sub_workflow_is_a_run_of_its_own_and_its_output_comes_back(flows: Workflows) -> None:
    await flows.store("child", steps("double", double={"expression": "output.n * 2"}))
    sub = {"workflow": "child", "input": {"n": "$input.n"}}
    parent = steps("sub:subworkflow told", "sub told", sub=sub, told={"set": "twice is ${$nodes.sub}"})
    run = await flows.end(parent, "parent", input={"n": 21})
    assert run.output == "twice is 42"
    [child] = await flows.children(run.id)
    assert (child.tag, child.parent_node, child.cause["type"], child.depth) == ("child", "sub", "node", 1)
    assert child.job_id != run.job_id


async def test_a_sub_workflow_that_fails_fails_its_node_and_one_that_calls_itself_ends(flows: Workflows) -> None:
    await flows.store("child", steps("bad", bad={"expression": "output.nothing"}))
    run = await flows.start(await flows.store("parent", steps("sub:subworkflow", sub={"workflow": "child"})))
    failed = await flows.until(run, RunStatus.FAILED)
    assert "of `child` failed." in message_of(failed)
    own = await flows.store("own", steps("sub:subworkflow", sub={"workflow": "own"}))
    ended = await flows.until(await flows.start(own), RunStatus.FAILED, seconds=60)
    assert len(await flows.runs_of(own)) == 8
    assert ended.error is not None


async def test_a_long_pause_before_the_next_attempt_is_a_row(flows: Workflows, pages: Pages) -> None:
    pages.pages["/flaky"] = JSONResponse({}, status_code=503)
    made = steps("get:http", get={"url": f"{pages.url}/flaky"})
    made["nodes"][0]["retry"] = {"max_attempts": 2, "backoff_ms": 3_600_000}
    run = await flows.run(made)
    assert run.status is RunStatus.WAITING
    job = await flows.lane.job(run.job_id)
    assert (job.status, job.worker, len(pages.visits)) == (JobStatus.QUEUED, None, 1)
    assert (await flows.nodes(run))["get"].status is NodeStatus.RETRYING
    pages.pages["/flaky"] = JSONResponse({})
    await flows.come_due()
    done = await flows.until(run.id, RunStatus.DONE)
    assert ((await flows.nodes(done))["get"].attempts, len(pages.visits)) == (2, 2)


async def test_a_retry_begins_at_the_failed_node_and_repeats_nothing_before_it(
    flows: Workflows, pages: Pages, smtp: SmtpServer
) -> None:
    pages.pages["/a"], pages.pages["/b"] = PlainTextResponse("a"), PlainTextResponse("no", 500)
    made = steps(
        "a:http tell:notify b:http end", "a tell b end", a={"url": f"{pages.url}/a", "method": "POST", "body": "x"},
        tell={"channel": "email", "message": "a"}, b={"url": f"{pages.url}/b"}, end={"set": "$nodes.a.body"},
    )  # fmt: skip
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
    parent = steps("sub:subworkflow", sub={"workflow": "child", "input": {"sum": 1}})
    run = await flows.run(parent, "parent")
    [child] = await flows.children(run.id)
    await flows.until(child.id, RunStatus.WAITING)
    assert (await flows.cancel(run.id)).status is RunStatus.CANCELLED
    assert (await flows.get(child.id)).status is RunStatus.CANCELLED
    assert (await flows.lane.job(run.job_id)).status is JobStatus.CANCELLED
    slow = pages.pages["/slow"] = Slow()
    working = await flows.start(
        await flows.store("working", steps("get:http on", "get on", get={"url": f"{pages.url}/slow"}))
    )
    await slow.until_asked()
    await flows.cancel(working)
    ended = await flows.until(working, RunStatus.CANCELLED)
    slow.free = True
    assert await flows.visits(ended) == ["get"]


async def test_a_test_run_uses_pinned_outputs_and_does_nothing_outside(
    flows: Workflows, pages: Pages, smtp: SmtpServer
) -> None:
    made = steps(
        "price:http pick:conditional ask:hitl tell:notify order:http", "price pick",
        "pick ask if output.body.price < 100", "ask tell if output.decision == 'approved'", "tell order",
        price={"url": f"{pages.url}/price"}, ask={"message": "Tell?"},
        tell={"channel": "email", "message": "It is ${$nodes.price.body.price}."},
        order={"url": f"{pages.url}/order", "method": "POST", "body": {"n": 1}},
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


async def test_recorded_runs_tell_what_their_nodes_gave_and_the_newest_stay(flows: Workflows) -> None:
    workflow = await flows.store("flow", steps("a", a={"set": "$input.n"}))
    for n in range(3):
        await flows.until(await flows.start(workflow, input={"n": n}), RunStatus.DONE)
    recorded = [(1, {"n": n}, {"a": n}, ["a"], "done") for n in (2, 1)]
    async with flows.lane.app.db.transaction() as tx:
        await tx.execute("UPDATE workflow_runs SET finished_at = now() - interval '100 days'")
        assert await workflow_nodes.prune(tx, 90) == 0
        for forgotten in (None, 1):
            if forgotten:
                assert await workflow_nodes.prune(tx, 90, newest=2) >= forgotten
            found = await Remembering(flows.lane.app.artifacts).recorded(tx, workflow.id, 2)
            told = [(one.version, one.input, one.outputs, one.ended_at_nodes, one.status) for one in found]
            assert told == recorded


async def test_old_plans_are_forgotten(flows: Workflows) -> None:
    made = plans.KnownPlan({"steps": []}, "planner")
    async with flows.lane.app.db.transaction() as tx:
        await plans.keep(tx, "old", made, world="owner", words="x", of={})
        await tx.execute("UPDATE plans SET created_at = now() - interval '100 days'")
        await plans.keep(tx, "young", made, world="owner", words="x", of={})
        assert await plans.prune(tx, 90) == 1
        assert await plans.known(tx, "old") is None
        assert await plans.known(tx, "young") == made
