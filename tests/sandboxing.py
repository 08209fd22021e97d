"""What tests of the sandbox share: every boundary of this machine, folders to work in, and what is left of a run."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import psutil

from laneway.sandbox.boundary import Wanted, choose
from laneway.sandbox.contract import MEGABYTE, Boundary, Limits
from tests.skips import missing

NAMES: tuple[Wanted, ...] = ("bubblewrap", "sandlock", "landlock")
INSTALL = {
    "bubblewrap": "apt install bubblewrap",
    "sandlock": "a kernel with Landlock ABI 6 (Linux 6.12)",
    "landlock": "a kernel with Landlock (Linux 5.13)",
}
SMALL = Limits(
    seconds=20, cpu_seconds=20, memory_bytes=200 * MEGABYTE, processes=48, disk_bytes=30 * MEGABYTE, files=2000,
    temporary_bytes=16 * MEGABYTE, flood_bytes=4 * MEGABYTE,
)  # fmt: skip
_known: dict[str, Boundary] = {}


async def boundary_called(name: Wanted) -> Boundary:
    """The boundary of this name; the test is skipped where there is none."""
    if name not in _known:
        _known[name] = (await choose(name)).boundary
    if why := _known[name].off:
        missing(f"{name} ({why})", INSTALL[name])
    return _known[name]


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


def alive_with(marker: str) -> list[int]:
    """Processes of the whole machine whose command line has this marker."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or ())
        if marker in line and process.info["status"] != psutil.STATUS_ZOMBIE and process.pid != os.getpid():
            found.append(process.pid)
    return found


async def until_alive(marker: str, count: int = 1, seconds: float = 10) -> None:
    """So many processes have this marker."""
    until = time.monotonic() + seconds
    while len(alive_with(marker)) < count:
        assert time.monotonic() < until, f"{alive_with(marker)} of {count} were started"
        await asyncio.sleep(0.02)


async def none_alive_with(marker: str, seconds: float = 1) -> bool:
    """Whether within a second nobody with this marker is alive."""
    until = time.monotonic() + seconds
    while alive_with(marker):
        if time.monotonic() > until:
            return False
        await asyncio.sleep(0.05)
    return True
