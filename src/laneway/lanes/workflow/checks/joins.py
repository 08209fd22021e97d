"""join: a node that waits for every edge into it must be able to get them all.

A node with `join: all` behind the branches of a conditional or hitl node, or behind both ways out of a loop, waits for
ways of which only one is ever taken; so does one with an edge into it that is never taken. Without `join` a node waits
only for what can still come, so the same picture works.
"""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.workflow.checks.unreachable import takeable
from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.graph import Edge, Graph
from laneway.lanes.workflow.leaving import ways_out

LEAVE_OUT = "leave join out: it then waits for what can still come"


def joins(document: Document) -> Iterator[Finding]:
    graph = Graph(document)
    waiting = {name: edges for name, edges in graph.joins.items() if graph.join(name) == "all"}
    splits = [Split(graph, name) for name in graph.nodes if len(ways(graph, name)) > 1] if waiting else []
    sources = {edge.source for edges in waiting.values() for edge in edges}
    takeables = {edge for name in sources for edge in takeable(graph, name)}
    places = {node["id"]: index for index, node in enumerate(document["nodes"])}
    for name, edges in waiting.items():
        wrong = _never_taken(takeables, edges) or _parted(splits, edges)
        if wrong:
            message, repair = f"The node {name!r} waits for all edges into it, but {wrong[0]}.", wrong[1]
            yield Finding("join", message, repair, name, f"/nodes/{places[name]}/config/join")


def _never_taken(takeables: set[Edge], edges: list[Edge]) -> tuple[str, str] | None:
    """What is wrong, and what to do, where one of the edges is waited for in vain."""
    edge = next((edge for edge in edges if edge not in takeables), None)
    if edge is None:
        return None
    what = f"the edge {edge.source} → {edge.target} is never taken"
    return what, f"Mend that edge or remove it, or {LEAVE_OUT}."


def _parted(splits: list[Split], edges: list[Edge]) -> tuple[str, str] | None:
    """The same where two of the edges exclude one another."""
    split = next((split for split in splits if split.parts(edges)), None)
    return (f"{split.name!r} takes only one way", f"Set its join to 'any', or {LEAVE_OUT}.") if split else None


def ways(graph: Graph, name: str) -> list[tuple[Edge, ...]]:
    """Ways on from a node of which at most one is taken: its branches, and what is done about an error."""
    branches = [branch.edges for branch in graph.branches(name)]
    together = branches if graph.exclusive(name) else [tuple(edge for edges in branches for edge in edges)]
    if (loop := graph.loop(name)) is not None:
        limits = (False, True) if loop.on_most else (False,)
        found = [ways_out(graph, name, at_limit=limit) for limit in limits]
        together = [tuple(edge for branch in branches for edge in branch.edges) for branches in found]
    return [edges for edges in [*together, tuple(graph.error_edges(name))] if edges]


class Split:
    """A node whose ways exclude one another, and what lies behind each of them."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.name, self.ways, self._graph = name, ways(graph, name), graph
        self._behind = [set().union(*(graph.onward.get(edge.target, ()) for edge in way)) for way in self.ways]

    def parts(self, edges: list[Edge]) -> bool:
        """Whether two of these edges can only come by ways that exclude one another."""
        needed = [through for edge in edges if (through := self._through(edge))]
        return any(not one & other for n, one in enumerate(needed) for other in needed[n + 1 :])

    def _through(self, edge: Edge) -> set[int]:
        """Which of the ways can lead to this edge; none when it can be reached without this node."""
        if not self._graph.dominates(self.name, edge.source):
            return set()
        if edge.source == self.name:
            # Going round it may come by all of its ways, but only what it did last counts.
            return {number for number, way in enumerate(self.ways) if edge in way}
        return {number for number, behind in enumerate(self._behind) if edge.source in behind}
