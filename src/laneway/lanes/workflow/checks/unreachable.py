"""unreachable: a way leads from an entry to every node, by edges that can be taken."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.workflow.conditions import compiled
from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.graph import Edge, Graph
from laneway.lanes.workflow.leaving import step_back, ways_out


def unreachable(document: Document) -> Iterator[Finding]:
    graph = Graph(document)
    reached, waiting = set[str](), list(graph.entries)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(edge.target for edge in takeable(graph, name))
    # Where loops go into one another, a node may be left that only steps back lead to: no run comes to it.
    visited = reached & set(graph.order)
    for index, node in enumerate(document["nodes"]):
        if node["id"] not in visited:
            yield Finding(
                "unreachable",
                f"The node {node['id']!r} can never run: no way that can be taken leads to it.",
                _repair(graph, node["id"]),
                node["id"],
                f"/nodes/{index}",
            )


def _repair(graph: Graph, name: str) -> str:
    for edge in graph.into(name):
        loop = graph.loop(edge.source)
        if loop is not None and loop.on_break and not edge.on_error:
            return f"Name it in the break_path of {edge.source!r}, which is taken instead of its edges, or remove it."
    return "Add an edge to it from a node that runs, mend the condition of its edge, or remove it."


def takeable(graph: Graph, name: str) -> Iterator[Edge]:
    """The edges from a node that can be taken: none whose rule never holds, none of a loop beside its `break_path`.

    What stands behind a rule that always holds counts: whoever writes `true` there wants that way for now, and is told.
    """
    yield from graph.error_edges(name)
    yield from (edge for edge in graph.out(name) if step_back(graph, edge))
    loop = graph.loop(name) is not None
    ways = [branch for limit in (False, True) for branch in ways_out(graph, name, at_limit=limit)]
    for branch in ways if loop else graph.branches(name):
        if settled(branch.condition) is not False:
            yield from branch.edges


def settled(condition: str | None) -> bool | None:
    """What a condition gives whatever happens; None when that depends on what happens."""
    found = compiled(condition) if condition is not None else None
    if found is None or found.expression.reads:
        return None
    value = found.value(None)
    return value if isinstance(value, bool) else None
