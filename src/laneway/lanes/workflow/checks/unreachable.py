"""unreachable: a way leads from an entry to every node, by edges that can be taken."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.workflow.conditions import compiled
from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.graph import Edge, Graph


def unreachable(document: Document) -> Iterator[Finding]:
    graph = Graph(document)
    reached, waiting = set[str](), list(graph.entries)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(edge.target for edge in _takeable(graph, name))
    for index, node in enumerate(document["nodes"]):
        if node["id"] not in reached:
            yield Finding(
                "unreachable",
                f"The node {node['id']!r} can never run: no way that can be taken leads to it.",
                "Add an edge to it from a node that runs, mend the condition of its edge, or remove it.",
                node["id"],
                f"/nodes/{index}",
            )


def _takeable(graph: Graph, name: str) -> Iterator[Edge]:
    """The edges from a node that can be taken: none after a rule that is always true, none whose rule never is."""
    yield from graph.error_edges(name)
    yield from (edge for edge in graph.out(name) if edge.index < 0)
    for branch in graph.branches(name):
        settled = _settled(branch.condition)
        if settled is not False:
            yield from branch.edges
        if settled is True and graph.exclusive(name):
            return


def _settled(condition: str | None) -> bool | None:
    """What a condition gives whatever happens; None when that depends on what happens."""
    found = compiled(condition) if condition is not None else None
    if found is None or found.expression.reads:
        return None
    value = found.value(None)
    return value if isinstance(value, bool) else None
