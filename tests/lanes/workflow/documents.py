"""Workflows that tests begin with."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from laneway.lanes.workflow.document import Document, copied


def node(name: str, kind: str = "function", /, **config: Any) -> dict[str, Any]:
    return {"id": name, "type": kind, **({"config": config} if config else {})}


def edge(source: str, target: str, condition: str | None = None, /, **more: Any) -> dict[str, Any]:
    return {"from": source, "to": target, **({"condition": condition} if condition is not None else {}), **more}


def of(nodes: list[dict[str, Any]], edges: list[dict[str, Any]], **more: Any) -> Document:
    return {"nodes": nodes, "edges": edges, **more}


def flow(nodes: str, *ways: str, triggers: list[dict[str, Any]] | None = None, **configs: dict[str, Any]) -> Document:
    """A workflow from lines: nodes as `a b:wait`, ways as `a b c`, `a b if $.x > 1` or `a b on error`."""
    named = [(name, kind or "function") for name, _, kind in (one.partition(":") for one in nodes.split())]
    edges: list[dict[str, Any]] = []
    for way in ways:
        names, _, condition = way.partition(" if ")
        more = {"on": "error"} if names.endswith(" on error") else {}
        names = names.removesuffix(" on error")
        edges += [edge(one, other, condition or None, **more) for one, other in pairwise(names.split())]
    made = of([node(name, kind, **configs.get(name, {})) for name, kind in named], edges)
    return made if triggers is None else {**made, "triggers": triggers}


PRICES = flow(
    "fetch:http check:conditional cheap:notify done:function", "fetch check", "check cheap if $.price < 100",
    "check done", "cheap done", fetch={"url": "https://prices.example/today"}, done={"name": "server_info"},
    cheap={"channel": "owner", "message": "Only ${$nodes.fetch.price}!"},
)  # fmt: skip
"""fetch → check → (cheap →) done: the picture with a join behind exclusive branches."""
PRICES["nodes"][0]["timeout_ms"] = 5000


def prices() -> Document:
    """The document, for a test that changes it."""
    found: Document = copied(PRICES)
    return found


def steps(nodes: str, *ways: str, triggers: list[dict[str, Any]] | None = None, **configs: dict[str, Any]) -> Document:
    """One to run: nodes are transforms unless another type is named, and give their name unless told otherwise."""
    plain = [one for one in nodes.split() if ":" not in one]
    named = " ".join(f"{one}:transform" if one in plain else one for one in nodes.split())
    return flow(named, *ways, triggers=triggers, **{**{one: {"set": one} for one in plain}, **configs})


def add(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def put(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}
