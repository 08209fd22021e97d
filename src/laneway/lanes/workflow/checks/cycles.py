"""cycle: edges lead forward; only a loop node goes back, to the node its config names."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.graph import Edge, Graph
from laneway.lanes.workflow.leaving import step_back

OR_LOOP = "or go back by a loop node (loop_back_to, max_iterations)"


def cycles(document: Document) -> Iterator[Finding]:
    graph = Graph(document)
    # Without what closes its circle no loop goes round; nor does it without its own step, wherever that stands.
    circle = _circle(graph, lambda edge: _closes(graph, edge)) or _circle(graph, lambda edge: step_back(graph, edge))
    if circle:
        way = " → ".join([circle[0].source, *(edge.target for edge in circle)])
        # A loop's failure that leads into its own body is no part of the loop, wherever the circle was begun.
        failure = next((edge for edge in circle if edge.on_error and graph.loop(edge.source)), None)
        path, repair = _mended(graph, failure or circle[-1])
        message = f"The edges {way} go round in a circle."
        yield Finding("cycle", message, f"{repair}, {OR_LOOP}.", circle[0].source, path)


def _closes(graph: Graph, edge: Edge) -> bool:
    """Whether an edge closes the circle of a loop: by its step back, or by its body's return to it."""
    if (edge.source, edge.target) not in graph.back:
        return False
    if step_back(graph, edge):
        return True
    end = graph.loop(edge.target)
    if edge.source == edge.target or end is None or end.back_to not in graph.nodes:
        return False
    return edge.source in graph.reached([str(end.back_to)])


def _circle(graph: Graph, left_out: Callable[[Edge], bool]) -> list[Edge]:
    """The edges of one circle, the one that closes it last; none if there is no circle."""
    following = {name: [edge for edge in graph.out(name) if not left_out(edge)] for name in graph.nodes}
    marks = dict.fromkeys(following, 0)
    # From where a run begins: the last edge is then the one that leads back.
    for begin in dict.fromkeys([*graph.entries, *graph.nodes]):
        way, stack = list[Edge](), [(begin, iter(following[begin]))] if not marks[begin] else []
        marks[begin] = marks[begin] or 1
        while stack:
            name, rest = stack[-1]
            edge = next(rest, None)
            if edge is None:
                marks[name] = 2
                stack.pop()
                del way[len(stack) - 1 :]
            elif marks[edge.target] == 1:
                names = [each for each, _ in stack]
                return [*way[names.index(edge.target) :], edge]
            elif not marks[edge.target]:
                marks[edge.target] = 1
                way.append(edge)
                stack.append((edge.target, iter(following[edge.target])))
    return []


def _mended(graph: Graph, edge: Edge) -> tuple[str, str]:
    """Where the edge stands, and how it goes; a loop's way that is not drawn stands in its config."""
    if edge.index >= 0:
        return f"/edges/{edge.index}", f"Remove the edge {edge.source} → {edge.target}"
    loop, index = graph.loop(edge.source), list(graph.nodes).index(edge.source)
    key = "break_path" if loop is not None and edge.target in loop.on_break else "timeout_path"
    return f"/nodes/{index}/config/{key}", f"Take {edge.target!r} out of the {key} of {edge.source!r}"
