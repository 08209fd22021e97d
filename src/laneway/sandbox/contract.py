"""What a boundary is: something that runs a command so that only the workspace can be changed, and nothing is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

MEGABYTE = 1024 * 1024
OnStop = Callable[[Callable[[], None]], Callable[[], None]]
"""Registers what ends a run at once; returns how to take that back."""


class Killed(StrEnum):
    """Why a run was ended before its own end."""

    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output"
    DISK = "disk"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one run may use."""

    seconds: float = 60
    """Of wall time."""
    cpu_seconds: int = 120
    """Of each process."""
    memory_bytes: int = 1024 * MEGABYTE
    """Of all processes together; none of them can have more either."""
    processes: int = 128
    open_files: int = 512
    disk_bytes: int = 1024 * MEGABYTE
    """The workspace may hold; one file can be no larger."""
    files: int = 200_000
    """The workspace may hold."""
    temporary_bytes: int = 256 * MEGABYTE
    output_bytes: int = MEGABYTE
    """Kept of stdout and stderr together, beginning and end."""
    flood_bytes: int = 64 * MEGABYTE
    """Of output end the run."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What one run may do beyond the usual."""

    hosts: frozenset[str] = frozenset()
    """Hosts it may reach over HTTP and HTTPS: `host` or `host:port`."""


NO_GRANT = Grant()


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run."""

    stdout: str
    stderr: str
    exit_code: int | None
    """None if it was killed."""
    killed_because: Killed | None
    boundary: str
    seconds: float
    left_out: int = 0
    """Bytes of output that were dropped from the middle."""


class BoundaryBroken(Exception):
    """The command was not started; the message says why and what to do."""


class Boundary(Protocol):
    """Runs commands so that nothing outside the workspace is changed or seen that should not be."""

    @property
    def name(self) -> str: ...

    @property
    def weaker(self) -> bool:
        """Whether every run has to be approved."""
        ...

    @property
    def off(self) -> str | None:
        """Why nothing can be run at all; None if something can."""
        ...

    @property
    def reaches_hosts(self) -> bool:
        """Whether hosts can be granted."""
        ...

    def inside(self, workspace: Path) -> str:
        """Where a command sees the workspace; it starts there."""
        ...

    async def run(
        self, command: str, *, workspace: Path, limits: Limits, grant: Grant = ..., on_stop: OnStop = ...
    ) -> Ran:
        """The command has ended, and nothing it started lives on; BoundaryBroken if it never began."""
        ...


def never(end: Callable[[], None]) -> Callable[[], None]:
    """For runs that nobody stops."""
    return lambda: None
