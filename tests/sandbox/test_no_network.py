"""Ways to a server on this very machine, each tried behind every boundary; none of them leads there."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from uuid import uuid4

import pytest

from laneway.sandbox.boundary import Wanted
from laneway.sandbox.contract import Grant
from tests.sandboxing import SMALL, WALLS, boundary_called, open_folder, python

WAYS = {
    "inherited": """
        for number in range(3, 1024):
            try: os.write(number, word)
            except OSError: pass
    """,
    "tcp": "said(socket.socket(), TCP)",
    "tcp with ipv6": "said(socket.socket(socket.AF_INET6), ('::ffff:127.0.0.1', TCP[1]))",
    "tcp after a free connect": """
        s = socket.socket()
        libc.connect(s.fileno(), bytes(16), 16)  # AF_UNSPEC
        said(s, TCP)
    """,
    "mptcp": "said(socket.socket(2, 1, 262), TCP)",
    "smc": "said(socket.socket(43, 1, 0), TCP)",
    "smc by protocol": "said(socket.socket(2, 1, 256), TCP)",
    "sctp": "said(socket.socket(2, 1, 132), TCP)",
    "sctp datagram": "socket.socket(2, 5, 132).sendto(word, TCP)",
    "dccp": "said(socket.socket(2, 6, 33), TCP)",
    "udp": "socket.socket(2, 2).sendto(word, UDP)",
    "udp-lite": "socket.socket(2, 2, 136).sendto(word, UDP)",
    "raw": "socket.socket(2, 3, 17).sendto(struct.pack('!4H', 9, UDP[1], 8 + len(word), 0) + word, ('127.0.0.1', 0))",
    "packet": "socket.socket(17, 2, 0x300); passed()",
    "vsock": "socket.socket(40, 1); passed()",
    "netlink": """
        s = socket.socket(16, 3, 4)  # NETLINK_SOCK_DIAG: which sockets are there?
        s.settimeout(2)
        s.send(struct.pack("=IHHIIBBBBI48s", 72, 20, 0x301, 1, 0, 2, 6, 0, 0, 0xFFFFFFFF, bytes(48)))
        while (answer := s.recv(65536))[4:6] == b"\\x14\\0":
            if struct.pack("!H", TCP[1]) in answer: passed()
    """,
    "interfaces": """
        s = socket.socket(16, 3, 0)
        s.settimeout(2)
        s.send(struct.pack("=IHHIIBxHiII", 32, 18, 0x301, 1, 0, 0, 0, 0, 0, 0))
        if any(name.encode() + b"\\0" in s.recv(65536) for name in INTERFACES): passed()
    """,
    "fast open with sendto": "socket.socket().sendto(word, 0x20000000, TCP)",
    "fast open with sendmsg": "socket.socket().sendmsg([word], [], 0x20000000, TCP)",
    "fast open with sendmmsg": """
        s = socket.socket()
        vector = (ctypes.c_void_p * 2)(at(word), len(word))
        header = struct.pack("=QIxxxxQQQQixxxxI4x", at(sockaddr(TCP)), 16, ctypes.addressof(vector), 1, 0, 0, 0, 0)
        libc.sendmmsg(s.fileno(), ctypes.create_string_buffer(header), 1, 0x20000000)
    """,
    "fast open with connect": """
        s = socket.socket()
        s.setsockopt(6, 30, 1)  # TCP_FASTOPEN_CONNECT
        said(s, TCP)
    """,
    "mptcp with fast open": "socket.socket(2, 1, 262).sendto(word, 0x20000000, TCP)",
    "io_uring": """
        made = ring(45, 2, 1, 0, 0)  # socket, connect, send
        ring(16, made, 16, at(sockaddr(TCP)), 0)
        ring(26, made, 0, at(word), len(word))
    """,
    "abstract": "said(socket.socket(1), ABSTRACT)",
    "abstract datagram": "socket.socket(1, 2).sendto(word, ABSTRACT + '-datagram')",
    "abstract from a pair": "socket.socketpair(1, 2)[0].sendto(word, ABSTRACT + '-datagram')",
    "file": "said(socket.socket(1), FILE)",
    "file datagram": "socket.socket(1, 2).sendto(word, FILE + '-datagram')",
    "file from a pair": "socket.socketpair(1, 2)[0].sendto(word, FILE + '-datagram')",
    "file from a connected pair": "said(socket.socketpair(1, 2)[0], FILE + '-datagram')",
    "file with sendmsg": "socket.socketpair(1, 2)[0].sendmsg([word], [], 0, FILE + '-datagram')",
    "from outside": """
        s = socket.socket()
        s.listen()  # without bind
        s.settimeout(1)
        open("port", "w").write(str(s.getsockname()[1]))
        s.accept()
        passed()
    """,
}
"""How a command would get a word out, as programs; `said` connects and says it."""

_HELP = """
import ctypes, json, mmap, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
kept = []
def at(data):
    kept.append(ctypes.create_string_buffer(data, len(data)))
    return ctypes.addressof(kept[-1])
