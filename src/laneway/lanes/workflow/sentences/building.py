"""Operations put together: steps set in, taken out, and connected, always by the names of steps."""

from __future__ import annotations

from typing import Any

from laneway.domain.workflow import Document, Operations
from laneway.lanes.workflow.operations import between
from laneway.lanes.workflow.sentences.draft import NotPlanned

Node = dict[str, Any]
Edge = dict[str, Any]
PATHS = ("break_path", "timeout_path")
"""Where a loop goes when it is left, in its config."""
_TAKES_INPUT = frozenset(
    {"conditional", "loop", "parallel", "transform", "aggregate", "filter", "agent", "function", "pipeline",
     "subworkflow"}
)  # fmt: skip


def edges_from(document: Document, node_id: str) -> list[Edge]:
    return [edge for edge in document["edges"] if edge["from"] == node_id]


def edges_into(document: Document, node_id: str) -> list[Edge]:
    return [edge for edge in document["edges"] if edge["to"] == node_id]


def beside(document: Document, node_id: str, new: Node, **edge: Any) -> Operations:
    """The new step runs when this one is done; whatever else follows it goes on as before."""
    return [
        {"op": "add", "path": "/nodes/-", "value": new},
        {"op": "add", "path": "/edges/-", "value": {"from": node_id, "to": new["id"], **edge}},
    ]


def behind(document: Document, node: Node, new: Node, condition: str | None = None) -> Operations:
    """The new step stands between this one and all that followed it."""
    following = [edge for edge in edges_from(document, node["id"]) if edge.get("on") != "error"]
    if any("condition" in edge for edge in following):
        raise NotPlanned(
            f"`{node['id']}` decides between several ways.",
            "Say before which step, or between which two, it shall stand.",
        )
    after = _copy(document)
    after["nodes"].append(new)
    following += _jumped(after, node, new)
    for edge in after["edges"]:
        if edge["from"] == node["id"] and edge.get("on") != "error":
            edge["from"] = new["id"]
            edge.update({"condition": condition} if condition else {})
    after["edges"].append({"from": node["id"], "to": new["id"]})
    for edge in following:
        _keep_input(after, edge["to"], node["id"])
    return between(document, after)


def ahead(
    document: Document, node: Node, new: Node, condition: str | None = None, only: str | None = None
) -> Operations:
    """The new step stands before this one, on all ways to it or on that from `only`."""
    into = [edge for edge in edges_into(document, node["id"]) if only in (None, edge["from"])]
    if only is not None and not into:
        raise NotPlanned(f"`{only}` does not lead to `{node['id']}`.", "Say two steps that follow one another.")
    after = _copy(document)
    after["nodes"].append(new)
    for edge in after["edges"]:
        if edge["to"] == node["id"] and only in (None, edge["from"]):
            edge["to"] = new["id"]
    _lead(after, node["id"], [new["id"]], only)
    passed = {"condition": condition} if condition else {}
    after["edges"].append({"from": new["id"], "to": node["id"], **passed})
    _keep_input(after, node["id"], into[0]["from"] if len(into) == 1 else None if into else "$input")
    return between(document, after)


def without(document: Document, node: Node) -> Operations:
    """The step is gone, and what led to it leads to what followed it."""
    out = [edge for edge in edges_from(document, node["id"]) if edge.get("on") != "error"]
    if any("condition" in edge and not _after_a_yes(node, edge) for edge in out):
        raise NotPlanned(
            f"`{node['id']}` decides between several ways.", "Remove those first, or say what shall follow instead."
        )
    if len(document["nodes"]) == 1:
        raise NotPlanned(f"`{node['id']}` is the only step.", "Remove the workflow: `laneway workflow remove`.")
    after = _copy(document)
    after["nodes"] = [one for one in after["nodes"] if one["id"] != node["id"]]
    _lead(after, node["id"], [edge["to"] for edge in out])
    edges: list[Edge] = []
    for edge in after["edges"]:
        if edge["to"] == node["id"]:
            bridges = [{**edge, "to": next_one["to"]} for next_one in out] if edge.get("on") != "error" else []
            edges += [bridge for bridge in bridges if bridge not in edges and bridge not in after["edges"]]
        elif edge["from"] != node["id"]:
            edges.append(edge)
    after["edges"] = edges
    return between(document, after)


def _lead(document: Document, old: str, new: list[str], only: str | None = None) -> None:
    """Loops that go to `old` when they are left go to `new` instead."""
    for node in document["nodes"]:
        if node["type"] != "loop" or only not in (None, node["id"]):
            continue
        config = dict(node.get("config", {}))
        for key in PATHS:
            if old in (path := _path(config, key)):
                config[key] = [*dict.fromkeys(name for one in path for name in (new if one == old else [one]))]
                if not config[key]:
                    del config[key]
        node["config"] = config


def _jumped(document: Document, loop: Node, new: Node) -> list[Edge]:
    """The new step stands where a loop went by its `break_path`; the edges from there that were not drawn so far."""
    config = loop.get("config", {}) if loop["type"] == "loop" else {}
    if config.get("timeout_path"):
        raise NotPlanned(f"`{loop['id']}` is left by two ways.", "Say before which step it shall stand.")
    path, drawn = _path(config, "break_path"), [edge["to"] for edge in edges_from(document, loop["id"])]
    missing = [{"from": loop["id"], "to": name} for name in path if name not in drawn]
    document["edges"] += [dict(edge) for edge in missing]
    for node in document["nodes"]:
        if path and node["id"] == loop["id"]:
            node["config"] = {**config, "break_path": [new["id"]]}
    return missing


def _path(config: dict[str, Any], key: str) -> list[str]:
    found = config.get(key) or []
    return [found] if isinstance(found, str) else [name for name in found if isinstance(name, str)]


def _after_a_yes(node: Node, edge: Edge) -> bool:
    """Whether the edge only says that a person has agreed: without the question there is nothing to agree to."""
    return node["type"] == "hitl" and str(edge["condition"]).replace("'", '"') == 'output.decision == "approved"'


def _keep_input(document: Document, node_id: str, source: str | None) -> None:
    """A step that took what the one before it gave goes on taking that."""
    node = next(one for one in document["nodes"] if one["id"] == node_id)
    config = node.get("config", {})
    if (
        source is not None
        and node["type"] in _TAKES_INPUT
        and not {"input", "arguments", "tables", "plan"} & set(config)
    ):
        node["config"] = {**config, "input": source if source == "$input" else f"$nodes.{source}"}


def _copy(document: Document) -> Document:
    return {
        **document,
        "nodes": [dict(node) for node in document["nodes"]],
        "edges": [dict(edge) for edge in document["edges"]],
    }
