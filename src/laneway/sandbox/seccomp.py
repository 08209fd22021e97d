"""A seccomp filter: system calls no command needs, and through which kernels have been broken out of.

The filter is data (a BPF program); bubblewrap loads it from a file, the warden into its own child.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Sequence

EPERM, ENOSYS, EAFNOSUPPORT, ENOTSUP = errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT, errno.ENOTSUP

Socket = tuple[int, int, int]
"""Family, type and protocol."""

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _DATAGRAM, _RAW, _PACKETS = 1, 2, 3, 5
UNIX: tuple[Socket, ...] = tuple((_UNIX, kind, 0) for kind in (_STREAM, _DATAGRAM, _PACKETS))
INTERFACES: tuple[Socket, ...] = ((_NETLINK, _DATAGRAM, 0), (_NETLINK, _RAW, 0))
"""Asks which interfaces there are."""
TCP: tuple[Socket, ...] = ((_INET, _STREAM, 0), (_INET, _STREAM, 6))
INTERNET: tuple[Socket, ...] = (
    *TCP, (_INET, _DATAGRAM, 0), (_INET, _DATAGRAM, 17), (_INET6, _STREAM, 0), (_INET6, _STREAM, 6),
    (_INET6, _DATAGRAM, 0), (_INET6, _DATAGRAM, 17),
)  # fmt: skip
"""What programs use between themselves; only for a network that leads nowhere."""

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""Audit number, and which of the two numbers of a call is meant."""

DENIED = {
    # Mounts and namespaces.
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    # Other processes.
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "perf_event_open": (298, 241),
    # The kernel's own keys, programs, modules, clock and log.
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218), "bpf": (321, 280),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "sethostname": (170, 161), "setdomainname": (171, 162), "syslog": (103, 116), "acct": (163, 89),
    "quotactl": (179, 60), "vhangup": (153, 58), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
    "open_by_handle_at": (304, 265), "lookup_dcookie": (212, 18), "iopl": (172, None), "ioperm": (173, None),
    # Memory that nobody counts.
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
}  # fmt: skip
"""Refused with "not permitted"."""

MISSING = {"clone3": (435, 435), "memfd_create": (319, 279), "memfd_secret": (447, 447)}
"""As if the kernel did not have them: programs know what to do then. clone3 hides its flags from filters."""

