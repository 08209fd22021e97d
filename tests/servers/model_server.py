"""The part of a loopback model server that is the same for every provider."""

from __future__ import annotations

import contextlib
import json
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from types import TracebackType
from typing import ClassVar, Self

from starlette.types import Receive, Scope, Send

from .exchange import ClientLeft, Exchange
from .loopback import Loopback
from .received import Received, key_of, mask_headers, readable_headers
from .script import Asked, CutStream, Fail, Hang, Json, Malformed, Plan, Script, plan
from .wire import Dialect, Frame, Reply, new_id

STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


class ModelServer(ABC):
    """A provider on 127.0.0.1 that follows a script and remembers every request in `requests`.

    When an order raises, the client gets a 500 it need not retry and leaving the server raises the error.
    """

    request_id_header: ClassVar[str]

    def __init__(
        self,
        script: Script | None = None,
        *,
        api_key: str | None = None,
        models: tuple[str, ...] = (),
        port: int = 0,
    ) -> None:
        self.script = script if script is not None else Script()
        self.requests: list[Received] = []
        self.models = models
        self._api_key = api_key
        self._failures: list[Exception] = []
        self._leaving = False
        self._loopback = Loopback(self, port=port)

    @property
    def url(self) -> str:
        """Where the server answers, as the provider's SDK wants its `base_url`."""
        return self._loopback.url

    @property
    def port(self) -> int:
        """The port, kept after the end so that another server can take the same place."""
        return self._loopback.port

    def __enter__(self) -> Self:
        self._leaving = False
        self._loopback.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaving = True
        self._loopback.__exit__(kind, error, trace)
        if error is None and self._failures:
            raise self._failures[0]

    def ended(self, number: int = 0, timeout: float = 30.0) -> Received:
        """The request of this number, which is over; a client may be gone before we have seen that it came."""
        deadline = time.monotonic() + timeout
        while len(self.requests) <= number:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(self.requests)} requests have come after {timeout} s")
            time.sleep(0.01)
        return self.requests[number].wait_for_end(timeout)

    # What a provider adds: its dialects, its other endpoints, and how it says no.

    @abstractmethod
    def dialect(self, path: str) -> Dialect | None:
        """The dialect that answers models' turns at this path, if any does."""

    @abstractmethod
    def look_up(self, method: str, path: str, body: Json) -> Json | Fail:
        """The answer of the endpoints that need no order."""

    @abstractmethod
    def error(self, fail: Fail, request_id: str) -> Json:
        """The body of an error, as this provider writes it."""

    @abstractmethod
    def rejection(self, received: Received, wrong_key: str | None) -> Fail | None:
        """The error for a wrong key or a missing header, if the request has one or lacks the other."""

    # The way of a request.

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request has been answered, and written down from its beginning to its end."""
        if scope["type"] != "http":
            return
        headers = readable_headers(scope["headers"])
        auth, key = key_of(headers)
        query = scope["query_string"].decode("latin-1")
        received = Received(scope["method"], scope["path"], query, mask_headers(headers), auth)
        self.requests.append(received)
        exchange = Exchange(scope, receive, send, received)
        try:
            await self._respond(exchange, key)
        except ClientLeft:
            # At its end the server drops those who still wait: then it was not they who left.
            received.client_left = not self._leaving
        except Exception as error:
            self._failures.append(error)
            await self._apologise(exchange, error)
        finally:
            received.end()
            await exchange.close()

    async def _respond(self, exchange: Exchange, key: str) -> None:
        received = exchange.received
        raw = await exchange.read()
        received.body = _parsed(raw)
        wrong_key = None if self._api_key in (None, key) else key
        if rejected := self.rejection(received, wrong_key):
            return await self._refuse(exchange, rejected)
        if raw and not isinstance(received.body, dict):
            return await self._refuse(exchange, Fail(400, message="The request body is not valid JSON."))
        body: Json = received.body or {}
        dialect = self.dialect(received.path) if received.method == "POST" else None
        if dialect is None:
            return await self._give(exchange, self.look_up(received.method, received.path, body))
        if complaint := dialect.complaint(body):
            return await self._refuse(exchange, complaint)
        return await self._follow(exchange, dialect, dialect.asked(body))

    async def _follow(self, exchange: Exchange, dialect: Dialect, asked: Asked) -> None:
        exchange.received.order = order = self.script.next(asked)
        todo = plan(order)
        await exchange.wait(todo.wait, todo.until)
        match todo.mishap:
            case Fail(after_pieces=after) as fail if after is None or not asked.stream:
                return await self._refuse(exchange, fail)
            case CutStream(after_pieces=0):
                return await exchange.hang_up()
        reply = dialect.reply(asked, todo.turn)
        if asked.stream:
            return await self._stream(exchange, dialect, todo, reply)
        return await self._whole(exchange, todo, reply)

    async def _give(self, exchange: Exchange, found: Json | Fail) -> None:
        if isinstance(found, Fail):
            return await self._refuse(exchange, found)
        return await exchange.answer(200, {self.request_id_header: new_id("req_")}, found)

    async def _refuse(self, exchange: Exchange, fail: Fail) -> None:
        request_id = new_id("req_")
        headers = {self.request_id_header: request_id, **fail.headers}
        if fail.retry_after is not None:
            headers["retry-after"] = f"{fail.retry_after:g}"
        await exchange.answer(fail.status, headers, self._error_body(fail, request_id))

    async def _apologise(self, exchange: Exchange, error: Exception) -> None:
        if exchange.received.status is not None:
            return await exchange.hang_up()
        fail = Fail(500, message=f"the order failed: {error!r}", headers={"x-should-retry": "false"})
        with contextlib.suppress(ClientLeft):
            await self._refuse(exchange, fail)
        return None

    def _error_body(self, fail: Fail, request_id: str) -> Json | str:
        if fail.body is None:
            return self.error(fail, request_id)
        return fail.body if isinstance(fail.body, str) else dict(fail.body)

    async def _whole(self, exchange: Exchange, todo: Plan, reply: Reply) -> None:
        headers = {self.request_id_header: new_id("req_")}
        await exchange.wait(todo.per_piece * reply.pieces)
        match todo.mishap:
            case CutStream():
                await exchange.cut_body(200, headers, reply.body)
            case Malformed() as bad:
                await exchange.answer(200, {**headers, "content-type": bad.content_type}, bad.text)
            case Hang() as hang:
                await exchange.wait(hang.seconds, hang.until)
                await exchange.answer(200, headers, reply.body)
            case _:
                await exchange.answer(200, headers, reply.body)

    async def _stream(self, exchange: Exchange, dialect: Dialect, todo: Plan, reply: Reply) -> None:
        request_id = new_id("req_")
        await exchange.begin(200, {**STREAM_HEADERS, self.request_id_header: request_id})
        mishap, pieces = todo.mishap, 0
        due = min(mishap.after_pieces or 0, reply.pieces) if mishap else 0
        for sequence, frame in enumerate(reply.frames):
            if mishap and pieces == due:
                if not isinstance(mishap, Hang):
                    last = self._last_frame(dialect, mishap, frame, sequence, request_id)
                    return await self._break_off(exchange, last)
                await exchange.wait(mishap.seconds, mishap.until)
                mishap = None
            if frame.piece and todo.per_piece:
                await exchange.wait(todo.per_piece)
            await exchange.push(frame)
            pieces += frame.piece
        return await exchange.finish()

    def _last_frame(
        self, dialect: Dialect, mishap: CutStream | Fail | Malformed, coming: Frame, sequence: int, request_id: str
    ) -> Frame | None:
        """What is sent in place of the coming frame, None when the connection just drops."""
        match mishap:
            case CutStream():
                return None
            case Malformed():
                return replace(coming, data=mishap.text)
            case Fail():
                body = self._error_body(mishap, request_id)
                return Frame(body, "error") if isinstance(body, str) else dialect.error_frame(body, sequence)

    async def _break_off(self, exchange: Exchange, last: Frame | None) -> None:
        if last is None:
            return await exchange.hang_up()
        await exchange.push(last)
        return await exchange.finish()


def _parsed(raw: bytes) -> object:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return raw.decode("utf-8", "replace")
