"""loop-config: a loop goes back to a node that comes before it, a limited number of times, and its ways on exist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.workflow.document import Document, whole_number
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.graph import Graph
from laneway.lanes.workflow.quoting import shown

MOST_ITERATIONS = 10_000


def loops(document: Document) -> Iterator[Finding]:
    graph = Graph(document)
    for index, node in enumerate(document["nodes"]):
        if node["type"] == "loop":
            yield from _loop(graph, node["id"], node.get("config", {}), f"/nodes/{index}/config")


def _loop(graph: Graph, name: str, config: dict[str, Any], path: str) -> Iterator[Finding]:
    def finding(key: str, what: str, repair: str) -> Finding:
        return Finding("loop-config", f"The loop {name!r} {what}.", repair, name, f"{path}/{key}")

    back = config.get("loop_back_to")
    if back is not None and not isinstance(back, str):
        what = f"has {shown(back)} as its loop_back_to, which is no text"
        yield finding("loop_back_to", what, "Make it a text: the id of a node that comes before.")
    elif not back:
        yield finding("loop_back_to", "does not say where it goes back to", "Add 'loop_back_to', the id of a node.")
    elif back not in graph.nodes:
        yield finding("loop_back_to", f"goes back to {back!r}, which does not exist", "Name a node that comes before.")
    elif back == name:
        yield finding("loop_back_to", "goes back to itself", "Name the first node of what is repeated.")
    elif name not in graph.after(back):
        what = f"goes back to {back!r}, which does not come before it"
        yield finding("loop_back_to", what, f"Name a node from which edges lead to {name!r}.")
    most = config.get("max_iterations")
    if not 1 <= (whole_number(most) or 0) <= MOST_ITERATIONS:
        what = "has no limit" if most is None else f"has the limit {shown(most)}"
        yield finding("max_iterations", what, f"Set 'max_iterations' to a whole number from 1 to {MOST_ITERATIONS}.")
    if "condition" in config and not isinstance(config["condition"], str):
        yield finding("condition", "has a condition that is no text", "Write it as CEL, such as $.left > 0.")
    for key in ("break_path", "timeout_path"):
        for what, repair in _wrong_ways(graph, config.get(key), back):
            yield finding(key, f"has a {key} {what}", f"{repair}, or leave it out.")


def _wrong_ways(graph: Graph, ways: Any, back: Any) -> Iterator[tuple[str, str]]:
    if ways is None:
        return
    names = [ways] if isinstance(ways, str) else ways
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        yield "that is no node id and no list of them", "Name existing nodes"
        return
    for name in names:
        if name not in graph.nodes:
            yield f"to {name!r}, which does not exist", "Name existing nodes"
        elif name == back:
            yield f"to {name!r}, which it goes back to: it would never be left", "Name nodes that come after it"
