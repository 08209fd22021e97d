"""A workflow that cannot run is not started: every node that lacks something is named, with the repair."""

from __future__ import annotations

import pytest

from laneway.domain.workflow_run import RunStatus
from laneway.lanes.workflow.refusing import Rejected
from tests.lanes.workflow.running_workflows import Workflows, document, node

HALF = document(
    [node("mail", "notify", {"message": "It begins."}), node("fetch", "http"),
     node("sum", "transform", {"expression": "output +"})],
    ["mail fetch", "fetch sum"],
)  # fmt: skip


async def test_a_start_is_refused_with_node_path_and_repair_and_nothing_of_it_happens(flows: Workflows) -> None:
    workflow = await flows.store("half", HALF)
    with pytest.raises(Rejected) as refused:
        await flows.start(workflow)
    first, second = refused.value.findings
    assert (first["node"], first["path"], first["repair"]) == ("fetch", "/nodes/1/config", "Add 'url'.")
    assert (second["node"], second["path"]) == ("sum", "/nodes/2/config/expression")
    assert second["repair"]
    assert await flows.runs_of(workflow) == []


async def test_a_method_that_is_never_sent_refuses_the_start_and_not_the_middle_of_a_run(flows: Workflows) -> None:
    asks = node("ask", "http", {"url": "https://example.org/", "method": "OPTIONS"})
    workflow = await flows.store(
        "asks", document([node("mail", "notify", {"message": "It begins."}), asks], ["mail ask"])
    )
    with pytest.raises(Rejected) as refused:
        await flows.start(workflow)
    assert refused.value.findings[0]["path"] == "/nodes/1/config/method"


async def test_nodes_with_pinned_outputs_need_nothing(flows: Workflows) -> None:
    workflow = await flows.store("half", HALF)
    pinned = {"fetch": {"price": 1}, "sum": 2}
    run = await flows.until(await flows.start(workflow, test=True, pinned=pinned))
    assert (run.status, run.ended_at) == (RunStatus.DONE, ["sum"])


async def test_a_phrase_for_a_workflow_that_cannot_run_is_answered_with_what_is_missing_before_any_node(
    flows: Workflows,
) -> None:
    workflow = await flows.store("half", {**HALF, "triggers": [{"type": "chat", "phrase": "do half of it"}]})
    await flows.until_watched(workflow)
    told = await flows.lane.ask("do half of it")
    assert "The node 'fetch' (http) cannot run yet: its config has no 'url'" in told
    [run] = await flows.runs_of(workflow)
    assert run.status is RunStatus.FAILED
    assert await flows.visits(run) == []


async def test_a_sub_workflow_that_cannot_run_fails_its_node_with_what_is_missing(flows: Workflows) -> None:
    await flows.store("half", HALF)
    run = await flows.run(document([node("call", "subworkflow", {"workflow": "half"})]), "outer")
    assert run.error is not None
    assert "Add 'url'" in run.error["message"]
