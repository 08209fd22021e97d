"""The one way out of the sandbox: an HTTP proxy that goes to granted hosts only."""

from __future__ import annotations

import asyncio
import base64
import hmac
import re
import secrets
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Protocol
from urllib.parse import urlsplit

USUAL_PORTS = (80, 443)
"""Those that a granted host without a port means."""

_MOST_HEAD, _HEAD_SECONDS, _CONNECT_SECONDS = 32_768, 15, 15
_MOST_CONNECTIONS = 64
_HOP_BY_HOP = ("proxy-authorization", "proxy-connection", "connection", "keep-alive", "host")
_ENTRY = re.compile(
    r"(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]{1,253}|[0-9a-fA-F:]*:[0-9a-fA-F:.]+)(?::(?P<port>\d{1,5}))?"
)


class HostClosed(Exception):
    """Nobody goes there; the message says why."""


class Reach(Protocol):
    """Knows which addresses may be connected to."""

    async def addresses(self, host: str, port: int, granted: frozenset[str]) -> list[str]:
        """All addresses of a granted host, fit to be connected to; else HostClosed."""
        ...


class Refuses:
    """Reaches nothing."""

    async def addresses(self, host: str, port: int, granted: frozenset[str]) -> list[str]:
        raise HostClosed("No host can be reached here.")


def parsed(entry: str) -> tuple[str, int | None]:
    """A granted host and its port, or ValueError."""
    match = _ENTRY.fullmatch(entry.strip())
    if match is None or not 0 < int(match["port"] or 1) < 65536:
        raise ValueError(entry)
    return match["host"].strip("[]").lower().rstrip("."), int(match["port"]) if match["port"] else None


def is_granted(host: str, port: int, granted: Iterable[str]) -> bool:
    """Whether one of the granted hosts is this one, at this port."""
    for entry in granted:
        name, at = parsed(entry)
        if name == host and (port == at if at is not None else port in USUAL_PORTS):
            return True
    return False


class Proxy:
    """Serves CONNECT and plain HTTP for as long as one command runs."""

    def __init__(self, granted: frozenset[str], reach: Reach, token: str | None = None) -> None:
        self._granted, self._reach, self._token = granted, reach, token
        self._connections: set[asyncio.Task[None]] = set()
        self.port = 0

    @classmethod
    @asynccontextmanager
    async def on_loopback(cls, granted: frozenset[str], reach: Reach) -> AsyncIterator[Proxy]:
        """A proxy that everybody on this machine can find, so it asks for a password."""
        inside = socket.create_server(("127.0.0.1", 0))
        proxy = cls(granted, reach, secrets.token_urlsafe(24))
        async with proxy.serving(inside):
            yield proxy

    @asynccontextmanager
    async def serving(self, inside: socket.socket) -> AsyncIterator[None]:
        """Connections to this socket are served; at the end all are cut."""
        self.port = int(inside.getsockname()[1])
        server = await asyncio.start_server(self._serve, sock=inside, limit=_MOST_HEAD)
        try:
            yield
        finally:
            server.close()
            for connection in list(self._connections):
                connection.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def environment(self) -> dict[str, str]:
        return environment(self.port, self._token)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if len(self._connections) > _MOST_CONNECTIONS:
                return await _answer(writer, 503, "There are too many connections at once.")
            await self._forward(reader, writer)
        except HostClosed as refusal:
            await _answer(writer, 403, str(refusal))
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            await _answer(writer, 502, "The host did not answer, or this was no request to a host.")
        finally:
            self._connections.discard(task)
            writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _HEAD_SECONDS)
        method, target, headers = _read_head(head)
        if self._token is not None and not _knows(headers.get("proxy-authorization", ""), self._token):
            return await _answer(writer, 407, "This is not your way out.")
        host, port, path = _target(method, target)
        if not is_granted(host, port, self._granted):
            raise HostClosed(f"{host}:{port} was not granted to this command.")
        far_reader, far_writer = await _connect(await self._reach.addresses(host, port, self._granted), port)
        try:
            if path is None:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                far_writer.write(_rewritten(method, path, host, port, head))
            await _both_ways((reader, far_writer), (far_reader, writer))
        finally:
            far_writer.close()


def environment(port: int, token: str | None) -> dict[str, str]:
    """What programs look at to find the proxy."""
    address = f"http://{f'laneway:{token}@' if token else ''}127.0.0.1:{port}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy")
    return dict.fromkeys(names, address) | {"NO_PROXY": "", "no_proxy": ""}


def _read_head(head: bytes) -> tuple[str, str, dict[str, str]]:
    first, *rest = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in rest if ":" in line)
    return method.upper(), target, {name.strip().lower(): value.strip() for name, _, value in pairs}


def _knows(given: str, token: str) -> bool:
    wanted = "Basic " + base64.b64encode(f"laneway:{token}".encode()).decode()
    return hmac.compare_digest(given.encode("latin-1", "replace"), wanted.encode())


def _target(method: str, target: str) -> tuple[str, int, str | None]:
    """Host and port, and for plain HTTP what is asked for there."""
    if method == "CONNECT":
        host, port = parsed(target)
        if port is None:
            raise ValueError(target)
        return host, port, None
    url = urlsplit(target)
    if url.scheme != "http" or not url.hostname or url.username is not None:
        raise ValueError(target)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    return url.hostname.lower().rstrip("."), url.port or 80, path


def _rewritten(method: str, path: str, host: str, port: int, head: bytes) -> bytes:
    """The request as the host wants it; which host is meant says the target alone."""
    lines = [line for line in head.decode("latin-1").split("\r\n")[1:] if line]
    kept = [line for line in lines if line.partition(":")[0].strip().lower() not in _HOP_BY_HOP]
    name = f"[{host}]" if ":" in host else host
    place = name if port == 80 else f"{name}:{port}"
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {place}", "Connection: close", *kept, "", ""]).encode(
        "latin-1"
    )


async def _connect(addresses: list[str], port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the first of these very addresses that answers; no name is resolved again."""
    for address in addresses:
        with suppress(OSError, TimeoutError):
            return await asyncio.wait_for(asyncio.open_connection(address, port), _CONNECT_SECONDS)
    raise OSError("no address answered")


async def _both_ways(*pairs: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
    async with asyncio.TaskGroup() as group:
        for reader, writer in pairs:
            group.create_task(_pipe(reader, writer))


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def _answer(writer: asyncio.StreamWriter, status: int, sentence: str) -> None:
    body = f"{sentence}\n".encode()
    head = f"HTTP/1.1 {status} {sentence}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    with suppress(OSError):
        writer.write(f"{head}Connection: close\r\n\r\n".encode("latin-1", "replace") + body)
        await writer.drain()
