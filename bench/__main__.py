"""`make bench`: every figure of the foundation in one run."""

from __future__ import annotations

import asyncio
import os
import platform
import tempfile
from pathlib import Path

import psutil

from bench import (
    classify,
    guard,
    hooks,
    intake,
    journey,
    observe,
    observe_latency,
    observe_run,
    planner,
    redis_jobs,
    sandbox,
    tables,
    tables_served,
    webhook,
)
from bench.report import show
from bench.server import serving, worker


def main() -> None:
    """All figures are printed."""
    print(f"Python {platform.python_version()}, {psutil.cpu_count()} cores, load {psutil.getloadavg()[0]:.1f}\n")
    asyncio.run(intake.measure())
    guard.measure()
    observe.measure()
    observe_run.measure()
    observe_latency.measure()
    asyncio.run(sandbox.measure())
    tables.measure()
    if planner.DATA in os.environ:
        planner.measure(Path(os.environ[planner.DATA]) / "tables")
    with tempfile.TemporaryDirectory(prefix="laneway-bench-") as folder:
        classify.measure(Path(folder) / "classify")
        webhook.measure(Path(folder) / "webhook")
        redis_jobs.measure(Path(folder) / "redis")
        home = Path(folder) / "home"
        with serving(home) as server:
            show("first start (fresh data directory) until ready", server.start_seconds, "s", 90)
        with serving(home) as server:
            show("later start until ready", server.start_seconds, "s", 8)
            journey.at_rest(server)
            hooks.measure(server)
            tables_served.measure(server)
            asyncio.run(journey.latency(server))
            asyncio.run(journey.throughput(server, "one process"))
            with worker(server):
                asyncio.run(journey.throughput(server, "two workers (the server's and one more)"))
    print("\nDispatch is measured by itself: python bench/dispatch.py")


if __name__ == "__main__":
    main()
