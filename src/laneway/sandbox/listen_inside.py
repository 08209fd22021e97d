"""A program of its own (`python -I -S listen_inside.py PID FD PORT`): makes a socket in the network of a process.

The socket listens on loopback there and is handed out through FD, a Unix socket.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import sys

NEW_NET, OWNER_OF_NAMESPACE, FREEBIND = 0x40000000, 0xB701, 15


def main() -> None:
    pid, out, port = map(int, sys.argv[1:])
    with socket.socket(fileno=out) as answer:
        try:
            listening = listen(pid, port)
        except OSError as error:
            answer.send(str(error).encode())
        else:
            socket.send_fds(answer, [b"listening"], [listening.fileno()])


def listen(pid: int, port: int) -> socket.socket:
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    if os.geteuid() != 0:
        # Whoever made a user namespace rules in it, and over the networks made from there.
        enter(fcntl.ioctl(network, OWNER_OF_NAMESPACE), 0)
    enter(network, NEW_NET)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # The loopback device may not be up yet.
    listening.setsockopt(socket.IPPROTO_IP, FREEBIND, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen(64)
    return listening


def enter(namespace: int, kind: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, kind) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main()
