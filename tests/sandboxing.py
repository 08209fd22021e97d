"""What tests of the sandbox share: every boundary of this machine, folders to work in, and what is left of a run."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import psutil
import pytest

from laneway.sandbox.boundary import Wanted, choose
from laneway.sandbox.confined import Confined
from laneway.sandbox.contract import MEGABYTE, Boundary, Limits, Ran
from tests.skips import missing

NAMES: tuple[Wanted, ...] = ("bubblewrap", "sandlock", "landlock")
WALLS: tuple[tuple[Wanted, bool], ...] = (
    ("bubblewrap", True), ("sandlock", True), ("sandlock", False), ("landlock", True), ("landlock", False),
)  # fmt: skip
"""Every boundary, with namespaces and, where it can do without, by filters alone."""
INSTALL = {
    "auto": "apt install bubblewrap",
    "bubblewrap": "apt install bubblewrap",
    "sandlock": "a kernel with Landlock ABI 6 (Linux 6.12)",
    "landlock": "a kernel with Landlock (Linux 5.13)",
}
SMALL = Limits(
    seconds=20, cpu_seconds=20, memory_bytes=200 * MEGABYTE, processes=48, disk_bytes=30 * MEGABYTE, files=2000,
    temporary_bytes=16 * MEGABYTE, flood_bytes=4 * MEGABYTE,
)  # fmt: skip
_known: dict[str, Boundary] = {}


@pytest.fixture(params=NAMES)
async def boundary(request: pytest.FixtureRequest) -> Boundary:
    """Each boundary of this machine in turn."""
    name: Wanted = request.param
    return await boundary_called(name)


@pytest.fixture
async def strongest() -> Boundary:
    """The boundary that is taken on this machine; the test is skipped where there is none."""
    return await boundary_called("auto")


@pytest.fixture
async def strong(strongest: Boundary) -> Boundary:
    """That boundary; the test is skipped where every command asks behind it."""
    if strongest.weaker:
        missing("a boundary stronger than landlock", INSTALL["auto"])
    return strongest


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A thread's folder, as deep in a home as a real one."""
    folder = tmp_path / "home" / "workspaces" / "thread"
    folder.mkdir(parents=True)
    return folder


def limited(seconds: float) -> Limits:
    return replace(SMALL, seconds=seconds)


async def tried(boundary: Boundary, workspace: Path, command: str, limits: Limits = SMALL) -> Ran:
    return await boundary.run(command, workspace=workspace, limits=limits)


async def boundary_called(name: Wanted, *, namespaces: bool = True) -> Boundary:
    """The boundary of this name, or as it is where namespaces are refused; the test is skipped where there is none."""
    if name not in _known:
        _known[name] = (await choose(name)).boundary
    if why := _known[name].off:
        missing(f"{'a boundary' if name == 'auto' else name} ({why})", INSTALL[name])
    found = _known[name]
    return found if namespaces or not isinstance(found, Confined) else replace(found, namespaces=False)


@contextmanager
def open_folder(parent: str = "/var/tmp") -> Iterator[Path]:
    """A folder that everybody on the machine may read and write, so that only a boundary can protect it."""
    folder = Path(tempfile.mkdtemp(prefix="laneway-test-", dir=parent))
    folder.chmod(0o777)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def python(code: str) -> str:
    """The command that runs this program inside."""
    return f"python3 - <<'END_OF_PROGRAM'\n{dedent(code)}\nEND_OF_PROGRAM\n"


def alive_with(marker: str, *, started_by_it: bool = False) -> list[int]:
    """Processes of the whole machine whose command line has this marker, or begins with it."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or ())
        if (
            (line.startswith(marker) if started_by_it else marker in line)
            and process.info["status"] != psutil.STATUS_ZOMBIE
            and process.pid != os.getpid()
        ):
            found.append(process.pid)
    return found


async def until_alive(marker: str, count: int = 1, seconds: float = 30) -> None:
    """So many processes were started by this very command."""
    until = time.monotonic() + seconds
    while len(found := alive_with(marker, started_by_it=True)) < count:
        assert time.monotonic() < until, f"{len(found)} of {count} were started"
        await asyncio.sleep(0.02)


async def none_alive_with(marker: str, seconds: float = 20) -> bool:
    """Whether soon nobody with this marker is alive: what was killed still needs a moment of the processor to die."""
    until = time.monotonic() + seconds
    while alive_with(marker):
        if time.monotonic() > until:
            return False
        await asyncio.sleep(0.05)
    return True
