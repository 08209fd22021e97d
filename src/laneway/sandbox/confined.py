"""Commands behind the warden: in sandlock, behind Landlock and seccomp alone, or on the host itself."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laneway.sandbox import visible
from laneway.sandbox.contract import NO_GRANT, BoundaryBroken, Grant, Limits, OnStop, Ran, never
from laneway.sandbox.identity import Identity, hand_over, identity_of
from laneway.sandbox.passage import Passage
from laneway.sandbox.process import Launch, run
from laneway.sandbox.proxy import Proxy, Reach

MOUNTED = "/mnt/workspace"
"""Where a command sees the workspace when the warden has mounts of its own: the way to its own place can be closed to
the command's user. The guard takes it for a workspace, which it does not do for /mnt itself."""

_ACCOUNTS = ("/etc/passwd", "/etc/group")
_WARDEN = Path(__file__).with_name("warden.py")
_PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Confined:
    """Landlock with seccomp: by itself (weaker), or as sandlock does it."""

    kind: str
    reach: Reach
    namespaces: bool
    """Whether the warden may have an empty network and mounts of its own: /tmp, and a workspace that all can get to."""

    @property
    def name(self) -> str:
        return self.kind

    @property
    def weaker(self) -> bool:
        return self.kind == "landlock"

    @property
    def off(self) -> str | None:
        return None

    @property
    def reaches_hosts(self) -> bool:
        return self.kind == "sandlock"

    def inside(self, workspace: Path) -> str:
        return MOUNTED if self.namespaces else str(workspace.resolve())

    async def run(
        self, command: str, *, workspace: Path, limits: Limits, grant: Grant = NO_GRANT, on_stop: OnStop = never
    ) -> Ran:
        if grant.hosts and not self.reaches_hosts:
            raise BoundaryBroken("Behind Landlock alone no host can be reached: it cannot tell hosts apart.")
        user = identity_of(workspace)
        if user is not None and not self.namespaces:
            _check_reachable(workspace)
        await asyncio.to_thread(hand_over, workspace, user)
        async with AsyncExitStack() as stack:
            temporary = await stack.enter_async_context(_temporary(user, self.namespaces))
            order = self._order(command, workspace, limits, user, temporary)
            given: list[int] = []
            if grant.hosts:
                way: Passage | Proxy
                if self.namespaces:
                    way = await stack.enter_async_context(Passage.to(grant.hosts, self.reach))
                    given = [way.info, way.gate]
                    order |= {"info": way.info, "gate": way.gate}
                else:
                    way = await stack.enter_async_context(Proxy.on_loopback(grant.hosts, self.reach))
                order["environment"] |= way.environment
                order["reaches"] = [f"tcp://127.0.0.1:{way.port}"]
            folders = [workspace, *([Path(temporary)] if not self.namespaces else [])]
            return await run(_launch(self.name, order, folders, given), limits, on_stop)

    def _order(
        self, command: str, workspace: Path, limits: Limits, user: Identity | None, temporary: str
    ) -> dict[str, Any]:
        inside = self.inside(workspace)
        environment = visible.environment(inside) | {"TMPDIR": temporary, "GIT_CONFIG_NOSYSTEM": "1"}
        return {
            "kind": self.kind, "command": command, "environment": environment, "uid": user.uid if user else None,
            "workspace": str(workspace.resolve()), "inside": inside, "namespaces": self.namespaces,
            "temporary_bytes": limits.temporary_bytes, "memory_bytes": limits.memory_bytes,
            "processes": limits.processes, "reaches": [], "modules": _modules(self.kind),
            "readable": [*visible.SYSTEM, *visible.SETTINGS, *_ACCOUNTS, *_of_proc(self.kind), *visible.DEVICES],
            "accounts": _accounts(user.uid if user else os.geteuid(), inside),
            "writable": [inside, temporary, "/dev/null", "/dev/full", "/dev/zero"],
            "limits": _limits(limits, user, self.kind, self.namespaces),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class OnHost:
    """No boundary at all: for principals whose owner switched host mode on. Limits and kill hold as anywhere."""

    name: str = "host"
    weaker: bool = True
    off: str | None = None if sys.platform == "linux" else "Commands can be run on Linux only."
    reaches_hosts: bool = True

    def inside(self, workspace: Path) -> str:
        return str(workspace.resolve())

    async def run(
        self, command: str, *, workspace: Path, limits: Limits, grant: Grant = NO_GRANT, on_stop: OnStop = never
    ) -> Ran:
        inside = self.inside(workspace)
        environment = visible.environment(inside) | {"HOME": str(Path.home())}
        order: dict[str, Any] = {
            "kind": "host", "command": command, "environment": environment, "uid": None, "inside": inside,
            "namespaces": False, "modules": [], "limits": _limits(limits, None, "host"),
        }  # fmt: skip
        # What it writes on the host is the approver's business, so no folder is watched.
        return await run(_launch(self.name, order, []), limits, on_stop)


def _launch(name: str, order: dict[str, Any], folders: Sequence[Path], given: Sequence[int] = ()) -> Launch:
    status = os.pipe()
    number = os.memfd_create("laneway", 0)
    os.write(number, json.dumps(order | {"status": status[1]}).encode())
    os.lseek(number, 0, os.SEEK_SET)
    # Some modules look for a home as soon as they are imported.
    environment = {"HOME": "/", "LANG": "C.UTF-8"}
    arguments = [sys.executable, "-I", "-S", str(_WARDEN), str(number)]
    return Launch(name, arguments, environment, folders, status, [number, *given])


def _limits(limits: Limits, user: Identity | None, kind: str, namespaces: bool = False) -> dict[str, int]:
    found = {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": limits.cpu_seconds,
        "RLIMIT_DATA": limits.memory_bytes,
        "RLIMIT_NOFILE": limits.open_files,
    }
    if kind != "host":
        found["RLIMIT_FSIZE"] = limits.disk_bytes
    if kind == "landlock":
        found["RLIMIT_NPROC"] = visible.processes(limits, crowded=user is None, own_namespace=namespaces)
    elif kind == "sandlock" and user is not None:
        # sandlock counts processes itself, but not their threads, nor those of its own.
        found["RLIMIT_NPROC"] = 4 * limits.processes + 64
    return found


def _accounts(uid: int, home: str) -> dict[str, str]:
    return {"passwd": visible.passwd(uid, home).decode(), "group": visible.group(uid).decode()}


def _of_proc(kind: str) -> Iterable[str]:
    # sandlock shows a /proc of its own, with the command's processes only.
    return ["/proc"] if kind == "sandlock" else visible.PROCESS_FILES


def _modules(kind: str) -> list[str]:
    """Where the warden finds what it imports."""
    found = importlib.util.find_spec("sandlock") if kind == "sandlock" else None
    return [str(_PACKAGE), *([str(Path(found.origin).parents[1])] if found and found.origin else [])]


def _check_reachable(workspace: Path) -> None:
    """Returns only if the command's user can get to its workspace."""
    for folder in workspace.resolve().parents:
        if not folder.stat().st_mode & 0o001:
            raise BoundaryBroken(
                f"The user that runs commands cannot get through {folder}. Open the way with `chmod o+x {folder}`, "
                "move the data directory (LANEWAY_HOME), or install bubblewrap."
            )


@asynccontextmanager
async def _temporary(user: Identity | None, namespaces: bool) -> AsyncIterator[str]:
    """A folder for temporary files, gone afterwards; where the warden mounts, /tmp itself is one."""
    if namespaces:
        yield "/tmp"  # noqa: S108  the sandbox's own
        return
    folder = tempfile.mkdtemp(prefix="laneway-")
    try:
        if user is not None:
            os.chown(folder, user.uid, user.gid)
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
