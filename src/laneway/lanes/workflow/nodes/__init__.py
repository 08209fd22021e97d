"""The types of nodes, one file each; a new one is a file and a line here (docs/adding-a-node.md)."""

from laneway.lanes.workflow.hands import Kind
from laneway.lanes.workflow.nodes import (
    agent,
    aggregate,
    conditional,
    filter,
    function,
    hitl,
    http,
    loop,
    notify,
    parallel,
    pipeline,
    subworkflow,
    transform,
    wait,
)

KINDS: dict[str, Kind] = {
    module.KIND.name: module.KIND
    for module in (
        agent,
        aggregate,
        conditional,
        filter,
        function,
        hitl,
        http,
        loop,
        notify,
        parallel,
        pipeline,
        subworkflow,
        transform,
        wait,
    )
}

__all__ = ["KINDS"]
