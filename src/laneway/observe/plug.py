"""Pulls the plug of a session that is only watched: its process is found by evidence, or nothing is ended at all.

`laneway run` starts an agent and knows its processes. Here somebody else did: a process counts as the session's if it
holds the session's file open, or if it is the only one of that agent in the session's folder while no other session
runs there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import psutil

from laneway.observe.watched import Watched

PROGRAMS = {
    "claude-code": ("claude", "claude-code"),
    "codex": ("codex",),
    "gemini-cli": ("gemini", "gemini-cli"),
    "copilot-cli": ("copilot",),
    "opencode": ("opencode",),
    "pi": ("pi",),
}
_INTERPRETERS = ("node", "bun", "deno", "python", "python3")
GRACE = 2.0
_MOST_REPORTS = 200


@dataclass(frozen=True, slots=True)
class Pulled:
    """What came of it, in words."""

    ended: bool
    text: str


def pull(session: Watched, others: Collection[Watched], grace: float = GRACE) -> Pulled:
    """The session's process and all that it started are gone, or nothing was touched; waits for that."""
    root = process_of(session, others)
    if root is None:
        return Pulled(False, "It was not ended: nobody can tell which process it is. `laneway run` knows its own.")
    pid = root.pid
    left = _end(root, grace)
    if left:
        return Pulled(False, f"Process {pid} was told to end, but {len(left)} of its processes still run.")
    return Pulled(True, f"Ended: process {pid} and everything it started.")


class EndedByUs:
    """When sessions were ended by us: by the plug, or by `laneway run`, whose reports lie in the folder `runs`."""

    def __init__(self, runs: Path | None = None) -> None:
        self.at: dict[Path, datetime] = {}
        """By the session's log."""
        self._runs, self._read = runs, set[str]()

    def look(self) -> None:
        """Reports that came since the last time are known."""
        for report in sorted(self._runs.glob("*.json"))[-_MOST_REPORTS:] if self._runs else ():
            if report.name not in self._read:
                # One that is just being written is read the next time.
                with suppress(OSError, ValueError, KeyError, TypeError):
                    told = json.loads(report.read_bytes())
                    at = datetime.fromisoformat(told["began"]) + timedelta(seconds=told["seconds"])
                    self.at |= {Path(log): at for log in told["logs"]}
                    self._read.add(report.name)


def process_of(session: Watched, others: Collection[Watched]) -> psutil.Process | None:
    """The one process this session can be; None if there is none, or a doubt."""
    programs = list(_programs(session.found.provider))
    holding = _topmost([process for process in programs if _holds(process, session.found.path)])
    if holding:
        return holding[0] if len(holding) == 1 else None
    state = session.state
    if state is None or not state.cwd or session.found.side or _shares_its_folder(session, others):
        return None
    there = _topmost([process for process in programs if _works_in(process, state.cwd)])
    return there[0] if len(there) == 1 else None


def _programs(provider: str) -> Iterable[psutil.Process]:
    """Processes of ours that are this agent; never one that we ourselves run below."""
    above = {os.getpid(), *(process.pid for process in psutil.Process().parents())}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid not in above and process.uids().real == os.getuid() and _is(process, provider):
                yield process


def _is(process: psutil.Process, provider: str) -> bool:
    command = process.cmdline()
    names = [Path(word).name for word in command[:1]]
    if names and names[0] in _INTERPRETERS:
        script = next((Path(word) for word in command[1:] if not word.startswith("-")), Path())
        names = [script.stem, *script.parts[-4:-1]]
    return any(name in PROGRAMS.get(provider, ()) for name in names)


def _holds(process: psutil.Process, path: Path) -> bool:
    try:
        return any(Path(file.path) == path.resolve() for file in process.open_files())
    except psutil.Error:
        return False


def _works_in(process: psutil.Process, folder: str) -> bool:
    try:
        return Path(process.cwd()) == Path(folder).resolve()
    except (psutil.Error, OSError):
        return False


def _shares_its_folder(session: Watched, others: Collection[Watched]) -> bool:
    """Whether another session of this agent is open in the same folder: its process would look the same."""
    state = session.state
    return any(
        other is not session and not other.found.side and other.found.provider == session.found.provider
        and other.state is not None and state is not None and other.state.cwd == state.cwd and not other.state.ended
        for other in others
    )  # fmt: skip


def _topmost(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that no other of them started."""
    pids = {process.pid for process in processes}
    top = []
    for process in processes:
        with suppress(psutil.Error):
            if not pids & {parent.pid for parent in process.parents()}:
                top.append(process)
    return top


def _end(root: psutil.Process, grace: float) -> list[psutil.Process]:
    """Asked to end, then made to; returns what is still there."""
    tree = _tree(root)
    for process in tree:
        with suppress(psutil.Error):
            process.terminate()
    _, alive = psutil.wait_procs(tree, timeout=grace)
    for _ in range(5):
        alive = [process for process in alive if _lives(process)]
        if not alive:
            break
        # What they started meanwhile belongs to them.
        alive = list({process for one in alive for process in (one, *_children(one))})
        for process in alive:
            with suppress(psutil.Error):
                process.kill()
        _, alive = psutil.wait_procs(alive, timeout=0.5)
    return [process for process in alive if _lives(process)]


def _lives(process: psutil.Process) -> bool:
    """Whether it still does anything; what only waits to be noticed by its parent does not."""
    try:
        return process.is_running() and bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _tree(root: psutil.Process) -> list[psutil.Process]:
    found = {root, *_children(root)}
    # An agent that leads a process group has nobody else's processes in it.
    with suppress(OSError):
        if os.getpgid(root.pid) == root.pid:
            found |= {process for process in psutil.process_iter() if _group(process.pid) == root.pid}
    return list(found)


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []
