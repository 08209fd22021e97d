"""A real `laneway up` (and workers beside it) in processes of their own, on a fresh data directory."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil


@dataclass
class Server:
    """A running server: where it is, what opens it, its process."""

    url: str
    key: str
    process: subprocess.Popen[bytes]
    start_seconds: float
    home: Path

    @property
    def resources(self) -> psutil.Process:
        return psutil.Process(self.process.pid)


def environment(home: Path) -> dict[str, str]:
    """The settings of a benchmark: the scripted model, nobody else's keys."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
    own = {"LANEWAY_HOME": str(home), "DEFAULT_MODEL": "scripted", "LANEWAY_MESSAGES_PER_MINUTE": "100000"}
    return {**kept, **own}


@contextmanager
def serving(home: Path, **settings: str) -> Iterator[Server]:
    """The server is ready inside the block and gone after it."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    began = time.perf_counter()
    process = _start(home, "up", "--port", str(port), **settings)
    try:
        _until_ready(url, process)
        seconds = time.perf_counter() - began
        yield Server(url, (home / "key").read_text().strip(), process, seconds, home)
    finally:
        _end(process)


@contextmanager
def worker(server: Server, **settings: str) -> Iterator[None]:
    """One more worker takes part."""
    process = _start(server.home, "worker", **settings)
    time.sleep(4)
    try:
        yield
    finally:
        _end(process)


def _start(home: Path, *command: str, **settings: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "laneway", *command],
        env={**environment(home), **settings},
        cwd=home.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"`laneway up` ended with {process.returncode}.")
        try:
            if httpx.get(f"{url}/ready", timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.02)
    raise RuntimeError("`laneway up` was not ready within two minutes.")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
