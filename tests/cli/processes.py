"""The real command in a process of its own, and a real `laneway up` to talk to."""

from __future__ import annotations

import contextlib
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.cli import in_process

COMMAND = (sys.executable, "-m", "laneway")
_WORKERS = 8
"""As many draw ports beside each other, each from its own; tests.alone knows of no more."""
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
_given: set[int] = set()
"""Ports that are somebody's, though nobody may listen on them: they are to listen there later, or nobody ever is."""


@dataclass
class Shell:
    """A folder and an environment in which `laneway` is run."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, typed: str = "", code: int = 0, **environ: str) -> str:
        """What the command printed; it ended with `code` and without a traceback."""
        return self.ended(*arguments, typed=typed, code=code, **environ).stdout

    def refused(self, *arguments: str, typed: str = "", code: int = 2, **environ: str) -> str:
        """The error the command printed, on one line."""
        ended = self.ended(*arguments, typed=typed, code=code, **environ)
        assert ended.stderr.startswith("Error: "), ended.stderr
        assert ended.stderr.count("\n") == 1, ended.stderr
        return ended.stderr.strip()

    def start(self, *arguments: str, own_terminal: bool = False, **environ: str) -> subprocess.Popen[str]:
        """The command has been started; in a terminal of its own, its children can be signalled with it."""
        return subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment(environ),
            start_new_session=own_terminal,
        )

    def ended(
        self, *arguments: str, typed: str = "", code: int = 0, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        """All that the command left behind; it ended with `code` and without a traceback."""
        everything = self.environment(environ)
        # Where other modules are to be found, a new Python has to look for them.
        same_modules = everything.get("PYTHONPATH") == os.environ.get("PYTHONPATH")
        run = in_process.run if same_modules else executed
        return _checked(run(arguments, typed, self.folder, everything), code)

    def process(self, *arguments: str, typed: str = "", code: int = 0, **environ: str) -> str:
        """What the command printed in a process of its own, as a user starts it."""
        return _checked(executed(arguments, typed, self.folder, self.environment(environ)), code).stdout

    def environment(self, more: dict[str, str]) -> dict[str, str]:
        return {
            **os.environ,
            "HOME": str(self.folder),
            "COLUMNS": "200",
            "LANEWAY_LOCAL_CLASSIFIER": "false",
            "LANEWAY_MESSAGES_PER_MINUTE": "100000",
            **self.environ,
            **more,
        }


def executed(
    arguments: Sequence[str], typed: str, folder: Path, environ: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """The same as `in_process.run`, by a Python that was started for it."""
    command = [*COMMAND, *arguments]
    return subprocess.run(
        command, input=typed, capture_output=True, text=True, timeout=100, cwd=folder, env=environ, check=False
    )


def _checked(ended: subprocess.CompletedProcess[str], code: int) -> subprocess.CompletedProcess[str]:
    assert "Traceback" not in ended.stderr, ended.stderr
    assert ended.returncode == code, f"{ended.returncode}\n{ended.stdout}\n{ended.stderr}"
    return ended


class Running:
    """An `up` or a `worker` that has said that it is ready."""

    def __init__(self, process: subprocess.Popen[str], last_line: str) -> None:
        self.process = process
        self.printed: list[str] = []
        self.complaints: list[str] = []
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._readers = [
            threading.Thread(target=self._read, args=pair, daemon=True)
            for pair in ((process.stdout, self.printed), (process.stderr, self.complaints))
        ]
        for reader in self._readers:
            reader.start()
        self._wait_for(last_line)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self, seconds: float = 60) -> int:
        """Its exit code; it must end in time."""
        code = self.process.wait(seconds)
        self._let_go()
        return code

    def stop(self) -> None:
        """The process has ended, politely if possible."""
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(5)
        self._let_go()

    def _let_go(self) -> None:
        for reader in self._readers:
            reader.join(5)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def _read(self, stream: Iterator[str], kept: list[str]) -> None:
        for line in stream:
            kept.append(line.rstrip("\n"))
            self._lines.put(line)
        self._lines.put(None)

    def _wait_for(self, last_line: str) -> None:
        deadline = time.monotonic() + 100
        while not any(line.startswith(last_line) for line in self.printed):
            try:
                self._lines.get(timeout=max(0.1, deadline - time.monotonic()))
            except queue.Empty:
                self.stop()
            assert self.process.poll() is None, "\n".join(self.printed + self.complaints)


def up(shell: Shell, *arguments: str, **environ: str) -> Running:
    """A `laneway up` that is ready."""
    return Running(shell.start("up", *arguments, own_terminal=False, **environ), "Model:")


def free_port() -> int:
    """A port nobody listens on, and none of those the system gives to connections that go out, nor to anybody else."""
    while True:
        port = random.randrange(20_000 + _WORKER, 32_000, _WORKERS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            if port not in _given:
                _given.add(port)
                return port


def postgres_of(home: Path) -> list[int]:
    """The PostgreSQL servers that run for this data directory."""
    found = []
    for process in psutil.process_iter(["pid", "name", "cmdline"]):
        if process.info["name"] == "postgres" and str(home) in " ".join(process.info["cmdline"] or []):
            found.append(process.info["pid"])
    return found


def eventually(true: object, seconds: float = 30) -> None:
    """The condition, a function without arguments, has become true in time."""
    assert callable(true)
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