def sockaddr(address): return struct.pack("=H", 2) + struct.pack("!H", address[1]) + b"\\x7f\\0\\0\\1" + bytes(8)
def said(s, address):
    s.settimeout(2)
    s.connect(address)
    s.send(word)
def passed(): print("passed", word.decode(), flush=True)
def ring(operation, number, offset, address, length):
    parameters = ctypes.create_string_buffer(120)
    made = libc.syscall(425, 8, parameters)
    if made < 0: raise OSError(ctypes.get_errno(), "io_uring")
    offsets = struct.unpack_from("=30I", parameters)
    tail, array, results = offsets[11], offsets[16], offsets[25]
    size = max(array + 4 * offsets[0], results + 16 * offsets[1])
    rings, entries = mmap.mmap(made, size), mmap.mmap(made, 64 * offsets[0], offset=0x10000000)
    struct.pack_into("=BBHiQQII", entries, 0, operation, 0, 0, number, offset, address, length, 0)
    struct.pack_into("=I", rings, array, 0)
    struct.pack_into("=I", rings, tail, 1)
    libc.syscall(426, made, 1, 1, 1, None, 0)
    return struct.unpack_from("=i", rings, results + 8)[0]
"""


class Server:
    """Listens in every way there is, and notes the words it hears."""

    def __init__(self, folder: Path) -> None:
        self.heard: list[str] = []
        self.name, self.file = f"\0laneway-{uuid4().hex}", str(folder / "socket")
        self._sockets = [
            _bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            _bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            _bound(socket.AF_UNIX, socket.SOCK_STREAM, self.name),
            _bound(socket.AF_UNIX, socket.SOCK_STREAM, self.file),
            _bound(socket.AF_UNIX, socket.SOCK_DGRAM, f"{self.name}-datagram"),
            _bound(socket.AF_UNIX, socket.SOCK_DGRAM, f"{self.file}-datagram"),
        ]
        for path in folder.iterdir():
            path.chmod(0o777)
        self.tcp, self.udp = (one.getsockname() for one in self._sockets[:2])
        self._sockets.append(_bound(socket.AF_INET, socket.SOCK_DGRAM, self.udp, 136))
        self._threads = [threading.Thread(target=self._listen, args=[one], daemon=True) for one in self._sockets]
        for thread in self._threads:
            thread.start()

    def _listen(self, one: socket.socket) -> None:
        while (word := _word(one)) != b"end":
            self.heard.append(word.decode())

    def end(self) -> None:
        """All that was said was heard."""
        for one in self._sockets:
            with socket.socket(one.family, one.type, one.proto) as last:
                last.connect(one.getsockname())
                last.send(b"end")
        for thread in self._threads:
            thread.join()
        for one in self._sockets:
            one.close()


def _word(one: socket.socket) -> bytes:
    if one.type == socket.SOCK_DGRAM:
        return one.recv(100)
    with one.accept()[0] as connection:
        return b"".join(iter(lambda: connection.recv(100), b""))


def _bound(family: int, kind: int, address: object, protocol: int = 0) -> socket.socket:
    made = socket.socket(family, kind, protocol)
    made.bind(address)  # type: ignore[arg-type]
    if kind == socket.SOCK_STREAM:
        made.listen()
    return made


def _knock(workspace: Path, over: threading.Event) -> None:
    """Whoever listens inside is called from outside."""
    while not over.wait(0.02):
        with (
            suppress(OSError, ValueError),
            socket.create_connection(("127.0.0.1", int((workspace / "port").read_text()))),
        ):
            return


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where a server and a workspace lie; everybody may get there."""
    with open_folder() as folder:
        (folder / "server").mkdir()
        (folder / "workspace").mkdir(mode=0o777)
        yield folder


