"""uvicorn, within our event loop and without its own idea of signals."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Generator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from laneway.web.server import end_streams

GRACE_SECONDS = 3
"""So long an answer that is being given may still take when Laneway ends."""
IDLE_SECONDS = 75
"""So long an idle connection is kept: longer than clients keep theirs, so that none is closed under a request."""


class WebServer(uvicorn.Server):
    """Serves until `should_exit` is set, and then does not wait for those who only watch."""

    def __init__(self, api: FastAPI) -> None:
        self._api = api
        config = uvicorn.Config(
            api,
            log_config=None,
            access_log=False,
            server_header=False,
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
