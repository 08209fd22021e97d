"""Which boundary this machine gives us: the strongest one that really ran something."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from laneway.sandbox import seccomp
from laneway.sandbox.bubblewrap import Bubblewrap
from laneway.sandbox.confined import Confined
from laneway.sandbox.contract import NO_GRANT, Boundary, BoundaryBroken, Grant, Limits, OnStop, Ran, never
from laneway.sandbox.proxy import Reach, Refuses

Wanted = Literal["auto", "bubblewrap", "sandlock", "landlock", "off"]
INSTALL = "Install bubblewrap (`apt install bubblewrap`)."
SANDLOCK_ABI = 6
_PROBE = "echo walls; test ! -e /etc/shadow || ! head -c 1 /etc/shadow"
_PROBE_SECONDS = 20
_NOWHERE = Refuses()
_STRANGE_PROCESSOR = "The system calls of this machine's processor are not known here."


@dataclass(frozen=True, slots=True)
class Off:
    """No boundary: nothing is run, and everybody is told why."""

    off: str
    name: str = "none"
    weaker: bool = True
    reaches_hosts: bool = False

    def inside(self, workspace: Path) -> str:
        return str(workspace)

    async def run(
        self, command: str, *, workspace: Path, limits: Limits, grant: Grant = NO_GRANT, on_stop: OnStop = never
    ) -> Ran:
        raise BoundaryBroken(self.off)


@dataclass(frozen=True, slots=True)
class Choice:
    """The boundary taken, and what was wrong with those before it."""

    boundary: Boundary
    passed_over: dict[str, str]


async def choose(wanted: Wanted = "auto", reach: Reach = _NOWHERE, platform: str = sys.platform) -> Choice:
    """The strongest boundary that works here, or the one that was asked for; tried out by running something."""
    if wanted == "off":
        return Choice(Off("Running commands is switched off (LANEWAY_SANDBOX=off)."), {})
    if platform != "linux":
        return Choice(Off(f"Commands need a boundary that only Linux has; this is {platform}."), {})
    wrong: dict[str, str] = {}
    for name, candidate in _candidates(reach):
        if wanted in ("auto", name):
            try:
                boundary = await _tried(candidate())
            except BoundaryBroken as error:
                # Of several ways to the same boundary, the first complaint is the telling one.
                wrong.setdefault(name, str(error))
            else:
                if complaint := wrong.pop(name, None):
                    wrong["namespaces"] = complaint
                return Choice(boundary, wrong)
    listed = " ".join(f"{name}: {complaint}" for name, complaint in wrong.items())
    return Choice(Off(f"No boundary works here, so no command is run. {listed}"), wrong)


def _candidates(reach: Reach) -> Iterator[tuple[str, Callable[[], Boundary]]]:
    yield "bubblewrap", lambda: _bubblewrap(reach)
    for namespaces in (True, False):
        yield "sandlock", lambda namespaces=namespaces: _sandlock(reach, namespaces)  # type: ignore[misc]
    for namespaces in (True, False):
        yield "landlock", lambda namespaces=namespaces: _landlock(reach, namespaces)  # type: ignore[misc]


def _bubblewrap(reach: Reach) -> Boundary:
    program = shutil.which("bwrap")
    if program is None:
        raise BoundaryBroken("It is not installed.")
    return Bubblewrap(program, reach)


def _sandlock(reach: Reach, namespaces: bool) -> Boundary:
    from laneway.sandbox import landlock

    if landlock.version() < SANDLOCK_ABI:
        raise BoundaryBroken(f"It needs Landlock ABI {SANDLOCK_ABI}; this kernel has {landlock.version()}.")
    if not seccomp.supported():
        raise BoundaryBroken(_STRANGE_PROCESSOR)
    return Confined("sandlock", reach, namespaces)


def _landlock(reach: Reach, namespaces: bool) -> Boundary:
    from laneway.sandbox import landlock

    if landlock.version() < 1:
        raise BoundaryBroken("This kernel has none, or it is not switched on.")
    if not seccomp.supported():
        raise BoundaryBroken(_STRANGE_PROCESSOR)
    return Confined("landlock", reach, namespaces)


async def _tried(boundary: Boundary) -> Boundary:
    """The boundary, after it ran a command that could write to its workspace and not read a secret."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="laneway-probe-"))
    try:
        ran = await boundary.run(f"{_PROBE} && echo held > proof", workspace=folder, limits=Limits(_PROBE_SECONDS))
        if ran.exit_code != 0 or not await asyncio.to_thread((folder / "proof").exists):
            raise BoundaryBroken(f"It did not hold: {ran.stderr.strip()[:200] or ran.killed_because or ran.exit_code}")
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    return boundary
