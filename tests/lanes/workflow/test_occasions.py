"""The same occasion starts one run, whatever has changed until it comes again."""

from __future__ import annotations

from laneway.domain.workflow_run import RunStatus
from tests.lanes.workflow.running_workflows import Workflows, document, node


async def test_an_occasion_that_comes_again_is_recognised_though_the_owner_reads_elsewhere_by_now(
    flows: Workflows,
) -> None:
    workflow = await flows.store("flow", document([node("a", "transform", {"set": 1})]))
    await flows.lane.send("/help", "desk")
    first = await flows.until(await flows.start(workflow, key="delivery-1"), RunStatus.DONE)
    await flows.lane.send("/help", "terminal", channel="console")
    assert await flows.start(workflow, key="delivery-1") == first.id
    assert await flows.start(workflow, key="delivery-2") != first.id
    assert len(await flows.runs_of(workflow)) == 2
