"""Workflows that tests change."""

from __future__ import annotations

from typing import Any

from tests.lanes.workflow.documents import flow

CHAIN: dict[str, Any] = flow(
    "fetch:http process:transform keep:function", "fetch process keep", fetch={"url": "https://shop.example/prices"},
    process={"expression": "output"}, keep={"name": "remember"},
)  # fmt: skip
"""Fetch, process, keep: one after the other."""

CHOICE: dict[str, Any] = flow(
    "fetch:http check:conditional buy:notify wait:wait", "fetch check", "check buy if output.price < 100", "check wait",
    fetch={"url": "https://shop.example/price"}, buy={"channel": "owner", "message": "Buy."}, wait={"seconds": 1},
)  # fmt: skip
"""One of two ways, by a price."""

SHOP: dict[str, Any] = flow(
    "fetch:transform check:conditional buy:notify leave:transform", "fetch check", "check buy if output.price < 100",
    "check leave", fetch={"set": {"price": "$input.price"}}, leave={"set": "left"},
    buy={"channel": "owner", "message": "Buy at ${$nodes.fetch.price}."},
)  # fmt: skip
"""The same without anything outside: it runs wherever it is tried."""
