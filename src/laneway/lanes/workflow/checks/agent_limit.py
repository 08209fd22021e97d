"""agent-limit: one patch brings in at most five nodes that ask a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from laneway.lanes.workflow.document import AGENTS_PER_PATCH, Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.quoting import quoted

MOST_NAMED = 12
Agent = tuple[str, str]
"""The id of an agent node, and where it stands."""


def agent_limit(before: Any, after: Document, operations: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """One finding when the patch adds, or turns into agents, more than it may."""
    had, has = dict(_agents(before)), dict(_agents(after))
    new = [(name, path) for name, path in _agents(after) if name not in had]
    added = [(name, has.get(name, path)) for name, path in map(_added, operations) if path]
    brought = max(new, added, key=len)
    if len(brought) <= AGENTS_PER_PATCH:
        return []
    message = f"The patch brings in {len(brought)} agent nodes: {_listed([f'{name} ({at})' for name, at in brought])}."
    later = brought[AGENTS_PER_PATCH:]
    repair = f"Bring in at most {AGENTS_PER_PATCH} at a time: leave {_listed([quoted(name) for name, _ in later])} "
    return [Finding("agent-limit", message, f"{repair}for another patch.", *later[0])]


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _agents(document: Any) -> list[Agent]:
    nodes = document.get("nodes") if isinstance(document, Mapping) else None
    return [
        (node["id"], f"/nodes/{index}")
        for index, node in enumerate(nodes if isinstance(nodes, list) else ())
        if isinstance(node, Mapping) and node.get("type") == "agent" and isinstance(node.get("id"), str)
    ]


def _added(operation: Mapping[str, Any]) -> Agent:
    """The agent node that an operation adds by itself; without a place where it adds none."""
    value, path = operation.get("value"), str(operation.get("path"))
    single = operation.get("op") == "add" and path.startswith("/nodes/") and path.count("/") == 2
    if not single or not isinstance(value, Mapping) or value.get("type") != "agent":
        return "", ""
    return str(value.get("id")), path
