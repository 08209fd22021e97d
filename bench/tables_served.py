"""Tables through a running server: rows in by HTTP, the answer out by HTTP, beside the same plan in this process.

Meanwhile somebody else, in a process of its own, asks `GET /health` again and again: the longest it waited is what a
busy table costs others, and all waits count. Where other programs want the same processors, some of that is theirs: the
second figure leaves out what Linux says the loop itself queued for a processor, and what it says that other machines on
the same host took of a processor. The first request of all also pays for what is loaded then, and is told by itself.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import orjson

from bench.report import show
from bench.server import Server, serving
from bench.tables import PLANS, rows_by_chance
from laneway.lanes.pipeline.plan import plan_of
from laneway.lanes.pipeline.tables import run

SIZES = (1_000, 8_000, 80_000)
"""The largest is about 9 MB of JSON, nearly all that a request may bring."""
WORDS = "show the 5 cheapest by price"
LONGEST_WAIT = 50.0
TIMES = 5


def measure(server: Server) -> None:
    """For each size: the time in this process and through the server, and how long others waited."""
    with httpx.Client(base_url=server.url, headers={"X-API-Key": server.key}, timeout=120) as client:
        _show_waits(server, "by nobody: an idle server", lambda: time.sleep(3))
        _show_waits(server, "by the first words and table of all", lambda: _first(client))
        for size in SIZES:
            _measure(server, client, rows_by_chance(size))


def _measure(server: Server, client: httpx.Client, rows: list[dict[str, Any]]) -> None:
    for name in ("filter+group+top", "sort"):
        body = orjson.dumps({"plan": {"from": "table", "steps": PLANS[name]}, "tables": {"table": rows}})
        show(f"{name}, {len(rows):,} rows, in this process", _here(name, rows), "ms")
        _through(server, client, f"{name}, {len(rows):,} rows", "/pipelines", body)
    for path, words in (("/test/chat", {"prompt": WORDS}), ("/messages", {"text": WORDS, "lane": "pipeline"})):
        body = orjson.dumps({**words, "tables": {"table": rows}})
        _through(server, client, f"words, {len(rows):,} rows, {path}", path, body)


def _through(server: Server, client: httpx.Client, what: str, path: str, body: bytes) -> None:
    figures: list[float] = []
    with _somebody_else(server) as waits:
        for _ in range(TIMES):
            began = time.perf_counter()
            _done(client, path, body)
            figures.append((time.perf_counter() - began) * 1000)
    show(f"{what}, through the server ({len(body) / 1e6:.1f} MB)", median(figures), "ms")
    show("  longest somebody else waited for GET /health", max(wait for wait, _ in waits), "ms", LONGEST_WAIT)
    show("  the same less the loop's waiting for a processor", max(own for _, own in waits), "ms", LONGEST_WAIT)


def _done(client: httpx.Client, path: str, body: bytes) -> None:
    """The request is answered, or the job that it became has ended."""
    said = client.post(path, content=body, headers={"Content-Type": "application/json"}).raise_for_status().json()
    if path != "/messages":
        assert said["status"] == "completed", said
        return
    while client.get(f"/jobs/{said['job_id']}").json()["status"] in ("queued", "running"):
        time.sleep(0.02)


def _first(client: httpx.Client) -> None:
    tables = {"table": rows_by_chance(10)}
    _done(client, "/test/chat", orjson.dumps({"prompt": WORDS, "tables": tables}))
    # The second of a conversation is read with what was said before it.
    for _ in range(2):
        _done(client, "/messages", orjson.dumps({"text": WORDS, "lane": "pipeline", "tables": tables}))


def _show_waits(server: Server, by: str, work: Any) -> None:
    with _somebody_else(server) as waits:
        work()
    show(f"longest wait for GET /health, caused {by}", max(wait for wait, _ in waits), "ms")


def _here(name: str, rows: list[dict[str, Any]]) -> float:
    plan = plan_of({"from": "table", "steps": PLANS[name]})
    figures = []
    for _ in range(5):
        began = time.perf_counter()
        run(plan, {"table": rows})
        figures.append((time.perf_counter() - began) * 1000)
    return median(figures)


@contextmanager
def _somebody_else(server: Server) -> Iterator[list[tuple[float, float]]]:
    """Asks while the block lasts; afterwards the list has how long each answer took, and how long without the time in
    which the server's loop could have run and other programs had the processors; in milliseconds."""
    # A process: a thread of ours would wait for what we do ourselves.
    apart = multiprocessing.get_context("spawn")
    ready, over, told = apart.Event(), apart.Event(), apart.SimpleQueue()
    asking = apart.Process(target=_ask, args=(server.url, server.process.pid, ready, over, told), daemon=True)
    asking.start()
    ready.wait(60)
    waits: list[tuple[float, float]] = []
    try:
        yield waits
    finally:
        over.set()
        waits += told.get()
        asking.join()


def _ask(url: str, process: int, ready: Event, over: Event, told: Any) -> None:
    waits = []
    with httpx.Client(base_url=url, timeout=60) as client:
        client.get("/health").raise_for_status()
        ready.set()
        while not over.is_set():
            queued, taken, began = _queued(process), _taken(), time.perf_counter()
            client.get("/health").raise_for_status()
            wait = (time.perf_counter() - began) * 1000
            lost = (
                _queued(process) - queued + max(after - before for before, after in zip(taken, _taken(), strict=True))
            )
            waits.append((wait, max(0.0, wait - lost)))
            time.sleep(0.005)
    told.put(waits)


def _queued(process: int) -> float:
    """Milliseconds for which the thread that has the loop was ready to run and did not; 0 where nobody knows."""
    try:
        return int(Path(f"/proc/{process}/task/{process}/schedstat").read_text().split()[1]) / 1e6
    except (OSError, IndexError, ValueError):
        return 0.0


def _taken() -> list[float]:
    """Milliseconds that the host gave each processor to others instead, counted in hundredths of a second."""
    try:
        lines = Path("/proc/stat").read_text().splitlines()
        return [int(one.split()[8]) * 1000 / os.sysconf("SC_CLK_TCK") for one in lines if one.startswith("cpu")][1:]
    except (OSError, IndexError, ValueError):
        return [0.0]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="laneway-bench-") as folder, serving(Path(folder) / "home") as running:
        measure(running)
