"""A program of its own (`python -I -S warden.py FD`): starts one command behind Landlock, in sandlock, or on the host.

It adopts whatever the command leaves behind, and when the command has ended, or the server has, it kills all of that.
It is started as root where the server is root, and its child becomes somebody else. What it is to do it reads as JSON
from an open file.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
import time
from typing import Any, NoReturn

libc = ctypes.CDLL(None, use_errno=True)
SET_PDEATHSIG, SET_DUMPABLE, SET_CHILD_SUBREAPER, SET_NO_NEW_PRIVS = 1, 4, 36, 38
NEW_MOUNTS, NEW_USER, NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
PRIVATE, RECURSIVE, BIND, NOSUID, NODEV = 1 << 18, 1 << 14, 1 << 12, 2, 4
SET_FLAGS, UP = 0x8914, 1
Order = dict[str, Any]


def main() -> NoReturn:
    with os.fdopen(int(sys.argv[1]), encoding="utf-8") as file:
        order: Order = json.load(file)
    server = os.getppid()
    libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: leave(143))
    libc.prctl(SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != server:
        # It died before it could be watched.
        os._exit(1)
    try:
        prepare(order)
    except (OSError, ImportError) as error:
        os.write(order["status"], f"{error}".encode())
        os._exit(1)
    child = os.fork()
    if child == 0:
        begin(order)
    os.close(order["status"])
    leave(code_of(child))


def code_of(child: int) -> int:
    """The exit code of the command, as shells count it; orphans that end meanwhile are buried."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def leave(code: int) -> NoReturn:
    """Everything below is dead, and so is this."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    until = time.monotonic() + 3
    while time.monotonic() < until:
        below = children(os.getpid())
        for pid in below:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0 if below else os.WNOHANG)
        except ChildProcessError:
            break
    os._exit(code)


def children(pid: int) -> list[int]:
    """Everybody below, whatever session or group they went to."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:  # noqa: PTH123
                for child in map(int, file.read().split()):
                    found += [child, *children(child)]
    return found


def prepare(order: Order) -> None:
    """What needs root, or modules that will be out of sight later."""
    sys.path[:0] = order["modules"]
    if order["kind"] == "sandlock":
        import sandlock  # noqa: F401
    if order["kind"] != "host":
        from laneway.sandbox import landlock, seccomp  # noqa: F401
    if order["namespaces"]:
        enter_namespaces()
        mount(None, "/", None, PRIVATE | RECURSIVE)
        # Entered first: it may itself lie in what is about to be covered.
        os.chdir(order["workspace"])
        mount("tmpfs", os.path.dirname(order["inside"]), "tmpfs", NOSUID | NODEV, "size=64k,mode=0755")  # noqa: PTH120
        os.mkdir(order["inside"])  # noqa: PTH102
        mount(".", order["inside"], None, BIND | RECURSIVE)
        mount("tmpfs", "/tmp", "tmpfs", NOSUID | NODEV, f"size={order['temporary_bytes']},mode=1777")  # noqa: S108
        for name, text in order["accounts"].items():
            with open(f"/tmp/.{name}", "w", encoding="ascii") as file:  # noqa: PTH123, S108
                file.write(text)
            mount(f"/tmp/.{name}", f"/etc/{name}", None, BIND)  # noqa: S108
    if "gate" in order:
        os.write(order["info"], json.dumps({"child-pid": os.getpid()}).encode())
        # A proxy listens in this network when the gate opens.
        if not os.read(order["gate"], 1):
            os._exit(1)
        os.close(order["info"])
        os.close(order["gate"])


def enter_namespaces() -> None:
    """An empty network and mounts of its own; without root in a user namespace, whose rights end at the next exec."""
    uid, gid = os.geteuid(), os.getegid()
    check(libc.unshare(NEW_MOUNTS | NEW_NETWORK | (NEW_USER if uid else 0)), "unshare")
    if uid:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123
                file.write(text)
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sH14x", b"lo", UP))


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind, options)]
    check(libc.mount(*texts[:3], ctypes.c_ulong(flags), texts[3]), f"mount {target}")


def check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def begin(order: Order) -> NoReturn:
    """This process is the command, or has said why not."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        limit(order)
        os.chdir(order["inside"])
        become(order["uid"])
        START[order["kind"]](order)
    except (OSError, RuntimeError, ValueError) as error:
        with contextlib.suppress(OSError):
            os.write(order["status"], f"{error}".encode())
    finally:
        # Whatever happened, this copy of the warden must not go on as one.
        os._exit(1)


def limit(order: Order) -> None:
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123
        file.write("1000")
    for name, most in order["limits"].items():
        number = getattr(resource, name)
        ceiling = resource.getrlimit(number)[1]
        most = most if ceiling == resource.RLIM_INFINITY else min(most, ceiling)
        resource.setrlimit(number, (most, most))


def become(uid: int | None) -> None:
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def on_host(order: Order) -> NoReturn:
    ready(order)
    os.execve("/bin/bash", bash(order), order["environment"])  # noqa: S606  bash is what was asked for


def in_landlock(order: Order) -> NoReturn:
    from laneway.sandbox import landlock, seccomp

    own_user = order["uid"] is not None
    libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    landlock.restrict(order["readable"], order["writable"])
    signals = own_user or landlock.version() >= 6
    truncates = own_user or landlock.version() >= 3
    filter_code = seccomp.program(sockets=(), signals=signals, paths=own_user, truncates=truncates)
    ready(order)
    seccomp.install(filter_code)
    os.execve("/bin/bash", bash(order), order["environment"])  # noqa: S606  bash is what was asked for


def in_sandlock(order: Order) -> NoReturn:
    import sandlock

    from laneway.sandbox import seccomp

    # sandlock looks neither at protocols nor at MSG_FASTOPEN, nor at paths; of two filters the stricter answer counts.
    # It holds for the supervisor too, which needs no more.
    libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    sockets = (*seccomp.UNIX, *seccomp.INTERFACES, *(seccomp.TCP if order["reaches"] else ()))
    seccomp.install(seccomp.network_program(sockets=sockets, paths=order["uid"] is not None))
    # Changing the user made this process unreadable to itself, and sandlock looks at its child through /proc.
    libc.prctl(SET_DUMPABLE, 1, 0, 0, 0)
    sandbox = sandlock.Sandbox(
        fs_readable=[path for path in order["readable"] if os.path.exists(path)],  # noqa: PTH110
        fs_writable=order["writable"],
        net_allow=order["reaches"],
        max_memory=order["memory_bytes"],
        max_processes=order["processes"],
        # A socket that listens without having been bound is heard by the whole network, and Landlock does not see it.
        extra_deny_syscalls=["memfd_create", *(["listen"] if order["reaches"] else [])],
        clean_env=True,
        env=order["environment"],
        cwd=order["inside"],
        name=f"sandbox-{os.getpid()}",
    )
    # Asked to end, the command may comply; its supervisor has to live until then.
    signal.signal(signal.SIGTERM, lambda *_: None)
    running = sandbox.popen(bash(order))
    ready(order)
    result = running.wait()
    if result.reason is sandlock.ExitReason.EXITED:
        os._exit(result.exit_code)
    os._exit(128 + result.signal if result.signal > 0 else 137)


def bash(order: Order) -> list[str]:
    return ["/bin/bash", "--norc", "--noprofile", "-c", order["command"]]


def ready(order: Order) -> None:
    os.write(order["status"], b"ready")
    os.close(order["status"])


START = {"host": on_host, "landlock": in_landlock, "sandlock": in_sandlock}

if __name__ == "__main__":
    main()