@pytest.fixture
def server(folder: Path) -> Server:
    return Server(folder / "server")


def _program(server: Server) -> str:
    """Tries all ways, one after the other."""
    known = {
        "TCP": server.tcp, "UDP": server.udp, "ABSTRACT": server.name, "FILE": server.file,
        "INTERFACES": [name for _, name in socket.if_nameindex() if name != "lo"],
    }  # fmt: skip
    ways = {name: dedent(code) for name, code in WAYS.items()}
    return python(f"""{_HELP}
globals().update(json.loads({json.dumps(known)!r}))
TCP, UDP = tuple(TCP), tuple(UDP)
for name, code in json.loads({json.dumps(ways)!r}).items():
    word = name.encode()
    try: exec(code)
    except (OSError, ValueError) as error: print(name, error)
print("all were tried")
""")


def _passed(told: str, server: Server) -> list[str]:
    server.end()
    return server.heard + [line.removeprefix("passed ") for line in told.splitlines() if line.startswith("passed ")]


async def test_without_a_boundary_the_ways_lead_there(folder: Path, server: Server) -> None:
    """So that what is not heard behind a boundary is not heard because of it."""
    over = threading.Event()
    threading.Thread(target=_knock, args=[folder / "workspace", over], daemon=True).start()
    with socket.create_connection(server.tcp) as inherited:
        ran = subprocess.run(  # noqa: ASYNC221
            ["bash", "-c", _program(server)], cwd=folder / "workspace", pass_fds=[inherited.fileno()],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    over.set()
    assert ran.stdout.endswith("all were tried\n"), ran.stdout + ran.stderr
    # What an ordinary user of an ordinary kernel can do.
    always = {"inherited", "tcp", "udp", "fast open with connect", "netlink", "from outside"}
    always |= {way for way in WAYS if way.startswith(("abstract", "file"))}
    assert sorted(always - {*_passed(ran.stdout, server)}) == [], ran.stdout


@pytest.mark.parametrize(("name", "namespaces"), WALLS)
async def test_no_way_leads_to_a_server_on_this_machine(
    folder: Path, server: Server, name: Wanted, namespaces: bool
) -> None:
    boundary = await boundary_called(name, namespaces=namespaces)
    workspace, over = folder / "workspace", threading.Event()
    threading.Thread(target=_knock, args=[workspace, over], daemon=True).start()
    told = ""
    with socket.create_connection(server.tcp) as inherited:
        os.set_inheritable(inherited.fileno(), True)
        for hosts in ((), ("example.org",)) if boundary.reaches_hosts else ((),):
            grant = Grant(frozenset(hosts))
            ran = await boundary.run(_program(server), workspace=workspace, limits=SMALL, grant=grant)
            told += f"{hosts}\n{ran.stderr}{ran.stdout}"
            assert ran.stdout.endswith("all were tried\n"), told
    over.set()
    # Nothing was said but by the connection from here, which nobody inherited.
    assert _passed(told, server) == [""], told
