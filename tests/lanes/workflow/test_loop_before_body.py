"""A loop may stand before or behind what it repeats; both run as they are drawn."""

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
