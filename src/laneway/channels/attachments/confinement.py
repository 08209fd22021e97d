"""Walls around a process that reads what strangers sent: little memory and time, no network, nothing to write."""

from __future__ import annotations

import ctypes
import resource
import sys
from pathlib import Path

_SET_PDEATHSIG, _SET_NO_NEW_PRIVS, _SIGKILL = 1, 38, 9


def confine(seconds: float, memory_bytes: int) -> None:
    """From here on this process can compute, read programs and libraries, and write to its open files only."""
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_CPU", int(seconds) + 1)
    _limit("RLIMIT_AS", memory_bytes)
    _limit("RLIMIT_FSIZE", 0)
    _limit("RLIMIT_NOFILE", 64)
    _limit("RLIMIT_NPROC", 0)
    if sys.platform == "linux":
        _wall_up()


def _limit(name: str, most: int) -> None:
    number = getattr(resource, name)
    ceiling = resource.getrlimit(number)[1]
    most = most if ceiling == resource.RLIM_INFINITY else min(most, ceiling)
    resource.setrlimit(number, (most, most))


def _wall_up() -> None:
    from laneway.sandbox import landlock, seccomp

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if landlock.version() >= 1:
        landlock.restrict(readable(), [])
    if seccomp.supported():
        seccomp.install(seccomp.program(sockets=(), signals=False, paths=False, truncates=False))


def readable() -> list[str]:
    """What programs and Python need to see of this machine."""
    from laneway.sandbox import visible

    package = Path(__file__).parents[3]
    return [*visible.SYSTEM, *visible.SETTINGS, *visible.DEVICES, sys.prefix, sys.base_prefix, str(package)]
