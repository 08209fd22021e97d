"""How a loop is left: by `break_path` when its condition is false, by `timeout_path` when its limit is reached.

A path that is left out gives way to the next: the limit's to `break_path`, and that to the loop's own edges.
"""

from __future__ import annotations

from laneway.lanes.workflow.graph import Branch, Edge, Graph


def ways_out(graph: Graph, name: str, *, at_limit: bool) -> list[Branch]:
    """The branches by which a loop is left, all of which are taken whose condition is true; no node but a loop has any.

    What stands at an edge to a node of a path is not asked: the path alone decides.
    """
    loop = graph.loop(name)
    if loop is None:
        return []
    path = (loop.on_most if at_limit else ()) or loop.on_break
    if path:
        return [Branch(None, tuple(edge for edge in graph.out(name) if edge.target in path and not edge.on_error))]
    elsewhere = {loop.back_to, *loop.on_most}
    found = [
        Branch(branch.condition, tuple(edge for edge in branch.edges if edge.target not in elsewhere))
        for branch in graph.branches(name)
    ]
    return [branch for branch in found if branch.edges]


def step_back(graph: Graph, edge: Edge) -> bool:
    """Whether an edge is a loop's own step to the node it goes back to, drawn or not."""
    loop = graph.loop(edge.source)
    return loop is not None and loop.back_to == edge.target and not edge.on_error
