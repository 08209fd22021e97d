"""What is worth saying about a workflow that may be stored: keys nobody reads, nodes that cannot run yet, and so on.

A preview shows these beside the change; only a run is refused for a node that is incomplete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from laneway.lanes.workflow.conditions import EDGE_NAMES, BadCondition, compiled, expression
from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.graph import Graph
from laneway.lanes.workflow.schema import config_keys, nearest

NEEDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "function": (("name",),),
    "http": (("url",),),
    "transform": (("set", "expression"),),
    "aggregate": (("values", "do"),),
    "filter": (("where", "condition"),),
    "agent": (("prompt", "task"),),
    "notify": (("message", "text", "body"),),
    "pipeline": (("plan", "prompt"),),
    "subworkflow": (("workflow",),),
    "wait": (("seconds", "duration_ms", "until", "event"),),
}
"""Per type what a node needs to run: one key out of each group."""
ROW_NAMES = ("item", *EDGE_NAMES)
"""What the condition of a filter node may speak of: `item` and `output` are the row."""
_WORKED_OUT = {"filter": ("condition", ROW_NAMES), "transform": ("expression", EDGE_NAMES)}


def notes(document: Document) -> list[Finding]:
    """Notes on a document that has passed its checks."""
    return [*incomplete(document), *_unused(document), *_alone(document), *_double(document), *_forgotten(document)]


def incomplete(document: Document) -> Iterator[Finding]:
    """Nodes that lack what they need to run."""
    for index, node in enumerate(document["nodes"]):
        config = node.get("config", {})
        for keys in NEEDS.get(node["type"], ()):
            if not any(key in config for key in keys):
                wanted = " or ".join(map(repr, keys))
                message = f"The node {node['id']!r} ({node['type']}) cannot run yet: its config has no {wanted}."
                yield Finding("incomplete", message, f"Add {wanted}.", node["id"], f"/nodes/{index}/config")
        for wrong, repair in _expressions(node):
            message = f"The node {node['id']!r} ({node['type']}) cannot run yet: {wrong}"
            yield Finding("incomplete", message, repair, node["id"], f"/nodes/{index}/config")


def _expressions(node: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with the CEL a node works with, and what to do."""
    key, names = _WORKED_OUT.get(node["type"], ("", ()))
    text = node.get("config", {}).get(key)
    if isinstance(text, str):
        try:
            expression(text, names)
        except BadCondition as wrong:
            yield wrong.message, wrong.hint


def _unused(document: Document) -> Iterator[Finding]:
    for index, node in enumerate(document["nodes"]):
        known = config_keys(node["type"])
        for key in node.get("config", {}):
            if key not in known:
                message = f"The node {node['id']!r} ({node['type']}) does not use {_short(key)!r} of its config."
                near = nearest(key, known)
                repair = f"Did you mean {near!r}?" if near else f"It uses: {', '.join(known)}."
                yield Finding("unused-key", message, repair, node["id"], f"/nodes/{index}/config")


def _alone(document: Document) -> Iterator[Finding]:
    graph = Graph(document)
    if len(graph.nodes) < 2:
        return
    for index, node in enumerate(document["nodes"]):
        if not graph.into(node["id"]) and not graph.out(node["id"]):
            message = f"No edge leads to or from the node {node['id']!r}: it runs on its own when a run begins."
            yield Finding("starts-alone", message, "Add an edge if it should wait.", node["id"], f"/nodes/{index}")


def _double(document: Document) -> Iterator[Finding]:
    seen = Counter(_key(edge) for edge in document["edges"])
    for (source, target, *_), count in seen.items():
        if count > 1:
            message = f"The edge {source} → {target} stands there {count} times with the same condition."
            yield Finding("double-edge", message, "Keep one of them.", str(source), "/edges")


def _forgotten(document: Document) -> Iterator[Finding]:
    names = {"input", "previous", *(node["id"] for node in document["nodes"])}
    for index, edge in enumerate(document["edges"]):
        read = compiled(edge["condition"]).expression.reads.get("ctx") if "condition" in edge else None
        for name in dict.fromkeys(path[0] for path in read or () if path[0] not in names):
            message = (
                f"The condition of {edge['from']} → {edge['to']} reads ctx.{_short(name)}, and there is no such node."
            )
            repair = "Name a node that runs before; the condition errs without it."
            yield Finding("no-such-ctx", message, repair, edge["from"], f"/edges/{index}/condition")


def _key(edge: Mapping[str, Any]) -> tuple[Any, ...]:
    return edge["from"], edge["to"], edge.get("condition"), edge.get("on")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"
