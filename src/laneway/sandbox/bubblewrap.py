"""Commands inside bubblewrap: an own root, own processes, no network, a user without any rights."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from laneway.sandbox import seccomp, visible
from laneway.sandbox.contract import NO_GRANT, BoundaryBroken, Grant, Limits, OnStop, Ran, never
from laneway.sandbox.identity import Identity, hand_over, identity_of
from laneway.sandbox.passage import Passage
from laneway.sandbox.process import Launch, run
from laneway.sandbox.proxy import Reach

WORKSPACE = "/workspace"
INSIDE_UID = 1000
"""What the server's own user is called inside, when it is not root."""

_UNTIL_DROPPED = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_DAC_READ_SEARCH")
"""What root needs to become somebody else inside; gone with that."""


class Bubblewrap:
    """The strongest boundary: what is not mounted is not there."""

    name, weaker, off, reaches_hosts = "bubblewrap", False, None, True

    def __init__(self, program: str, reach: Reach) -> None:
        self._program, self._reach = program, reach

    def inside(self, workspace: Path) -> str:
        return WORKSPACE

    async def run(
        self, command: str, *, workspace: Path, limits: Limits, grant: Grant = NO_GRANT, on_stop: OnStop = never
    ) -> Ran:
        user = identity_of(workspace)
        if user is not None and shutil.which("setpriv") is None:
            raise BoundaryBroken("`setpriv` is missing, without which root cannot become somebody else.")
        await asyncio.to_thread(hand_over, workspace, user)
        async with AsyncExitStack() as stack:
            passage = await stack.enter_async_context(Passage.to(grant.hosts, self._reach)) if grant.hosts else None
            launch = self._launch(command, workspace, limits, user, passage)
            return await run(launch, limits, on_stop)

    def _launch(
        self, command: str, workspace: Path, limits: Limits, user: Identity | None, passage: Passage | None
    ) -> Launch:
        status = os.pipe()
        environment = visible.environment(WORKSPACE) | (passage.environment if passage else {})
        files = [_file(visible.passwd(user.uid if user else INSIDE_UID, WORKSPACE)), _file(visible.group(_gid(user)))]
        files += [_file(visible.HOSTS), _file(visible.NSSWITCH)]
        options = [*_walls(user), *_tree(workspace, limits), *_own_files(files), *_set(environment)]
        if seccomp.supported():
            sockets = (*seccomp.UNIX, *seccomp.INTERFACES, *seccomp.INTERNET)
            files.append(_file(seccomp.program(sockets=sockets)))
            options += ["--seccomp", str(files[-1])]
        if passage is not None:
            options += ["--info-fd", str(passage.info), "--block-fd", str(passage.gate)]
            files += [passage.info, passage.gate]
        # By a file, not by the command line: that could be read inside, and names folders outside.
        files.append(_file("".join(f"{option}\0" for option in options).encode()))
        stage = [_stage(limits, user, status[1]), "bash", command]
        arguments = [self._program, "--args", str(files[-1]), "--", "bash", "--norc", "--noprofile", "-c", *stage]
        return Launch(self.name, arguments, {}, [workspace], status, files)


def _gid(user: Identity | None) -> int:
    return user.gid if user else INSIDE_UID


def _walls(user: Identity | None) -> Iterator[str]:
    yield from ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
    yield from ("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL")
    if user is None:
        yield from ("--unshare-user", "--uid", str(INSIDE_UID), "--gid", str(INSIDE_UID))
    else:
        for capability in _UNTIL_DROPPED:
            yield from ("--cap-add", capability)


def _tree(workspace: Path, limits: Limits) -> Iterator[str]:
    """The files a command sees, and nothing else."""
    for folder in ("/etc", "/etc/ssl", "/etc/pki", "/etc/pki/tls", "/var", "/run"):
        # Made on the way to something else, they would be closed to the command's user.
        yield from ("--perms", "0755", "--dir", folder)
    for folder in visible.SYSTEM:
        path = Path(folder)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), folder)
        elif path.exists():
            yield from ("--ro-bind", folder, folder)
    for name in visible.SETTINGS:
        yield from ("--ro-bind-try", name, name)
    yield from ("--proc", "/proc", "--dev", "/dev")
    small = str(min(limits.temporary_bytes, 64 * 1024 * 1024))
    yield from ("--perms", "1777", "--size", small, "--tmpfs", "/dev/shm")  # noqa: S108  the sandbox's own
    yield from ("--perms", "1777", "--size", str(limits.temporary_bytes), "--tmpfs", "/tmp")  # noqa: S108
    yield from ("--symlink", "/tmp", "/var/tmp")  # noqa: S108
    yield from ("--bind", str(workspace.resolve()), WORKSPACE, "--chdir", WORKSPACE)


def _own_files(files: list[int]) -> Iterator[str]:
    names = ("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf")
    for number, name in zip(files, names, strict=True):
        yield from ("--perms", "0644", "--ro-bind-data", str(number), name)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")


def _set(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        yield from ("--setenv", name, value)


def _stage(limits: Limits, user: Identity | None, status: int) -> str:
    """What bash does inside before it becomes the command: limits, then another user, then it says that it is ready."""
    lines = ["echo 1000 >/proc/self/oom_score_adj", *visible.ulimits(limits, crowded=user is None)]
    lines += [f"echo ready >&{status}", f"exec {status}>&-"]
    become = ""
    if user is not None:
        become = (
            f"setpriv --reuid={user.uid} --regid={user.gid} --clear-groups --bounding-set=-all --inh-caps=-all "
            "--no-new-privs "
        )
    return " && ".join([*lines, f'exec {become}bash --norc --noprofile -c "$1"'])


def _file(content: bytes) -> int:
    """An open file with this content that has no name."""
    number = os.memfd_create("laneway", 0)
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
    return number
