"""Runs: the way through the graph, and what is on record of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from laneway.domain.workflow_run import NodeStatus, RunStatus
from tests.lanes.workflow.running_workflows import Workflows, document, node, workflowing


@pytest.fixture
async def flows(database_url: str, tmp_path: Path) -> AsyncIterator[Workflows]:
    async with workflowing(database_url, tmp_path) as opened:
        yield opened


async def test_a_run_walks_its_nodes_in_order_and_hands_values_on(flows: Workflows) -> None:
    made = document(
        [
            node("first", "transform", {"set": {"price": "$input.price", "text": "now ${$input.price}"}}),
            node("second", "transform", {"expression": "output.price * 2"}),
        ],
        ["first second"],
    )
    run = await flows.run(made, input={"price": 21})
    assert (run.status, run.output, run.ended_at) == (RunStatus.DONE, 42, ["second"])
    nodes = await flows.nodes(run)
    assert nodes["first"].output == {"price": 21, "text": "now 21"}
    assert nodes["first"].input == {"set": {"price": 21, "text": "now 21"}}
    kinds = [event.kind for event in await flows.events(run) if event.kind.startswith("workflow.")]
    assert kinds == [
        "workflow.run.started", "workflow.node.started", "workflow.node.done", "workflow.node.started",
        "workflow.node.done", "workflow.run.done",
    ]  # fmt: skip
    assert nodes["second"].status is NodeStatus.DONE
