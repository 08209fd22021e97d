"""uvicorn, within our event loop and without its own idea of signals."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import uvicorn

GRACE_SECONDS = 2
"""How long open requests have to end; event streams are cut then, and their readers come back by themselves."""


class WebServer(uvicorn.Server):
    """Serves until `should_exit` is set."""

    def __init__(self, app: Any) -> None:
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            server_header=False,
        )
        super().__init__(config)
        # That streams are cut at the end is how it is meant, and no error.
        logging.getLogger("uvicorn.error").addFilter(lambda record: "graceful shutdown" not in record.getMessage())

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Signals stay with whoever runs us."""
        yield

    async def has_started(self, serving: asyncio.Task[None]) -> None:
        """Requests are answered; if serving ended before that, its error is raised."""
        while not self.started:
            if serving.done():
                await serving
                return
            await asyncio.sleep(0.01)
