"""One request and its answer over ASGI: sent, paced, broken off, or abandoned by the client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Mapping

from starlette.types import Receive, Scope, Send

from .received import Received
from .script import Json
from .wire import Frame

_LOOK = 0.02
"""Seconds between two looks at an event of another thread."""


class ClientLeft(Exception):
    """The client closed the connection before the answer was complete."""


class Exchange:
    """An answer in the making; it knows at once when the client goes away."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, received: Received) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self.received = received
        self._gone: asyncio.Task[None] | None = None

    async def read(self) -> bytes:
        """The whole body has been read, and from now on the connection is watched."""
        chunks: list[bytes] = []
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientLeft
            chunks.append(message.get("body", b""))
            if not message.get("more_body", False):
                break
        self._gone = asyncio.create_task(self._watch())
        return b"".join(chunks)

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def wait(self, seconds: float, until: threading.Event | None = None) -> None:
        """The seconds have passed or the event has happened; ClientLeft is raised as soon as the client leaves."""
        if self._gone is None:
            return
        end = time.monotonic() + seconds
        while True:
            left = max(end - time.monotonic(), 0)
            await asyncio.wait({self._gone}, timeout=left if until is None else min(left, _LOOK))
            if self._gone.done():
                raise ClientLeft
            if left == 0 or until is None or until.is_set():
                return

    async def answer(self, status: int, headers: Mapping[str, str], body: Json | str) -> None:
        """The whole answer has been sent."""
        raw = (body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)).encode()
        await self.begin(status, {"content-type": "application/json", **headers, "content-length": str(len(raw))})
        await self.wait(0)
        # Noted before the last byte leaves, so that a client who has the answer finds it noted.
        self.received.end()
        await self._send({"type": "http.response.body", "body": raw})

    async def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """The status and the headers have been sent."""
        self.received.status = status
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def push(self, frame: Frame) -> None:
        """The frame has been sent, or ClientLeft is raised."""
        await self.wait(0)
        await self._send({"type": "http.response.body", "body": frame.encode(), "more_body": True})

    async def finish(self) -> None:
        """The stream has been ended in good order."""
        self.received.end()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def cut_body(self, status: int, headers: Mapping[str, str], body: Json) -> None:
        """Half of the body has been sent and the connection dropped."""
        raw = json.dumps(body, ensure_ascii=False).encode()
        await self.begin(status, {"content-type": "application/json", **headers, "content-length": str(len(raw))})
        await self._send({"type": "http.response.body", "body": raw[: len(raw) // 2], "more_body": True})
        await self.hang_up()

    async def hang_up(self) -> None:
        """The connection has been dropped without an ending."""
        self.received.end()
        self._scope["state"]["hang_up"]()
        if self._gone is not None:
            await self._gone

    async def close(self) -> None:
        """The watch over the connection has ended."""
        if self._gone is not None:
            self._gone.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._gone