IO_URING = {"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427)}
"""Missing too: it makes and connects sockets past every filter."""

SIGNALS = {"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
           "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424)}  # fmt: skip

BY_PATH = {
    "chmod": (90, None, 0), "fchmodat": (268, 53, 0), "fchmodat2": (452, 452, 0), "utime": (132, None, 0),
    "utimes": (235, None, 0), "futimesat": (261, None, 0), "chown": (92, None, EPERM), "lchown": (94, None, EPERM),
    "fchownat": (260, 54, EPERM), "setxattr": (188, 5, ENOTSUP), "lsetxattr": (189, 6, ENOTSUP),
    "removexattr": (197, 14, ENOTSUP), "lremovexattr": (198, 15, ENOTSUP),
}  # fmt: skip
"""Changes to files that Landlock does not see, and the answer they get.

A command that runs as the server's own user could change the mode of any of its files. It is told that it did (0) and
nothing happens: git and tar cannot do without that answer. Changes by an open file stay; Landlock let those through.
"""

_CLONE, _IOCTL, _UTIMENSAT, _TRUNCATE = (56, 220), (16, 29), (280, 88), (76, 45)
_SOCKET, _SOCKETPAIR, _SENDTO, _SENDMSG, _SENDMMSG = (41, 198), (53, 199), (44, 206), (46, 211), (307, 269)
_FAST_OPEN = 0x20000000
"""MSG_FASTOPEN connects while it sends; Landlock looks at connect only."""
_NEW_NAMESPACES = 0x7E020000
"""All CLONE_NEW* flags this call takes: ns, cgroup, uts, ipc, user, pid, net."""
_TERMINAL_INJECTION = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX type into the terminal of whoever watches."""

_LOAD, _MASK, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCH, _FIRST, _SECOND, _THIRD, _FOURTH = 0, 4, 16, 24, 32, 40


def supported() -> bool:
    """Whether the numbers of this machine's system calls are known here."""
    return sys.platform == "linux" and os.uname().machine in _ARCHITECTURES


def program(*, sockets: Sequence[Socket], signals: bool = True, paths: bool = True, truncates: bool = True) -> bytes:
    """The filter: these sockets only; signals, changes and truncation by path only where told so."""
    code, which = _begun()
    denied = DENIED | ({} if signals else SIGNALS) | ({} if truncates else {"truncate": _TRUNCATE})
    for numbers, answer in [*((n, EPERM) for n in denied.values()), *((n, ENOSYS) for n in MISSING.values())]:
        code += _answered(numbers[which], answer)
    code += _if(_CLONE[which], _FIRST, [_op(_ANY_BIT, _NEW_NAMESPACES, 0, 1), _op(_RETURN, _ERRNO | EPERM)])
    injections = [(_op(_EQUAL, one, 0, 1), _op(_RETURN, _ERRNO | EPERM)) for one in _TERMINAL_INJECTION]
    code += _if(_IOCTL[which], _SECOND, [op for pair in injections for op in pair])
    code += [] if paths else _without_paths(which)
    return b"".join([*code, *_network(which, sockets), _op(_RETURN, _ALLOW)])


def network_program(*, sockets: Sequence[Socket], paths: bool) -> bytes:
    """A filter for these sockets and changes by path; for those who have a filter for the rest."""
    code, which = _begun()
    code += [] if paths else _without_paths(which)
    return b"".join([*code, *_network(which, sockets), _op(_RETURN, _ALLOW)])


def _begun() -> tuple[list[bytes], int]:
    """The number of the call is loaded, if it is one of this machine's; and which of two numbers is meant."""
    audit, which = _ARCHITECTURES[os.uname().machine]
    code = [_op(_LOAD, _ARCH), _op(_EQUAL, audit, 1, 0), _op(_RETURN, _KILL), _op(_LOAD, _NUMBER)]
    if which == 0:
        # The x32 names of the same calls.
        code += [_op(_AT_LEAST, 0x40000000, 0, 1), _op(_RETURN, _ERRNO | ENOSYS)]
    return code, which


def _network(which: int, sockets: Sequence[Socket]) -> list[bytes]:
    """These sockets and no others, by no other way."""
    code = [op for numbers in IO_URING.values() for op in _answered(numbers[which], ENOSYS)]
    for numbers, flags in ((_SENDTO, _FOURTH), (_SENDMSG, _THIRD), (_SENDMMSG, _FOURTH)):
        code += _if(numbers[which], flags, [_op(_ANY_BIT, _FAST_OPEN, 0, 1), _op(_RETURN, _ERRNO | ENOTSUP)])
    # One of a pair of datagram sockets can send to any name, as if it had been made alone.
    pairs = [one for one in UNIX if one in sockets or one[1] != _DATAGRAM]
    for numbers, allowed in ((_SOCKET, sockets), (_SOCKETPAIR, pairs)):
        refused = _op(_RETURN, _ERRNO | (EAFNOSUPPORT if allowed else EPERM))
        code += _if(numbers[which], _FIRST, [*(op for one in allowed for op in _exactly(one)), refused])
    return code


def _exactly(one: Socket) -> list[bytes]:
    family, kind, protocol = one
    return [
        _op(_LOAD, _FIRST), _op(_EQUAL, family, 0, 6), _op(_LOAD, _SECOND), _op(_MASK, 0xF), _op(_EQUAL, kind, 0, 3),
        _op(_LOAD, _THIRD), _op(_EQUAL, protocol, 0, 1), _op(_RETURN, _ALLOW),
    ]  # fmt: skip


def _without_paths(which: int) -> list[bytes]:
    code = [op for *numbers, answer in BY_PATH.values() for op in _answered(numbers[which], answer or 0)]
    # Without a path it sets the times of an open file.
    told = [_op(_EQUAL, 0, 1, 0), _op(_RETURN, _ERRNO)]
    return code + _if(_UTIMENSAT[which], _SECOND, [*told, _op(_LOAD, _SECOND + 4), *told])


def _answered(number: int | None, answer: int) -> list[bytes]:
    return [] if number is None else [_op(_EQUAL, number, 0, 1), _op(_RETURN, _ERRNO | answer)]


def _if(number: int, argument: int, then: list[bytes]) -> list[bytes]:
    """For this call, `then` decides by the low half of an argument; for others the number stays loaded."""
    body = [_op(_LOAD, argument), *then, _op(_RETURN, _ALLOW)]
    return [_op(_EQUAL, number, 0, len(body)), *body]


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def install(code: bytes) -> None:
    """The filter holds for this process and all it starts; it cannot be taken away. Needs no_new_privs."""
    libc = ctypes.CDLL(None, use_errno=True)
    given = _Program(len(code) // 8, code)
    if libc.prctl(22, 2, ctypes.byref(given), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")
