"""Workflows that tests change."""

from __future__ import annotations

from typing import Any

CHAIN: dict[str, Any] = {
    "nodes": [
        {"id": "fetch", "type": "http", "config": {"url": "https://shop.example/prices"}},
        {"id": "process", "type": "transform", "config": {"expression": "output"}},
        {"id": "keep", "type": "function", "config": {"name": "remember"}},
    ],
    "edges": [{"from": "fetch", "to": "process"}, {"from": "process", "to": "keep"}],
}
"""Fetch, process, keep: one after the other."""

CHOICE: dict[str, Any] = {
    "nodes": [
        {"id": "fetch", "type": "http", "config": {"url": "https://shop.example/price"}},
        {"id": "check", "type": "conditional", "config": {}},
        {"id": "buy", "type": "notify", "config": {"channel": "owner", "message": "Buy."}},
        {"id": "wait", "type": "wait", "config": {"seconds": 1}},
    ],
    "edges": [
        {"from": "fetch", "to": "check"},
        {"from": "check", "to": "buy", "condition": "output.price < 100"},
        {"from": "check", "to": "wait"},
    ],
}
"""One of two ways, by a price."""

SHOP: dict[str, Any] = {
    "nodes": [
        {"id": "fetch", "type": "transform", "config": {"set": {"price": "$input.price"}}},
        {"id": "check", "type": "conditional", "config": {}},
        {"id": "buy", "type": "notify", "config": {"channel": "owner", "message": "Buy at ${$nodes.fetch.price}."}},
        {"id": "leave", "type": "transform", "config": {"set": "left"}},
    ],
    "edges": [
        {"from": "fetch", "to": "check"},
        {"from": "check", "to": "buy", "condition": "output.price < 100"},
        {"from": "check", "to": "leave"},
    ],
}
"""The same without anything outside: it runs wherever it is tried."""
