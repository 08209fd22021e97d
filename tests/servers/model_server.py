"""The part of a loopback model server that is the same for every provider."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from .loopback import Loopback
from .script import Asked, CutStream, Fail, Hang, Json, Malformed, Plan, Script, Turn, plan
from .wire import Frame, new_id

STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
LOOK = 0.02
"""Seconds between two looks at an event of another thread."""


class ClientLeft(Exception):
    """The client closed the connection before the answer was complete."""


@dataclass
class Received:
    """One request: who asked what, and how it was answered."""

    path: str
    headers: Mapping[str, str]
    auth: str
    """Which header carried the key: `x-api-key`, `bearer` or none."""
    key: str
    body: Any
    status: int | None = None
    """The status sent, None when the connection was dropped before one."""


@dataclass
class Exchange:
    """An answer in the making."""

    scope: Scope
    receive: Receive
    send: Send
    received: Received

    async def wait(self, seconds: float, until: threading.Event | None = None) -> None:
        """The seconds have passed or the event has happened; ClientLeft is raised as soon as the client leaves."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not (until and until.is_set()):
            try:
                async with asyncio.timeout(min(left, LOOK) if until else left):
                    if (await self.receive())["type"] == "http.disconnect":
                        raise ClientLeft
            except TimeoutError:
                pass

    async def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """The status and the headers have been sent."""
        self.received.status = status
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": raw})

    async def push(self, content: bytes, more: bool = True) -> None:
        """A part of the body has been sent."""
        await self.send({"type": "http.response.body", "body": content, "more_body": more})

    async def answer(self, status: int, headers: Mapping[str, str], body: Json | str, *, cut: bool = False) -> None:
        """The whole answer has been sent, or half of it and the connection dropped."""
        raw = (body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)).encode()
        await self.begin(status, {"content-type": "application/json", **headers, "content-length": str(len(raw))})
        await self.push(raw[: len(raw) // 2] if cut else raw, more=cut)
        if cut:
            self.hang_up()

    def hang_up(self) -> None:
        """The connection has been dropped without an ending."""
        self.scope["state"]["hang_up"]()


class ModelServer(Loopback, ABC):
    """A provider on 127.0.0.1 that follows a script and remembers every request in `requests`.

    When an order raises, the client gets a 500 it need not retry and leaving the server raises the error.
    """

    request_id_header: ClassVar[str]
    asking: ClassVar[str]
    """The path at which a model is asked for its turn."""
    listing: ClassVar[Json]
    """What `/v1/models` answers."""

    def __init__(self, script: Script | None = None, *, api_key: str | None = None) -> None:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await self._serve(scope, receive, send)

        super().__init__(app, lifespan="off")
        self.script = script if script is not None else Script()
        self.requests: list[Received] = []
        self._api_key = api_key
        self._failures: list[Exception] = []

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        super().__exit__(kind, error, trace)
        if error is None and self._failures:
            raise self._failures[0]

    # What a provider adds: how it is asked, how it speaks and how it says no.

    @abstractmethod
    def read(self, body: Json) -> Asked:
        """The request in neutral words."""

    @abstractmethod
    def complaint(self, body: Json) -> Fail | None:
        """The error the real API would answer to this request, if any."""

    @abstractmethod
    def reply(self, asked: Asked, turn: Turn) -> tuple[Json, list[Frame]]:
        """The turn as this API would send it: whole, and as the events of a stream."""

    @abstractmethod
    def error(self, fail: Fail, request_id: str) -> Json:
        """The body of an error, as this provider writes it."""

    @abstractmethod
    def error_frame(self, error: Json) -> Frame:
        """The error as an event inside a stream."""

    @abstractmethod
    def rejection(self, received: Received) -> Fail:
        """The 401 for a wrong or missing key."""

    def look_up(self, method: str, path: str, body: Json) -> Json | Fail:
        """The models, or not found."""
        return self.listing if (method, path) == ("GET", "/v1/models") else Fail(404, message="Not found")

    # The way of a request.

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        raw = await request.body()
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        key = request.headers.get("x-api-key", token)
        auth = "x-api-key" if "x-api-key" in request.headers else scheme.lower()
        received = Received(request.url.path, dict(request.headers), auth, key, json.loads(raw) if raw else {})
        self.requests.append(received)
        exchange = Exchange(scope, receive, send, received)
        try:
            await self._respond(exchange, request.method)
        except ClientLeft:
            pass
        except Exception as error:
            self._failures.append(error)
            if received.status is not None:
                return exchange.hang_up()
            fail = Fail(500, message=f"the order failed: {error!r}", headers={"x-should-retry": "false"})
            await self._refuse(exchange, fail)

    async def _respond(self, exchange: Exchange, method: str) -> None:
        received = exchange.received
        if self._api_key not in (None, received.key):
            return await self._refuse(exchange, self.rejection(received))
        if (method, received.path) != ("POST", self.asking):
            found = self.look_up(method, received.path, received.body)
        else:
            found = self.complaint(received.body) or {}
        if isinstance(found, Fail):
            return await self._refuse(exchange, found)
        if found:
            return await exchange.answer(200, self._headers(), found)
        return await self._follow(exchange, self.read(received.body))

    async def _follow(self, exchange: Exchange, asked: Asked) -> None:
        todo = plan(self.script.next(asked))
        await exchange.wait(todo.wait, todo.until)
        match todo.mishap:
            case Fail(after_pieces=after) as fail if after is None or not asked.stream:
                return await self._refuse(exchange, fail)
            case CutStream(after_pieces=0):
                return exchange.hang_up()
        body, frames = self.reply(asked, todo.turn)
        if asked.stream:
            return await self._stream(exchange, todo, frames)
        await exchange.wait(todo.per_piece * sum(frame.piece for frame in frames))
        if isinstance(todo.mishap, Hang):
            await exchange.wait(todo.mishap.seconds, todo.mishap.until)
        sent = todo.mishap.text if isinstance(todo.mishap, Malformed) else body
        return await exchange.answer(200, self._headers(), sent, cut=isinstance(todo.mishap, CutStream))

    async def _refuse(self, exchange: Exchange, fail: Fail) -> None:
        headers = {**self._headers(), **fail.headers}
        if fail.retry_after is not None:
            headers["retry-after"] = f"{fail.retry_after:g}"
        await exchange.answer(fail.status, headers, self._error_body(fail, headers[self.request_id_header]))

    def _error_body(self, fail: Fail, request_id: str) -> Json:
        return dict(fail.body) if fail.body is not None else self.error(fail, request_id)

    def _headers(self) -> dict[str, str]:
        return {self.request_id_header: new_id("req_")}

    async def _stream(self, exchange: Exchange, todo: Plan, frames: list[Frame]) -> None:
        await exchange.begin(200, {**STREAM_HEADERS, **self._headers()})
        mishap, pieces = todo.mishap, 0
        due = min(mishap.after_pieces or 0, sum(frame.piece for frame in frames)) if mishap else 0
        for frame in frames:
            if mishap and pieces == due:
                match mishap:
                    case CutStream():
                        return exchange.hang_up()
                    case Malformed():
                        return await exchange.push(replace(frame, data=mishap.text).encode(), more=False)
                    case Fail():
                        body = self._error_body(mishap, new_id("req_"))
                        return await exchange.push(self.error_frame(body).encode(), more=False)
                await exchange.wait(mishap.seconds, mishap.until)
                mishap = None
            if frame.piece:
                await exchange.wait(todo.per_piece)
            await exchange.push(frame.encode())
            pieces += frame.piece
        return await exchange.push(b"", more=False)
