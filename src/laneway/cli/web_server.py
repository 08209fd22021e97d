"""uvicorn, within our event loop and without its own idea of signals."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from laneway.web.server import end_streams

GRACE_SECONDS = 3
"""So long an answer that is being given may still take when Laneway ends."""
IDLE_SECONDS = 75
"""So long an idle connection is kept: longer than clients keep theirs, so that none is closed under a request."""
HEAD_SECONDS = 15.0
"""So long a request may take until its head is there; nobody keeps a connection by sending a byte now and then."""
HEAD_BYTES = 65_536


class HttpConnection(HttpToolsProtocol):
    """A connection that is closed if what comes on it is no whole head of a request, in time and not too long."""

    def __init__(self, *args: Any, head_seconds: float, **more: Any) -> None:
        super().__init__(*args, **more)
        self._head_seconds = head_seconds
        self._in_head, self._head_bytes = False, 0
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()
        self._head_bytes = self._head_bytes + len(data) if self._in_head else 0
        if self._head_bytes > HEAD_BYTES:
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._in_head = False

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._deadline is not None:
            self._deadline.cancel()

    def _watch(self) -> None:
        """While no request is answered, time runs from the first byte on."""
        answering = self.cycle is not None and not self.cycle.response_complete
        if answering and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        elif not answering and self._deadline is None:
            self._deadline = self.loop.call_later(self._head_seconds, self.transport.close)


class WebServer(uvicorn.Server):
    """Serves until `should_exit` is set, and then does not wait for those who only watch."""

    def __init__(self, api: FastAPI, head_seconds: float = HEAD_SECONDS) -> None:
        self._api = api
        config = uvicorn.Config(
            api,
            http=partial(HttpConnection, head_seconds=head_seconds),  # type: ignore[arg-type]
            log_config=None,
            access_log=False,
            server_header=False,
            # Whoever writes it could be anybody: no header says which address a request came from.
            proxy_headers=False,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        super().__init__(config)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Signals stay with whoever runs us."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """No connection is open any more; those who watched come back to whoever serves next."""
        end_streams(self._api)
        await super().shutdown(sockets)

    async def has_started(self, serving: asyncio.Task[None]) -> None:
        """Requests are answered; if serving ended before that, its error is raised."""
        while not self.started:
            if serving.done():
                await serving
                return
            await asyncio.sleep(0.01)
