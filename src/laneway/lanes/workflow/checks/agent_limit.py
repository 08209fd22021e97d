"""agent-limit: one patch brings in at most five nodes that ask a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from laneway.lanes.workflow.document import AGENTS_PER_PATCH, Document
from laneway.lanes.workflow.finding import Finding


def agent_limit(before: Any, after: Document, operations: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """One finding when the patch adds, or turns into agents, more than it may."""
    had = {node["id"] for node in _agents(before)}
    new = [node["id"] for node in _agents(after) if node["id"] not in had]
    count = max(len(new), sum(map(_adds, operations)))
    if count <= AGENTS_PER_PATCH:
        return []
    repair = f"Bring in at most {AGENTS_PER_PATCH} at a time; split the patch."
    return [
        Finding("agent-limit", f"The patch brings in {count} agent nodes.", repair, new[-1] if new else None, "/nodes")
    ]


def _agents(document: Any) -> list[Mapping[str, Any]]:
    nodes = document.get("nodes") if isinstance(document, Mapping) else None
    known = [node for node in nodes if isinstance(node, Mapping)] if isinstance(nodes, list) else []
    return [node for node in known if node.get("type") == "agent" and isinstance(node.get("id"), str)]


def _adds(operation: Mapping[str, Any]) -> bool:
    value, path = operation.get("value"), str(operation.get("path"))
    single = operation.get("op") == "add" and path.startswith("/nodes/") and path.count("/") == 2
    return single and isinstance(value, Mapping) and value.get("type") == "agent"
