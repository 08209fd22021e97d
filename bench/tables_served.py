"""Tables through a running server: rows in by HTTP, the answer out by HTTP, beside the same plan in this process.

Meanwhile another client asks `GET /health` again and again: the longest it waited is what a busy table costs others.
"""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from bench.report import show
from bench.server import Server, serving
from bench.tables import PLANS, rows_by_chance
from laneway.lanes.pipeline.plan import plan_of
from laneway.lanes.pipeline.tables import run

SIZES = (1_000, 8_000)
"""The larger one is nearly all that a request may hold."""


def measure(server: Server) -> None:
    """For each size: the time in this process and through the server, and how long others waited."""
    for size in SIZES:
        rows = rows_by_chance(size)
        for name in ("filter+group+top", "sort"):
            here = _here(name, rows)
            took, waited = _served(server, name, rows)
            show(f"{name}, {size:,} rows, in this process", here, "ms")
            show(f"{name}, {size:,} rows, through the server", took, "ms")
            show("  longest somebody else waited for GET /health", waited, "ms")


def _here(name: str, rows: list[dict[str, Any]]) -> float:
    plan = plan_of({"from": "table", "steps": PLANS[name]})
    figures = []
    for _ in range(5):
        began = time.perf_counter()
        run(plan, {"table": rows})
        figures.append((time.perf_counter() - began) * 1000)
    return median(figures)


def _served(server: Server, name: str, rows: list[dict[str, Any]]) -> tuple[float, float]:
    over, waits = threading.Event(), [0.0]
    asking = threading.Thread(target=_ask, args=(server.url, over, waits))
    body = {"plan": {"from": "table", "steps": PLANS[name]}, "tables": {"table": rows}}
    figures = []
    with httpx.Client(base_url=server.url, headers={"X-API-Key": server.key}, timeout=120) as client:
        asking.start()
        for _ in range(3):
            began = time.perf_counter()
            client.post("/pipelines", json=body).raise_for_status()
            figures.append((time.perf_counter() - began) * 1000)
    over.set()
    asking.join()
    return median(figures), max(waits)


def _ask(url: str, over: threading.Event, waits: list[float]) -> None:
    with httpx.Client(base_url=url, timeout=60) as client:
        while not over.is_set():
            began = time.perf_counter()
            client.get("/health").raise_for_status()
            waits.append((time.perf_counter() - began) * 1000)
            time.sleep(0.01)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="laneway-bench-") as folder, serving(Path(folder) / "home") as running:
        measure(running)
