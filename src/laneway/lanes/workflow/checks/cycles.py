"""cycle: edges lead forward; only a loop node goes back, to the node its config names."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.graph import Graph


def cycles(document: Document) -> Iterator[Finding]:
    graph = Graph(document)
    following = {name: [edge.target for edge in graph.out(name)] for name in graph.nodes}
    for source, target in graph.back:
        if _looped(graph, source, target):
            following[source] = [name for name in following[source] if name != target]
    circle = _circle(following)
    if circle:
        way = " → ".join(circle)
        yield Finding(
            "cycle",
            f"The edges {way} go round in a circle.",
            f"Remove the edge {circle[-2]} → {circle[-1]}, or go back by a loop node (loop_back_to, max_iterations).",
            circle[0],
            _path(graph, circle[-2], circle[-1]),
        )


def _looped(graph: Graph, source: str, target: str) -> bool:
    """Whether an edge that closes a circle belongs to a loop: its step back, or its body's return to it."""
    loop, end = graph.loop(source), graph.loop(target)
    if loop is not None and loop.back_to == target:
        return True
    if source == target or end is None or end.back_to not in graph.nodes:
        return False
    return source in graph.reached([str(end.back_to)])


def _circle(following: dict[str, list[str]]) -> list[str]:
    """The nodes of one circle, the first of them again at its end; none if there is no circle."""
    marks = dict.fromkeys(following, 0)
    for begin in following:
        way, stack = list[str](), [(begin, iter(following[begin]))] if not marks[begin] else []
        while stack:
            name, rest = stack[-1]
            if not marks[name]:
                marks[name] = 1
                way.append(name)
            target = next(rest, None)
            if target is None:
                marks[name] = 2
                way.pop()
                stack.pop()
            elif marks[target] == 1:
                return [*way[way.index(target) :], target]
            elif not marks[target]:
                stack.append((target, iter(following[target])))
    return []


def _path(graph: Graph, source: str, target: str) -> str | None:
    found = [edge.index for edge in graph.edges if (edge.source, edge.target) == (source, target)]
    return f"/edges/{found[0]}" if found else None
