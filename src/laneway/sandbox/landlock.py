"""Landlock by its system calls: which files a process may touch, whatever its user may."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_libc = ctypes.CDLL(None, use_errno=True)

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REFER, TRUNCATE, IOCTL_DEV = 1, 2, 4, 8, 1 << 13, 1 << 14, 1 << 15
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READ = EXECUTE | READ_FILE | READ_DIR
_EVERYTHING = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_NEWEST_FILES = 5


def version() -> int:
    """The ABI of this kernel's Landlock; 0 if there is none."""
    return max(0, int(_libc.syscall(_CREATE, None, 0, 1)))


def restrict(readable: Iterable[str], writable: Iterable[str]) -> None:
    """From now on this process and all it starts see these files only, and open no TCP port. Needs no_new_privs."""
    abi = version()
    everything = _EVERYTHING[min(abi, _NEWEST_FILES)]
    ruleset = _ruleset(abi, everything)
    for path in readable:
        _allow(ruleset, path, READ & everything)
    for path in writable:
        _allow(ruleset, path, everything & ~IOCTL_DEV)
    _check(_libc.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)


def _ruleset(abi: int, everything: int) -> int:
    fields = [everything]
    if abi >= 4:
        fields.append(0b11)  # Binding and connecting TCP.
    if abi >= 6:
        fields.append(0b11)  # Abstract Unix sockets and signals to those outside.
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    return _check(_libc.syscall(_CREATE, attributes, len(attributes), 0))


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        at = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(at).st_mode):
            access &= _OF_FILES
        _check(_libc.syscall(_ADD, ruleset, 1, struct.pack("=Qi", access, at), 0))
    finally:
        os.close(at)


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"landlock: {os.strerror(number)}")
    return result
