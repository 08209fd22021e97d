"""Writes a stream of events as Server-Sent Events, until the client leaves, lags, or Laneway ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from laneway.domain.judgement import Event
from laneway.engine.stream import Delta, Watcher
from laneway.web.shapes import EventShape

CURSOR_HEADER = "X-Event-Cursor"
"""Where the stream began: who was cut off before the first event goes on from there."""

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
LAST_WORD_SECONDS = 1.0
PATIENCE_SECONDS = 30.0
"""A client that takes nothing for so long is dropped; it can come back with the last id it has."""


class EventStream(Response):
    """A response that lasts; it ends when `watcher.ended` is set, even if the client does not read."""

    media_type = "text/event-stream"

    def __init__(
        self,
        items: AsyncGenerator[Event | Delta | None, None],
        watcher: Watcher,
        cursor: str,
        *,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        super().__init__(headers=HEADERS | {CURSOR_HEADER: cursor})
        del self.headers["content-length"]
        self._items, self._watcher, self._patience = items, watcher, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        writing = asyncio.create_task(self._write(send))
        leaving = asyncio.create_task(_left(receive))
        ending = asyncio.create_task(self._watcher.ended.wait())
        try:
            await asyncio.wait({writing, leaving, ending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (writing, leaving, ending):
                task.cancel()
            await asyncio.gather(writing, leaving, ending, return_exceptions=True)
        if not writing.cancelled():
            writing.result()
        if leaving.cancelled():
            # A client that does not read cannot be told goodbye either; the connection is then just closed.
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORD_SECONDS):
                    await send({"type": "http.response.body", "body": b""})

    async def _write(self, send: Send) -> None:
        async with aclosing(self._items) as items:
            await self._send(send, b": open\n\n")
            async for item in items:
                await self._send(send, written(item))

    async def _send(self, send: Send, body: bytes) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await send({"type": "http.response.body", "body": body, "more_body": True})
        except TimeoutError:
            raise ClientDisconnect from None


def written(item: Event | Delta | None) -> bytes:
    """One item as it goes over the wire; None is a comment that only shows that the line lives."""
    if item is None:
        return b": nothing new\n\n"
    if isinstance(item, Delta):
        return f"event: delta\ndata: {json.dumps(item.body)}\n\n".encode()
    # Escaped to ASCII: many readers of lines break them at U+2028 and its like, too.
    data = json.dumps(EventShape.model_validate(item).model_dump(mode="json"))
    return f"id: {item.cursor}\nevent: {item.kind}\ndata: {data}\n\n".encode()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
