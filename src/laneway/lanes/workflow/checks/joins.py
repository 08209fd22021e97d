"""join: a node that waits for every edge into it must be able to get them all.

A node with `join: all` behind the branches of a conditional or hitl node waits for ways of which only one is ever
taken. Without `join` a node waits only for what can still come, so the same picture works.
"""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.graph import Edge, Graph


def joins(document: Document) -> Iterator[Finding]:
    graph = Graph(document)
    waiting = {name: edges for name, edges in graph.joins.items() if graph.join(name) == "all"}
    splits = [Split(graph, name) for name in graph.nodes if len(ways(graph, name)) > 1] if waiting else []
    places = {node["id"]: index for index, node in enumerate(document["nodes"])}
    for name, edges in waiting.items():
        split = next((split for split in splits if split.parts(edges)), None)
        if split:
            yield Finding(
                "join",
                f"The node {name!r} waits for all edges into it, but {split.name!r} takes only one way.",
                "Set its join to 'any', or leave join out: it then waits for what can still come.",
                name,
                f"/nodes/{places[name]}/config/join",
            )


def ways(graph: Graph, name: str) -> list[tuple[Edge, ...]]:
    """Ways on from a node of which at most one is taken: its branches, and what is done about an error."""
    branches = [branch.edges for branch in graph.branches(name)]
    together = branches if graph.exclusive(name) else [tuple(edge for edges in branches for edge in edges)]
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
        pairs = enumerate(zip(self.ways, self._behind, strict=True))
        return {number for number, (way, behind) in pairs if edge in way or edge.source in behind}
