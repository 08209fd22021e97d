"""Workflows that tests begin with."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from laneway.lanes.workflow.document import Document, copied

PRICES: Document = {
    "nodes": [
        {"id": "fetch", "type": "http", "config": {"url": "https://prices.example/today"}, "timeout_ms": 5000},
        {"id": "check", "type": "conditional"},
        {"id": "cheap", "type": "notify", "config": {"channel": "owner", "message": "Only ${$nodes.fetch.price}!"}},
        {"id": "done", "type": "function", "config": {"name": "server_info"}},
    ],
    "edges": [
        {"from": "fetch", "to": "check"},
        {"from": "check", "to": "cheap", "condition": "$.price < 100"},
        {"from": "check", "to": "done"},
        {"from": "cheap", "to": "done"},
    ],
}
"""fetch → check → (cheap →) done: the picture with a join behind exclusive branches."""


def prices() -> Document:
    """The document, for a test that changes it."""
    found: Document = copied(PRICES)
    return found


def node(name: str, kind: str = "function", /, **config: Any) -> dict[str, Any]:
    return {"id": name, "type": kind, **({"config": config} if config else {})}


def edge(source: str, target: str, condition: str | None = None, /, **more: Any) -> dict[str, Any]:
    return {"from": source, "to": target, **({"condition": condition} if condition is not None else {}), **more}


def line(*names: str) -> list[dict[str, Any]]:
    """Edges from each of these to the next."""
    return [edge(one, other) for one, other in pairwise(names)]


def of(nodes: list[dict[str, Any]], edges: list[dict[str, Any]], **more: Any) -> Document:
    return {"nodes": nodes, "edges": edges, **more}


def add(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}
