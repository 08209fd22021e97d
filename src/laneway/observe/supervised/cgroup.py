"""A control group for one run, where the kernel lets us make one: membership survives whatever a process does."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_SECONDS, _PAUSE = 1.0, 0.01


class Group:
    """A folder of cgroup v2. Nobody leaves it by forking, and the kernel ends all in it at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def join(self) -> None:
        """The calling process, and all it will start, belong to the group."""
        with suppress(OSError):
            (self.folder / "cgroup.procs").write_text("0", encoding="ascii")

    def members(self) -> set[int]:
        """The numbers of all in it, and in groups that were made below it."""
        found: set[int] = set()
        for where, _, _ in os.walk(self.folder):
            with suppress(OSError, ValueError):
                found |= set(map(int, (Path(where) / "cgroup.procs").read_text(encoding="ascii").split()))
        # A process of another namespace is seen as 0.
        return found - {0}

    def kill(self) -> None:
        """The kernel has sent KILL to all of them, and to what they fork meanwhile."""
        with suppress(OSError):
            (self.folder / "cgroup.kill").write_text("1", encoding="ascii")

    def close(self) -> None:
        """The group is gone, if nobody is left in it."""
        until = time.monotonic() + _SECONDS
        while self.folder.exists() and not self.members():
            for where, _, _ in os.walk(self.folder, topdown=False):
                with suppress(OSError):
                    Path(where).rmdir()
            if time.monotonic() > until:
                return
            # Somebody who is no longer listed may still be on the way out.
            time.sleep(_PAUSE)


def made(run_id: str) -> Group | None:
    """A new group below our own; None where there is no cgroup v2 or it is not ours to change."""
    ours = _own_folder()
    if ours is None:
        return None
    folder = ours / f"laneway-run-{run_id}"
    try:
        folder.mkdir()
    except OSError:
        return None
    return Group(folder)


def _own_folder() -> Path | None:
    """The folder of the group this process is in."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
        groups = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    inside = next((line[3:] for line in groups if line.startswith("0::")), None)
    for line in mounts:
        fields, _, kind = line.partition(" - ")
        if inside is not None and kind.startswith("cgroup2 "):
            root, place = fields.split()[3:5]
            below = inside.removeprefix(root.rstrip("/")) if inside.startswith(root) else inside
            return Path(place) / below.lstrip("/")
    return None
