"""What every command sees of the system it runs on, whatever the boundary: programs, and what programs need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from laneway.sandbox.contract import Limits

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
"""Read-only."""

SETTINGS = tuple(
    f"/etc/{name}"
    for name in (
        *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld-musl-x86_64.path", "alternatives", "localtime", "timezone"),
        *("os-release", "debian_version", "redhat-release", "lsb-release", "locale.alias", "locale.conf", "mime.types"),
        *("magic", "protocols", "services", "terminfo", "inputrc", "python3", "perl", "java-17-openjdk", "fonts"),
        *("ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem", "ca-certificates", "pki/ca-trust", "pki/tls/certs"),
        *("pki/tls/cert.pem", "pki/tls/openssl.cnf", "crypto-policies", "bash.bashrc", "profile", "shells"),
    )
)
"""Of /etc only this: no accounts, keys, certificates' secrets, hosts or settings of services."""

PROCESS_FILES = tuple(
    f"/proc/{name}"
    for name in ("uptime", "loadavg", "meminfo", "cpuinfo", "stat", "vmstat", "version", "filesystems", "sys/kernel",
                 "sys/vm/overcommit_memory", "sys/fs/file-nr")
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

HOSTS = b"127.0.0.1 localhost\n::1 localhost\n"
NSSWITCH = b"passwd: files\ngroup: files\nhosts: files dns\n"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def environment(workspace: str) -> dict[str, str]:
    """All a command finds in its environment."""
    return {"PATH": PATH, "HOME": workspace, "LANG": "C.UTF-8", "TERM": "dumb"}


def passwd(uid: int, home: str) -> bytes:
    """The users a command sees: root, itself and nobody."""
    return f"root:x:0:0::/:/bin/sh\nsandbox:x:{uid}:{uid}::{home}:/bin/bash\n{_NOBODY}:/:/bin/false\n".encode()


def group(gid: int) -> bytes:
    return f"root:x:0:\nsandbox:x:{gid}:\nnogroup:x:65534:\n".encode()


_NOBODY = "nobody:x:65534:65534:"


def ulimits(limits: Limits, *, crowded: bool) -> Iterator[str]:
    """The limits of one process, as bash sets them."""
    yield f"ulimit -c 0 -t {limits.cpu_seconds} -d {limits.memory_bytes // 1024} -n {limits.open_files}"
    yield f"ulimit -f {limits.disk_bytes // 1024} -u {processes(limits, crowded=crowded)}"


def processes(limits: Limits, *, crowded: bool, own_namespace: bool = True) -> int:
    """The process limit; where the kernel counts others' processes too (`crowded`), those come on top."""
    crowded = crowded and not (own_namespace and _counts_by_namespace())
    return limits.processes + (tasks_of(os.getuid()) if crowded else 0)


def _counts_by_namespace() -> bool:
    release = os.uname().release.split(".")
    return (int(release[0]), int(release[1].split("-")[0])) >= (5, 14)


def tasks_of(uid: int) -> int:
    """How many processes and threads this user has now."""
    count = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                count += len(list((folder / "task").iterdir())) if folder.stat().st_uid == uid else 0
            except OSError:
                continue
    return count
