"""Workflows and operations that lines for `laneway workflow patch --check` are put together from."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Doc = dict[str, Any]
Ops = list[Any]
Line = tuple[str, Any, Any, str | None]


def node(name: str, kind: str = "function", config: Any = None, **more: Any) -> Doc:
    return {"id": name, "type": kind, **({} if config is None else {"config": config}), **more}


def edge(text: str, condition: str | None = None, **more: Any) -> Doc:
    source, target = text.split()
    return {"from": source, "to": target, **({} if condition is None else {"condition": condition}), **more}


def add(path: str, value: Any) -> Doc:
    return {"op": "add", "path": path, "value": value}


def put(path: str, value: Any) -> Doc:
    return {"op": "replace", "path": path, "value": value}


def expect(path: str, value: Any) -> Doc:
    return {"op": "test", "path": path, "value": value}


def remove(path: str) -> Doc:
    return {"op": "remove", "path": path}


def move(source: str, path: str) -> Doc:
    return {"op": "move", "from": source, "path": path}


def copy(source: str, path: str) -> Doc:
    return {"op": "copy", "from": source, "path": path}


LINE: Doc = {
    "nodes": [
        node("fetch", "http", {"url": "https://api.example.com/orders", "method": "GET"}, timeout_ms=5000),
        node("clean", "transform", {"expression": "output.body"}),
        node("tell", "notify", {"channel": "email", "to": "ops@example.com", "message": "done"}),
    ],
    "edges": [edge("fetch clean"), edge("clean tell")],
    "metadata": {"name": "Orders", "version": "1.0", "tags": ["orders"]},
}
FORK: Doc = {
    "nodes": [
        node("fetch", "http", {"url": "https://api.example.com/price"}),
        node("check", "conditional"),
        node("cheap", "notify", {"channel": "slack", "message": "cheap"}),
        node("dear", "function", {"name": "log"}),
        node("end", "aggregate", {"op": "collect"}),
    ],
    "edges": [
        edge("fetch check"),
        edge("check cheap", "output.price < 100"),
        edge("check dear"),
        edge("cheap end"),
        edge("dear end"),
    ],
}
LOOP: Doc = {
    "nodes": [
        node("start_here", "function", {"name": "begin"}),
        node("poll", "http", {"url": "https://api.example.com/state"}),
        node("again", "loop", {"loop_back_to": "poll", "max_iterations": 5, "condition": "output.state != 'ready'"}),
        node("good", "function", {"name": "good"}),
        node("bad", "function", {"name": "bad"}),
    ],
    "edges": [edge("start_here poll"), edge("poll again"), edge("again good"), edge("again bad")],
}
LOOP["nodes"][2]["config"] |= {"break_path": ["good"], "timeout_path": ["bad"]}
ONE: Doc = {"nodes": [node("only")], "edges": []}
AGENTS: Doc = {
    "nodes": [node("first"), *(node(f"agent{n}", "agent", {"task": f"Job {n}"}) for n in range(5))],
    "edges": [edge(f"first agent{n}") for n in range(5)],
}


def agents(count: int, begin: int = 0) -> Ops:
    return [add("/nodes/-", node(f"new{n}", "agent", {"prompt": "x"})) for n in range(begin, begin + count)]


def having(document: Doc, **changes: Any) -> Doc:
    return {**deepcopy(document), **changes}
