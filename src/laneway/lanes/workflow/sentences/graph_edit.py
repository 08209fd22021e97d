"""Patches that set steps in, take them out and rename them, and keep what stands around them connected."""

from __future__ import annotations

import re
from typing import Any

from laneway.domain.workflow import Document, Operations
from laneway.lanes.workflow.document import copied
from laneway.lanes.workflow.operations import between
from laneway.language.refusal import NotUnderstood

Node = dict[str, Any]
_PATHS = ("break_path", "timeout_path")
"""Where a loop goes when it is left, in its config."""
_TAKES_INPUT = re.compile("conditional|loop|parallel|transform|aggregate|filter|agent|function|pipeline|subworkflow")


def edges_at(document: Document, end: str, node_id: str) -> list[Node]:
    """The edges `from` or `to` a step."""
    return [edge for edge in document["edges"] if edge[end] == node_id]


def insert_beside(document: Document, sources: list[str], new: Node, **edge: Any) -> Operations:
    """The new step runs when one of these is done; whatever else follows them goes on as before."""
    for source in sources:
        if not edge and any("condition" in one for one in edges_at(document, "from", source)):
            raise NotUnderstood(f"`{source}` decides between several ways.", "Say after which of them it shall happen.")
    added: list[tuple[str, Any]] = [("edges", {"from": source, "to": new["id"], **edge}) for source in sources]
    return [{"op": "add", "path": f"/{where}/-", "value": value} for where, value in [("nodes", new), *added]]


def insert_after(document: Document, node: Node, new: Node, condition: str | None = None) -> Operations:
    """The new step stands between this one and all that followed it."""
    following = [edge for edge in edges_at(document, "from", node["id"]) if edge.get("on") != "error"]
    if any("condition" in edge for edge in following):
        raise NotUnderstood(f"`{node['id']}` decides between several ways.", "Say before which step it shall stand.")
    after = copied(document)
    after["nodes"].append(new)
    following += _move_break_path(after, node, new)
    for edge in after["edges"]:
        if edge["from"] == node["id"] and edge.get("on") != "error":
            edge["from"] = new["id"]
            edge.update({"condition": condition} if condition else {})
    after["edges"].append({"from": node["id"], "to": new["id"]})
    for edge in following:
        _keep_input(after, edge["to"], f"$nodes.{node['id']}")
    return between(document, after)


def insert_before(document: Document, node: Node, new: Node, condition: str | None = None) -> Operations:
    """The new step stands before this one, on all ways to it."""
    into = edges_at(document, "to", node["id"])
    after = copied(document)
    after["nodes"].append(new)
    for edge in edges_at(after, "to", node["id"]):
        edge["to"] = new["id"]
    _redirect_loops(after, node["id"], [new["id"]])
    after["edges"].append({"from": new["id"], "to": node["id"]} | ({"condition": condition} if condition else {}))
    if len(into) < 2:
        _keep_input(after, node["id"], f"$nodes.{into[0]['from']}" if into else "$input")
    return between(document, after)


def remove_node(document: Document, node: Node) -> Operations:
    """The step is gone, and what led to it leads to what followed it."""
    out = [edge for edge in edges_at(document, "from", node["id"]) if edge.get("on") != "error"]
    # Without the question to a person there is nothing to agree to.
    agreed = 'output.decision == "approved"' if node["type"] == "hitl" else None
    if any("condition" in edge and str(edge["condition"]).replace("'", '"') != agreed for edge in out):
        raise NotUnderstood(f"`{node['id']}` decides between several ways.", "Remove those first.")
    if len(document["nodes"]) == 1:
        raise NotUnderstood(f"`{node['id']}` is the only step.", "Remove the workflow: `laneway workflow remove`.")
    after = copied(document)
    after["nodes"] = [one for one in after["nodes"] if one["id"] != node["id"]]
    _redirect_loops(after, node["id"], [edge["to"] for edge in out])
    edges: list[Node] = []
    for edge in after["edges"]:
        if edge["to"] == node["id"]:
            bridges = [{**edge, "to": next_one["to"]} for next_one in out] if edge.get("on") != "error" else []
            edges += [bridge for bridge in bridges if bridge not in edges and bridge not in after["edges"]]
        elif edge["from"] != node["id"]:
            edges.append(edge)
    after["edges"] = edges
    return between(document, after)


def _redirect_loops(document: Document, old: str, new: list[str]) -> None:
    """Loops that go to `old` when they are left go to `new` instead."""
    for config in (node["config"] for node in document["nodes"] if node["type"] == "loop" and "config" in node):
        for key in _PATHS:
            if old in (path := _ids_at(config, key)):
                config[key] = [*dict.fromkeys(name for one in path for name in (new if one == old else [one]))]
                if not config[key]:
                    del config[key]


def _move_break_path(document: Document, loop: Node, new: Node) -> list[Node]:
    """The new step stands where a loop went by its `break_path`; the edges from there that were not drawn so far."""
    config = loop.get("config", {}) if loop["type"] == "loop" else {}
    if config.get("timeout_path"):
        raise NotUnderstood(f"`{loop['id']}` is left by two ways.", "Say before which step it shall stand.")
    path, drawn = _ids_at(config, "break_path"), [edge["to"] for edge in edges_at(document, "from", loop["id"])]
    missing = [{"from": loop["id"], "to": name} for name in path if name not in drawn]
    document["edges"] += [dict(edge) for edge in missing]
    for node in document["nodes"]:
        if path and node["id"] == loop["id"]:
            node["config"]["break_path"] = [new["id"]]
    return missing


def _ids_at(config: dict[str, Any], key: str) -> list[str]:
    found = config.get(key) or []
    return [found] if isinstance(found, str) else [name for name in found if isinstance(name, str)]


def _keep_input(document: Document, node_id: str, source: str) -> None:
    """A step that took what the one before it gave goes on taking that."""
    node = next(one for one in document["nodes"] if one["id"] == node_id)
    config = node.get("config", {})
    if _TAKES_INPUT.fullmatch(node["type"]) and not {"input", "arguments", "tables", "plan"} & set(config):
        node["config"] = {**config, "input": source}


def rename_node(document: Document, old: str, new: str) -> Operations:
    """The step has another id wherever the document names it."""
    renamed = {key: _rename(document[key], old, new, ("id", "from", "to")) for key in ("nodes", "edges")}
    return between(document, {**document, **renamed})


def _rename(value: Any, old: str, new: str, naming: tuple[str, ...], key: str = "") -> Any:
    """The value with the step's new id; `naming` are the keys whose values are ids of steps."""
    if isinstance(value, dict):
        # Inside a config, `id` and `to` are no steps.
        inner = {"config": ("loop_back_to", *_PATHS)}
        return {name: _rename(one, old, new, inner.get(name, naming), name) for name, one in value.items()}
    if isinstance(value, list):
        return [_rename(one, old, new, naming, key) for one in value]
    if not isinstance(value, str):
        return value
    if key in naming:
        return new if value == old else value
    name = re.escape(old)
    value = re.sub(rf"(\$(?:nodes|previous)\.){name}(?![\w-])", lambda found: found[1] + new, value)
    if key in ("condition", "expression"):
        way = f".{new}" if re.fullmatch(r"[A-Za-z_]\w*", new) else f'["{new}"]'
        for spelling in (rf"\.{name}(?![\w-])", rf"\[(['\"]){name}\2\]"):
            value = re.sub(rf"\b(ctx(?:\.previous)?){spelling}", lambda found: found[1] + way, value)
    return value
