"""A loop may stand before or behind what it repeats, or in another one; all run as they are drawn."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.domain.workflow_run import RunStatus
from laneway.lanes.workflow.checks import check
from tests.lanes.workflow.documents import edge, line, node, of
from tests.lanes.workflow.running_workflows import Workflows

COUNT = "has(ctx.work) ? ctx.work + 1 : 1"
UNTIL_THREE = "!has(ctx.work) || ctx.work < 3"


def _nodes(most: int) -> list[dict[str, Any]]:
    return [
        node("begin", "transform", set=0),
        node("work", "transform", expression=COUNT),
        node("again", "loop", loop_back_to="work", max_iterations=most, condition=UNTIL_THREE),
        node("end", "transform", set="$nodes.work"),
    ]


async def test_a_loop_in_a_loop_goes_round_anew_in_each_round_of_the_outer_one(flows: Workflows) -> None:
    made = of(
        [
            node("out", "transform", set=1),
            node("in", "transform", set=2),
            node("inner", "loop", loop_back_to="in", max_iterations=1),
            node("between", "transform", set=3),
            node("outer", "loop", loop_back_to="out", max_iterations=2),
            node("end", "transform", set=["$nodes.outer.iterations", "$nodes.inner.iterations"]),
        ],
        line("out", "in", "inner", "between", "outer", "end"),
    )
    assert check(made) == []
    run = await flows.run(made)
    assert (run.status, run.output) == (RunStatus.DONE, [2, 1]), run.error
    one_round = ["out", "in", "inner", "in", "inner", "between", "outer"]
    assert await flows.visits(run) == [*one_round, *one_round, *one_round, "end"]


async def test_a_loop_before_its_body_is_asked_first_in_each_round_of_a_loop_around_it(flows: Workflows) -> None:
    made = of(
        [
            node("out", "transform", set=1),
            node("ask", "loop", loop_back_to="work", max_iterations=2),
            node("work", "transform", set=2),
            node("outer", "loop", loop_back_to="out", max_iterations=1),
            node("end", "transform", set="$nodes.ask.iterations"),
        ],
        [*line("out", "ask", "work", "ask"), edge("ask", "outer"), edge("outer", "end")],
    )
    assert check(made) == []
    run = await flows.run(made)
    assert (run.status, run.output) == (RunStatus.DONE, 2), run.error
    one_round = ["out", "ask", "work", "ask", "work", "ask", "outer"]
    assert await flows.visits(run) == [*one_round, *one_round, "end"]


@pytest.mark.parametrize(
    ("pinned", "rounds"), [(5, 1), (None, 1), ([1], 1), ({}, 1), ({"again": False}, 1), ({"again": True}, 4)]
)
async def test_a_loop_with_a_pinned_output_ends_whatever_that_is(flows: Workflows, pinned: Any, rounds: int) -> None:
    made = of(_nodes(3), line("begin", "work", "again", "end"))
    run = await flows.run(made, test=True, pinned={"again": pinned}, cause={"type": "test"})
    assert (run.status, run.ended_at) == (RunStatus.DONE, ["end"]), run.error
    assert (await flows.visits(run)).count("work") == rounds


async def test_a_loop_before_its_body_is_asked_before_each_round(flows: Workflows) -> None:
    made = of(_nodes(9), [*line("begin", "again", "work", "again"), edge("again", "end")])
    assert check(made) == []
    run = await flows.run(made, input={})
    assert (run.status, run.output) == (RunStatus.DONE, 3)
    assert await flows.visits(run) == ["begin", "again", "work", "again", "work", "again", "work", "again", "end"]


async def test_a_loop_behind_its_body_is_asked_after_each_round(flows: Workflows) -> None:
    made = of(_nodes(9), line("begin", "work", "again", "end"))
    run = await flows.run(made, input={})
    assert (run.status, run.output) == (RunStatus.DONE, 3)
    assert await flows.visits(run) == ["begin", "work", "again", "work", "again", "work", "again", "end"]


async def test_a_loop_before_its_body_ends_at_its_limit(flows: Workflows) -> None:
    made = of(_nodes(2), [*line("begin", "again", "work", "again"), edge("again", "end")])
    run = await flows.run(made, input={})
    assert (run.status, run.output) == (RunStatus.DONE, 2)
