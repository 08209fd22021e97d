"""Runs that look at the run before go one after the other, so that each drop of a price is told once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.responses import JSONResponse

from laneway.domain.workflow_run import RunStatus, WorkflowRun
from laneway.lanes.workflow.looking_back import looks_back
from laneway.store import events, workflow_runs
from tests.lanes.workflow.running_workflows import Workflows, document, node
from tests.servers.pages import Pages

DROPS = "output.price < 100 && !(has(ctx.previous.check) && ctx.previous.check.price < 100)"


def watch(url: str, **more: Any) -> dict[str, Any]:
    """A workflow that takes its time over every event, and calls the address for each drop below 100."""
    return document(
        [node("check", "transform", {"set": "$input.event"}), node("slow", "http", {"url": f"{url}/slow"}),
         node("tell", "http", {"url": f"{url}/told/${{$nodes.check.price}}"})],
        [{"from": "check", "to": "tell", "condition": DROPS}, "check slow"],
        triggers=[{"type": "event", "event": "price.changed"}], **more,
    )  # fmt: skip


async def slowly(request: object) -> JSONResponse:
    await asyncio.sleep(0.5)
    return JSONResponse({})


async def ended(flows: Workflows, tag_runs: Any, count: int) -> list[WorkflowRun]:
    async with asyncio.timeout(40):
        while True:
            found = await flows.runs_of(tag_runs)
            if len(found) >= count and all(run.finished_at for run in found):
                return found[::-1]
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("gap", [0.0, 0.2])
async def test_events_within_the_time_of_one_run_tell_each_drop_once(flows: Workflows, gap: float) -> None:
    prices = (120, 95, 94, 130, 99)
    told = {f"/told/{price}": JSONResponse({}) for price in prices}
    with Pages(pages={"/slow": slowly, **told}) as server:
        workflow = await flows.store("watch", watch(server.url))
        for price in prices:
            async with flows.lane.app.db.transaction() as tx:
                await events.append(tx, "price.changed", {"price": price})
            await asyncio.sleep(gap)
        runs = await ended(flows, workflow, len(prices))
        called = [visit.path for visit in server.visits if visit.path.startswith("/told")]
    assert {run.status for run in runs} == {RunStatus.DONE}, [run.error for run in runs]
    assert called == ["/told/95", "/told/99"]
    assert [run.previous_id for run in runs] == [None, *(run.id for run in runs[:-1])]


async def test_a_run_in_line_holds_no_worker_and_goes_on_when_the_one_before_is_cancelled(flows: Workflows) -> None:
    asking = document(
        [node("ask", "hitl", {"message": "Go on?"}), node("say", "transform", {"set": "$previous.say"})], ["ask say"]
    )
    workflow = await flows.store("asking", asking)
    first = await flows.until(await flows.start(workflow))
    second, third = await flows.start(workflow), await flows.start(workflow)
    waiting = await flows.until(second, RunStatus.WAITING)
    assert waiting.waits_for == first.id
    assert (await flows.until(third, RunStatus.WAITING)).waits_for == second
    assert await flows.visits(waiting) == []
    async with flows.lane.app.db.transaction() as tx:
        await workflow_runs.cancel(tx, first.id)
    async with asyncio.timeout(20):
        while not await flows.visits(await flows.get(second)):
            await asyncio.sleep(0.05)
    assert (await flows.get(second)).waits_for is None
    assert await flows.visits(await flows.get(third)) == []


async def test_a_large_answer_of_the_run_before_is_compared_with_too(flows: Workflows) -> None:
    prices = [120, 95, 94, 130, 99]

    async def answer(request: object) -> JSONResponse:
        return JSONResponse({"price": prices[len(asked)], "rest": ["x" * 1000] * 100})

    drops = DROPS.replace("check.price", "fetch.body.price").replace("previous.check", "previous.fetch")
    asked: list[int] = []
    with Pages(pages={"/price": answer}) as server:
        made = document(
            [node("fetch", "http", {"url": f"{server.url}/price"}), node("tell", "transform", {"set": "told"})],
            [{"from": "fetch", "to": "tell", "condition": drops.replace("output.price", "output.body.price")}],
        )
        workflow = await flows.store("watch", made)
        for price in prices:
            await flows.until(await flows.start(workflow), RunStatus.DONE)
            asked.append(price)
    runs = (await flows.runs_of(workflow))[::-1]
    assert [run.ended_at for run in runs] == [["fetch"], ["tell"], ["fetch"], ["fetch"], ["tell"]]
    operations = [{"op": "replace", "path": "/edges/0/condition", "value": "output.body.price < 95"}]
    proposal = flows.lane.app.workflows.patches.propose(workflow, "watch", operations, "Lower.")
    async with flows.lane.app.db.transaction() as tx:
        preview = await flows.lane.app.workflows.previews.of(tx, proposal)
    assert {one.run for one in preview.different} == {str(runs[number].id) for number in (1, 2, 4)}


async def test_an_answer_may_call_anything_bytes(flows: Workflows) -> None:
    gave = {"bytes": "1.5 MB", "price": "$input.price"}
    made = document(
        [node("check", "transform", {"set": gave}), node("tell", "transform", {"set": "told"})],
        [{"from": "check", "to": "tell", "condition": "output.price < 100"}],
    )
    workflow = await flows.store("watch", made)
    for price in (50, 150):
        await flows.until(await flows.start(workflow, input={"price": price}), RunStatus.DONE)
    operations = [{"op": "replace", "path": "/edges/0/condition", "value": "output.price < 10"}]
    proposal = flows.lane.app.workflows.patches.propose(workflow, "watch", operations, "Lower.")
    async with flows.lane.app.db.transaction() as tx:
        preview = await flows.lane.app.workflows.previews.of(tx, proposal)
    assert len(preview.different) == 1


async def test_a_failed_run_is_not_compared_with(flows: Workflows) -> None:
    said = {"set": {"now": "$input.n", "before": "$previous.say.now"}}
    made = document(
        [node("say", "transform", said), node("odd", "transform", {"expression": "1 / int(output.now)"})], ["say odd"]
    )
    workflow = await flows.store("odd", made)
    for number in (1, 0, 2):
        last = await flows.until(await flows.start(workflow, input={"n": number}), RunStatus.DONE, RunStatus.FAILED)
    assert (await flows.nodes(last))["say"].output == {"now": 2, "before": 1}


async def test_a_workflow_that_calls_itself_does_not_wait_for_itself(flows: Workflows) -> None:
    made = document(
        [node("look", "conditional", {"input": "$input"}),
         node("again", "subworkflow", {"workflow": "deep", "input": {}}),
         node("end", "transform", {"set": "$previous.end"})],
        [{"from": "look", "to": "again", "condition": "has($.more)"}, {"from": "look", "to": "end"}],
    )  # fmt: skip
    run = await flows.run(made, "deep", input={"more": True})
    assert (await flows.until(run.id, RunStatus.DONE, RunStatus.FAILED)).status is RunStatus.DONE


@pytest.mark.parametrize(
    ("nodes", "edges", "back"),
    [
        ([node("a", "transform", {"set": "$previous.a"})], [], True),
        ([node("a", "notify", {"message": "It was ${$previous.a.price}."})], [], True),
        ([node("a", "transform", {"expression": "ctx.previous.a.price + 1"})], [], True),
        ([node("a", "transform", {"expression": "size(ctx) > 1"})], [], True),
        ([node("a", "wait")], [{"from": "a", "to": "a", "condition": "ctx['previous'].a.x > 1"}], True),
        ([node("a", "wait")], [{"from": "a", "to": "a", "condition": "ctx.b.previous.x > 1"}], False),
        ([node("a", "transform", {"set": "$input.previous", "expression": "'ctx.previous'"})], [], False),
    ],
)
def test_what_looks_back(nodes: list[dict[str, Any]], edges: list[dict[str, Any]], back: bool) -> None:
    assert looks_back({"nodes": nodes, "edges": edges}) is back
