"""`max_concurrency` of a parallel node: no more branches than that are under way, and all of them are done."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from laneway.domain.workflow_run import RunStatus
from laneway.lanes.workflow.graph import Graph
from laneway.lanes.workflow.seats import Seats
from laneway.lanes.workflow.walking import Standing
from tests.lanes.workflow.running_workflows import Workflows, document, node
from tests.servers.pages import Pages


class Counting:
    """A page that knows how many ask for it at once."""

    def __init__(self) -> None:
        self.now, self.most, self.order = 0, 0, list[str]()

    async def __call__(self, request: Request) -> Response:
        self.now += 1
        self.most = max(self.most, self.now)
        self.order.append(request.query_params["of"])
        await asyncio.sleep(0.1)
        self.now -= 1
        return JSONResponse({})


def fanned(url: str, **config: Any) -> dict[str, Any]:
    """Four branches of two nodes each, and their join."""
    nodes, edges = [node("start", "parallel", config)], list[str]()
    for name in "abcd":
        nodes += [node(f"{name}{step}", "http", {"url": f"{url}/page?of={name}{step}"}) for step in (1, 2)]
        edges += [f"start {name}1", f"{name}1 {name}2", f"{name}2 end"]
    return document([*nodes, node("end", "transform", {"set": "all"})], edges)


@pytest.mark.parametrize(("config", "most"), [({"max_concurrency": 1}, 1), ({"max_concurrency": 2}, 2), ({}, 4)])
async def test_no_more_branches_than_that_are_under_way_and_all_are_done(
    flows: Workflows, pages: Pages, config: dict[str, int], most: int
) -> None:
    counting = Counting()
    pages.pages["/page"] = counting
    run = await flows.run(fanned(pages.url, **config))
    assert (run.status, run.output) == (RunStatus.DONE, "all")
    assert sorted(counting.order) == [f"{name}{step}" for name in "abcd" for step in (1, 2)]
    assert counting.most <= most
    if most == 1:
        assert counting.order == ["a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2"], "one branch after the other"


async def test_a_branch_that_waits_keeps_its_seat_and_the_next_begins_after_the_answer(flows: Workflows) -> None:
    made = document(
        [node("start", "parallel", {"max_concurrency": 1}), node("ask", "hitl", {"message": "Go on?"}),
         node("then", "transform", {"set": 1}), node("other", "transform", {"set": 2})],
        ["start ask", "ask then", "start other"],
    )  # fmt: skip
    run = await flows.run(made)
    assert run.status is RunStatus.WAITING
    assert await flows.visits(run) == ["start", "ask"]
    await flows.answer(run, "approved")
    run = await flows.until(run.id, RunStatus.DONE)
    assert await flows.visits(run) == ["start", "ask", "then", "other"]


def test_a_branch_that_failed_or_was_skipped_gives_its_seat_to_the_next() -> None:
    made = document(
        [node("p", "parallel", {"max_concurrency": 1}), *(node(name, "transform") for name in ("a", "b", "c", "j"))],
        ["p a", "p b", "p c", "a j", "b j", "c j"],
    )
    seats = Seats(Graph(made))
    standings = dict.fromkeys("abc", Standing.READY) | {"p": Standing.ENDED, "j": Standing.BLOCKED}
    assert seats.free_for(["a", "b", "c"], standings, set()) == ["a"]
    assert seats.free_for(["b", "c"], standings, {"a"}) == []
    assert seats.free_for(["b", "c"], standings | {"a": Standing.ENDED}, set()) == ["b"]
    assert seats.free_for(["b", "c"], standings | {"a": Standing.SKIPPED}, set()) == ["b"]
    done = standings | dict.fromkeys("abc", Standing.ENDED) | {"j": Standing.READY}
    assert seats.free_for(["j"], done, set()) == ["j"], "the join belongs to no branch"
