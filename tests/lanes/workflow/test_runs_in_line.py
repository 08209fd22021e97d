"""Runs that look at the run before, and branches of a parallel node, go no more at a time than they may."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from laneway.domain.workflow_run import RunStatus, WorkflowRun
from laneway.store import events
from tests.lanes.workflow.documents import steps
from tests.lanes.workflow.running_workflows import Slow, Workflows, document, eventually, node
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


async def test_events_within_the_time_of_one_run_tell_each_drop_once(flows: Workflows, pages: Pages) -> None:
    prices, slow = (120, 95, 94, 130, 99), Slow()
    pages.pages |= {"/slow": slow, **{f"/told/{price}": JSONResponse({}) for price in prices}}
    workflow = await flows.store("watch", watch(pages.url))
    await flows.until_watched(workflow)
    for price in prices:
        async with flows.lane.app.db.transaction() as tx:
            await events.append(tx, "price.changed", {"price": price})
        if price in (120, 94):
            await flows.until_heard()
    await flows.until_heard()
    slow.free = True

    async def ended() -> list[WorkflowRun]:
        found = await flows.runs_of(workflow)
        return found[::-1] if all(run.finished_at for run in found) else []

    runs = await eventually(ended)
    assert [run.status for run in runs] == [RunStatus.DONE] * len(prices), [run.error for run in runs]
    assert [visit.path for visit in pages.visits if "told" in visit.path] == ["/told/95", "/told/99"]
    assert [run.previous_id for run in runs] == [None, *(run.id for run in runs[:-1])]


async def test_a_run_in_line_holds_no_worker_and_goes_on_when_the_one_before_is_cancelled(flows: Workflows) -> None:
    asking = steps("ask:hitl say", "ask say", ask={"message": "Go on?"}, say={"set": "$previous.say"})
    workflow = await flows.store("asking", asking)
    first = await flows.until(await flows.start(workflow))
    second, third = await flows.start(workflow), await flows.start(workflow)
    waiting = await flows.until(second, RunStatus.WAITING)
    assert waiting.waits_for == first.id
    assert (await flows.until(third, RunStatus.WAITING)).waits_for == second
    assert await flows.visits(waiting) == []
    await flows.cancel(first.id)
    await eventually(lambda: flows.visits(waiting))
    assert (await flows.get(second)).waits_for is None
    assert await flows.visits(await flows.get(third)) == []


async def test_a_large_answer_of_the_run_before_is_compared_with_too(flows: Workflows) -> None:
    made = steps(
        "check tell", f"check tell if {DROPS}", check={"set": {"price": "$input.price", "rest": "$input.rest"}}
    )
    workflow = await flows.store("watch", made)
    for price in (120, 95, 94, 130, 99):
        given = {"price": price, "rest": ["x" * 1000] * 100}
        await flows.until(await flows.start(workflow, input=given), RunStatus.DONE)
    runs = (await flows.runs_of(workflow))[::-1]
    assert [run.ended_at for run in runs] == [["check"], ["tell"], ["check"], ["check"], ["tell"]]


async def test_a_failed_run_is_not_compared_with(flows: Workflows) -> None:
    said = {"set": {"now": "$input.n", "before": "$previous.say.now"}}
    workflow = await flows.store(
        "odd", steps("say odd", "say odd", say=said, odd={"expression": "1 / int(output.now)"})
    )
    for number in (1, 0, 2):
        last = await flows.until(await flows.start(workflow, input={"n": number}), RunStatus.DONE, RunStatus.FAILED)
    assert (await flows.nodes(last))["say"].output == {"now": 2, "before": 1}


class Counting:
    """A page that knows how many ask for it at once."""

    def __init__(self) -> None:
        self.now, self.most, self.order = 0, 0, list[str]()

    async def __call__(self, request: Request) -> Response:
        self.now += 1
        self.most = max(self.most, self.now)
        self.order.append(request.query_params["of"])
        await asyncio.sleep(0.05)
        self.now -= 1
        return JSONResponse({})


def fanned(url: str, **config: Any) -> dict[str, Any]:
    """Four branches of two nodes each, and their join."""
    nodes, edges = [node("start", "parallel", config)], list[str]()
    for name in "abcd":
        nodes += [node(f"{name}{step}", "http", {"url": f"{url}/page?of={name}{step}"}) for step in (1, 2)]
        edges += [f"start {name}1", f"{name}1 {name}2", f"{name}2 end"]
    return document([*nodes, node("end", "transform", {"set": "all"})], edges)


async def test_no_more_branches_than_that_are_under_way_and_all_are_done(flows: Workflows, pages: Pages) -> None:
    for most, config in ((1, {"max_concurrency": 1}), (2, {"max_concurrency": 2}), (4, {})):
        counting = Counting()
        pages.pages["/page"] = counting
        run = await flows.run(fanned(pages.url, **config), f"flow{most}")
        assert (run.status, run.output) == (RunStatus.DONE, "all")
        assert sorted(counting.order) == [f"{name}{step}" for name in "abcd" for step in (1, 2)]
        assert counting.most <= most
        if most == 1:
            assert counting.order == sorted(counting.order), "one branch after the other"


async def test_a_branch_that_waits_keeps_its_seat_and_the_next_begins_after_the_answer(flows: Workflows) -> None:
    made = steps(
        "start:parallel ask:hitl then other", "start ask then", "start other", start={"max_concurrency": 1},
        ask={"message": "Go on?"},
    )  # fmt: skip
    run = await flows.run(made)
    assert run.status is RunStatus.WAITING
    assert await flows.visits(run) == ["start", "ask"]
    await flows.answer(run, "approved")
    run = await flows.until(run.id, RunStatus.DONE)
    assert await flows.visits(run) == ["start", "ask", "then", "other"]


async def test_a_branch_that_failed_or_was_skipped_gives_its_seat_to_the_next(flows: Workflows, pages: Pages) -> None:
    pages.pages["/no"] = PlainTextResponse("no", 404)
    made = steps(
        "start:parallel bad:http caught pick:conditional never other", "start bad", "bad caught on error", "start pick",
        "pick never if output.price < 0", "start other", start={"max_concurrency": 1}, bad={"url": f"{pages.url}/no"},
    )  # fmt: skip
    run = await flows.run(made, input={"price": 1})
    assert (run.status, await flows.visits(run)) == (RunStatus.DONE, ["start", "bad", "caught", "pick", "other"])
