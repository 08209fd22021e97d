"""Any ASGI app, served by uvicorn from a thread on a free port of 127.0.0.1."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn
from starlette.types import ASGIApp, Receive
from uvicorn.config import LifespanType
from uvicorn.protocols.http.h11_impl import H11Protocol

IDLE_SECONDS = 75
"""So long an idle connection is kept: longer than clients keep theirs, so that none is closed under a request."""
LONGEST_END = 30
"""Seconds; a thread that ends at once still waits for its turn on a machine that is busy."""


async def rest(seconds: float, receive: Receive) -> None:
    """So many seconds have passed, or the client has left: whoever is answered late need not be waited for then."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (await receive())["type"] != "http.disconnect":
                pass


class HangUpProtocol(H11Protocol):
    """HTTP/1.1 whose app can drop the connection by calling `scope["state"]["hang_up"]`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The connection is open and every request on it carries the way to drop it."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "hang_up": transport.close}


class _Server(uvicorn.Server):
    """uvicorn that tells when it is ready and leaves at once when told to."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self._leave = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._loop = asyncio.get_running_loop()
        self.ready.set()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._leave.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Clients still waiting are dropped, so that an app that is waiting too is told and can end.
        # uvicorn's own way would give them a tenth of a second first, in every test.
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()
        for connection in list(self.server_state.connections):
            connection.transport.close()
        await asyncio.sleep(0)
        if tasks := list(self.server_state.tasks):
            _, stuck = await asyncio.wait(tasks, timeout=2)
            for task in stuck:
                task.cancel()
        await self.lifespan.shutdown()

    def leave(self) -> None:
        """The server has been told to end; may be called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._leave.set)


class Loopback:
    """While entered, the app answers at `url`; after leaving, the port is closed and the thread has ended."""

    def __init__(self, app: ASGIApp, *, port: int = 0, lifespan: LifespanType = "auto") -> None:
        self._app = app
        self._wanted_port = port
        self._lifespan = lifespan
        self.port = 0

    @property
    def url(self) -> str:
        """Where the app answers, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        listener = socket.create_server(("127.0.0.1", self._wanted_port))
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(
            self._app,
            http=HangUpProtocol,
            ws="none",
            loop="asyncio",
            lifespan=self._lifespan,
            log_config=None,
            timeout_keep_alive=IDLE_SECONDS,
        )
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._run, args=(listener,), name=f"loopback-{self.port}", daemon=True)
        self._thread.start()
        self._wait_until_ready(listener)
        return self

    def _run(self, listener: socket.socket) -> None:
        # uvicorn exits when the app does not start; the one who waits for it raises a better error.
        with contextlib.suppress(SystemExit):
            self._server.run([listener])

    def _wait_until_ready(self, listener: socket.socket) -> None:
        while not self._server.ready.wait(0.05):
            if not self._thread.is_alive():
                listener.close()
                raise RuntimeError(f"the app on {self.url} did not start: see the log of uvicorn.error")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.leave()
        self._thread.join(timeout=LONGEST_END)
        if self._thread.is_alive():
            raise RuntimeError(f"the app on {self.url} did not end within {LONGEST_END} seconds")
