"""Supervised runs in tests: a desk with a fake `claude`, and a look at who is still alive."""

from __future__ import annotations

import json
import os
import secrets
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

AGENT = Path(__file__).with_name("fake_agent.py")
COMMAND = (sys.executable, "-m", "laneway", "run")
PATIENCE = 60.0
"""Seconds a test waits for what should take one; the machine may be busy."""


@dataclass
class Desk:
    """A folder to work in, a home with Claude's logs, and a program called `claude`."""

    root: Path
    token: str = field(default_factory=lambda: f"lwtest-{secrets.token_hex(8)}")

    def __post_init__(self) -> None:
        self.folder, self.bin = self.root / "project", self.root / "bin"
        for folder in (self.folder, self.bin):
            folder.mkdir()
        program = self.bin / "claude"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {AGENT} {self.token} "$@"\n', encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    @property
    def environ(self) -> dict[str, str]:
        return {
            **os.environ,
            "HOME": str(self.root),
            "LANEWAY_HOME": str(self.root / "laneway"),
            "CLAUDE_CONFIG_DIR": str(self.root / "claude"),
            "FAKE_NOTES": str(self.root / "notes"),
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }

    def start(self, *words: str, env: dict[str, str] | None = None, **options: Any) -> subprocess.Popen[str]:
        """`laneway run` has been started; words before `--` are its options."""
        files = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        environ = self.environ | (env or {})
        return subprocess.Popen([*COMMAND, *words], cwd=self.folder, env=environ, text=True, **(files | options))

    def run(self, *words: str, code: int = 0, **options: Any) -> Ended:
        """`laneway run` has ended with this code, and nothing it started is alive."""
        process = self.start(*words, **options)
        out, err = process.communicate(timeout=PATIENCE)
        ended = Ended(process.returncode, out, err, time.time())
        assert "Traceback" not in err, err
        assert ended.code == code, f"{ended.code}\n{out}\n{err}"
        assert self.alive() == [], err
        return ended

    def alive(self) -> list[str]:
        """The command lines of all processes that carry this desk's token; one that has ended is not alive."""
        return [line for line, _ in self._living()]

    def states(self) -> list[str]:
        """The states of everybody alive, as the kernel writes them: T is stopped."""
        return [state for _, state in self._living()]

    def _living(self) -> Iterator[tuple[str, str]]:
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
                state = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
            except OSError:
                continue
            if state not in "ZX" and any(self.token in word for word in words):
                yield f"{folder.name} {' '.join(words)[:200]}", state

    def noted(self, what: str) -> float:
        """When the agent noted this, which has happened."""
        until(lambda: what in self._notes(), what)
        return self._notes()[what]

    def _notes(self) -> dict[str, float]:
        try:
            pairs = (self.root / "notes").read_text(encoding="utf-8").split("\n")[:-1]
        except OSError:
            return {}
        return {name: float(at) for name, at in (line.split() for line in pairs)}

    def report(self) -> dict[str, Any]:
        """The one report that was left."""
        (path,) = (self.root / "laneway" / "runs").glob("*.json")
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return told

    def logs(self) -> list[Path]:
        return sorted((self.root / "claude").rglob("*.jsonl"))


@dataclass(frozen=True)
class Ended:
    """What a run left."""

    code: int
    out: str
    err: str
    at: float


def until(is_so: Callable[[], object], what: str) -> None:
    """It has become true."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, f"this never happened: {what}"
        time.sleep(0.02)
