"""Lists the processes of a run: all below the keeper, all in its control group, and all that carry its mark."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from laneway.observe.supervised.cgroup import Group
from laneway.observe.supervised.order import MARK

_LINUX = sys.platform == "linux"
_ENDED = ("Z", "X")


@dataclass(frozen=True, slots=True)
class Process:
    """A living process; the time it began tells it from a later one with the same number."""

    pid: int
    parent: int
    began: int
    state: str
    name: str

    @property
    def stopped(self) -> bool:
        return self.state in ("T", "t")


class Tree:
    """The processes of one run, wherever they went. `root` and `spared` are ours and never in it."""

    def __init__(self, run_id: str, root: int, *, group: Group | None = None, spared: Iterable[int] = ()) -> None:
        self.root, self.group = root, group
        self._spared = {root, os.getpid(), *spared}
        self._mark = f"{MARK}={run_id}".encode()

    def living(self, *, marked: bool = True) -> list[Process]:
        """Everybody who is alive now; `marked` looks into every environment, too, which takes longer."""
        everybody = {process.pid: process for process in processes()}
        ours = below(self.root, everybody.values())
        if self.root not in everybody:
            # Without the keeper, those it had adopted are ours.
            ours |= below(os.getpid(), everybody.values())
        ours |= {pid for pid in everybody if _session_of(pid) == self.root}
        ours |= self.group.members() if self.group else set()
        if marked:
            ours |= {pid for pid in everybody if pid not in ours and self._is_marked(pid)}
        return [everybody[pid] for pid in sorted(ours - self._spared) if pid in everybody]

    def _is_marked(self, pid: int) -> bool:
        try:
            if _LINUX:
                return self._mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            name, _, run_id = self._mark.decode().partition("=")
            return psutil.Process(pid).environ().get(name) == run_id
        except (OSError, psutil.Error):
            return False


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def below(root: int, everybody: Iterable[Process]) -> set[int]:
    """The numbers of all descendants."""
    children: dict[int, list[int]] = {}
    for process in everybody:
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    queue = [root]
    while queue:
        for child in children.get(queue.pop(), []):
            if child not in found:
                found.add(child)
                queue.append(child)
    return found


def processes() -> list[Process]:
    """Everything that runs on this machine and can be seen; what has ended and waits to be buried is not among it."""
    if not _LINUX:
        return [found for process in psutil.process_iter() if (found := _by_psutil(process))]
    return [found for name in os.listdir("/proc") if name.isdecimal() and (found := look(int(name)))]  # noqa: PTH208


def look(pid: int) -> Process | None:
    """The process with this number, if it is alive."""
    if not _LINUX:
        with suppress(psutil.Error):
            return _by_psutil(psutil.Process(pid))
        return None
    try:
        line = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name may hold anything, even parentheses; the rest follows the last one.
    head, _, rest = line.rpartition(")")
    fields = rest.split()
    if len(fields) < 20 or fields[0] in _ENDED:
        return None
    return Process(pid, int(fields[1]), int(fields[19]), fields[0], head.partition("(")[2])


def _by_psutil(process: psutil.Process) -> Process | None:
    try:
        with process.oneshot():
            status = process.status()
            state = "T" if status == psutil.STATUS_STOPPED else "Z" if status == psutil.STATUS_ZOMBIE else "S"
            if state == "Z":
                return None
            return Process(process.pid, process.ppid(), int(process.create_time() * 100), state, process.name())
    except psutil.Error:
        return None


def send(process: Process, number: int) -> bool:
    """The signal has been sent to exactly this process; False if it is gone or not ours to signal."""
    try:
        return _precisely(process, number) if hasattr(os, "pidfd_open") else _by_number(process, number)
    except (ProcessLookupError, PermissionError):
        return False


def _precisely(process: Process, number: int) -> bool:
    # The number may have been given to another process; held by a file descriptor it cannot be.
    handle = os.pidfd_open(process.pid)
    try:
        now = look(process.pid)
        if now is None or now.began != process.began:
            return False
        signal.pidfd_send_signal(handle, number)
        return True
    finally:
        os.close(handle)


def _by_number(process: Process, number: int) -> bool:
    now = look(process.pid)
    if now is None or now.began != process.began:
        return False
    os.kill(process.pid, number)
    return True
