"""One MCP server: connected when it is needed, given up when it fails, and tried again after a pause.

Whatever it does (not start, hang, crash in the middle of a call, answer with garbage), its tools fail with a sentence
and nobody else notices.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from laneway import __version__
from laneway.connections import McpServer, expanded
from laneway.errors import LanewayError, SettingsError, Unavailable
from laneway.lanes.tools.entry import Outcome, ToolEntry, failure
from laneway.lanes.tools.mcp_http import http_transport
from laneway.lanes.tools.mcp_stdio import Program
from laneway.lanes.tools.mcp_tools import entries_of, one_line, outcome_of

if TYPE_CHECKING:
    from mcp.client import Client, Transport
    from mcp_types import Tool

MOST_TOOLS, MOST_PAGES = 500, 50
LONGEST_PAUSE = 60.0
ALIVE_SECONDS = 5.0
END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ServerState:
    """How a server is, for people."""

    name: str
    status: Literal["not started", "ready", "down"]
    says: str
    tools: int


class _Link:
    """A live connection: the task that holds it, and the client others may call."""

    def __init__(self) -> None:
        self.leave, self.ready, self.stale = asyncio.Event(), asyncio.Event(), False
        self.keeper: asyncio.Task[None]
        self.client: Client
        self.tools: list[Tool]

    def end(self) -> None:
        """The connection is being closed; one that was never ready is broken off."""
        self.leave.set()
        if not self.ready.is_set():
            self.keeper.cancel()


class McpConnection:
    """A configured server and our connection to it, if there is one."""

    def __init__(
        self, name: str, server: McpServer, variables: Mapping[str, str], now: Callable[[], float] = time.monotonic
    ) -> None:
        self.name, self._server, self._variables, self._now = name, server, variables, now
        self._link: _Link | None = None
        self._lock = asyncio.Lock()
        self._keepers: set[asyncio.Task[None]] = set()
        self._failures, self._not_before, self._complaint = 0, 0.0, ""
        self._program: Program | None = None
        self.entries: list[ToolEntry] = []

    @property
    def state(self) -> ServerState:
        if self._alive():
            return ServerState(self.name, "ready", "", len(self.entries))
        if self._complaint:
            return ServerState(self.name, "down", f"{self._complaint}{self._last_words()}", len(self.entries))
        return ServerState(self.name, "not started", "", len(self.entries))

    @property
    def wanted(self) -> bool:
        """Whether looking at it again would help: its tools changed, or the pause after a failure is over."""
        if self._link is not None and self._alive():
            return self._link.stale
        return self._now() >= self._not_before

    async def ready(self) -> None:
        """It was connected if that was possible; its entries are what it offers, or offered last."""
        try:
            link = await self._connected()
        except LanewayError:
            return
        if link.stale:
            link.stale = False
            await self._ask(link, self._list(link))

    async def call(self, tool: str, arguments: dict[str, Any]) -> Outcome:
        """What the tool returned, or a failure that says what is wrong with the server."""
        try:
            link = await self._connected()
        except LanewayError as down:
            return failure(str(down))
        seconds = self._server.timeout_seconds
        work = await self._ask(link, link.client.call_tool(tool, arguments), seconds)
        if work is None:
            await self._look_after(link)
            return failure(f"{tool} of the MCP server {self.name} did not answer within {seconds:g} seconds.")
        error = work.exception()
        if error is None:
            self._failures = 0
            return outcome_of(self.name, tool, work.result())
        if link.keeper.done() or not _is_answer(error):
            self._give_up(link, f"It broke off during a call: {_told(error)}")
            return failure(str(self._down()))
        return failure(f"{tool} of the MCP server {self.name} failed: {_told(error)}")

    async def close(self) -> None:
        """The connection is closed and the server's processes are gone."""
        if self._link is not None:
            self._link.end()
        if self._keepers:
            _, stuck = await asyncio.wait(self._keepers, timeout=END_SECONDS)
            for keeper in stuck:
                keeper.cancel()
            await asyncio.gather(*stuck, return_exceptions=True)

    def _alive(self) -> bool:
        return self._link is not None and not self._link.keeper.done() and self._link.ready.is_set()

    async def _connected(self) -> _Link:
        async with self._lock:
            if self._link is not None and self._alive():
                return self._link
            if self._link is not None:
                self._give_up(self._link, "It ended by itself.")
            if self._now() < self._not_before:
                raise self._down()
            return await self._connect()

    async def _connect(self) -> _Link:
        link = self._link = _Link()
        # Of its own, or it would work in the name of the job that happened to come first.
        link.keeper = asyncio.create_task(
            self._keep(link), name=f"mcp-{self.name}", context=contextvars.Context()
        )  # fmt: skip
        self._keepers.add(link.keeper)
        link.keeper.add_done_callback(self._forget)
        is_ready = asyncio.create_task(link.ready.wait())
        seconds = self._server.start_seconds
        try:
            await asyncio.wait({link.keeper, is_ready}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            # Whoever wanted it was stopped; that is no fault of the server.
            link.end()
            self._link = None
            raise
        finally:
            is_ready.cancel()
        if link.ready.is_set() and not link.keeper.done():
            self._complaint = ""
            self._offer(link)
            return link
        error = link.keeper.exception() if link.keeper.done() and not link.keeper.cancelled() else None
        self._give_up(link, _told(error) if error else f"It was not ready within {seconds:g} seconds.")
        raise self._down()

    async def _keep(self, link: _Link) -> None:
        """Holds the connection open, in one task from beginning to end, as the library demands."""
        mcp = await asyncio.to_thread(_library)
        async with AsyncExitStack() as stack:
            client = mcp(self._transport(), message_handler=_noting(link), client_info=_ourselves(), cache=None)
            link.client = await stack.enter_async_context(client)
            await self._list(link)
            link.ready.set()
            await link.leave.wait()

    def _transport(self) -> Transport:
        server = self._server
        if server.url is not None:
            headers = {name: expanded(value, self._variables) for name, value in server.headers.items()}
            return http_transport(server.url, headers, server.timeout_seconds)
        assert server.command is not None
        command = [server.command, *(expanded(one, self._variables) for one in server.args)]
        env = {name: expanded(value, self._variables) for name, value in server.env.items()}
        self._program = Program(command, env)
        return self._program.transport()

    async def _list(self, link: _Link) -> None:
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await link.client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if cursor is None or len(found) >= MOST_TOOLS:
                break
        link.tools = found[:MOST_TOOLS]
        if link.ready.is_set():
            self._offer(link)

    def _offer(self, link: _Link) -> None:
        seconds = self._server.timeout_seconds + self._server.start_seconds + 15
        self.entries = entries_of(
            self.name, link.tools, self.call, trusted=self._server.trusted, seconds=seconds
        )  # fmt: skip

    async def _ask(self, link: _Link, asking: Any, seconds: float = ALIVE_SECONDS) -> asyncio.Task[Any] | None:
        """The finished task of what was asked; None if it took too long. If we are stopped, so is it."""
        work = asyncio.ensure_future(asking)
        try:
            done, _ = await asyncio.wait({work, link.keeper}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if link.keeper in done and not work.done():
                # The connection is gone; whoever waits on it is told so in a moment.
                await asyncio.wait({work}, timeout=1)
            elif not done:
                return None
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait({work}, timeout=1)
        return work if work.done() and not work.cancelled() else None

    async def _look_after(self, link: _Link) -> None:
        """After a call that took too long: a server that does not even list its tools is given up."""
        work = await self._ask(link, link.client.list_tools())
        if work is None or work.exception() is not None:
            self._give_up(link, "It no longer answers.")

    def _give_up(self, link: _Link, complaint: str) -> None:
        link.end()
        if self._link is link:
            self._link = None
            self._complaint = complaint
            # The first time it is started again at once.
            pause = 0.0 if self._failures == 0 else min(LONGEST_PAUSE, 2.0 ** (self._failures - 1))
            self._failures += 1
            self._not_before = self._now() + pause

    def _down(self) -> Unavailable:
        left = self._not_before - self._now()
        when = f"It is tried again in {left:.0f} s." if left >= 1 else "The next call tries again."
        return Unavailable(f"The MCP server {self.name} is down. {self._complaint}", hint=when)

    def _last_words(self) -> str:
        """How its program ended and what it said last: for the owner, never for a model."""
        if self._program is None or self._program.exit_code is None:
            return ""
        lines = self._program.last_words.strip().splitlines()
        said = f", its last words: {one_line(lines[-1], 200)}" if lines else ""
        return f" (exit code {self._program.exit_code}{said})"

    def _forget(self, keeper: asyncio.Task[None]) -> None:
        self._keepers.discard(keeper)
        if not keeper.cancelled():
            # Looked at, or Python would complain at the end that nobody did.
            keeper.exception()


def _library() -> type[Client]:
    # It takes a second to read: only those who use it wait for it, and nobody else meanwhile.
    from mcp.client import Client

    return Client


def _ourselves() -> Any:
    from mcp_types import Implementation

    return Implementation(name="laneway", version=__version__)


def _noting(link: _Link) -> Any:
    from mcp_types import ToolListChangedNotification

    async def note(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            link.stale = True

    return note


def _is_answer(error: BaseException) -> bool:
    """Whether the server itself said no, so that there is nothing wrong with the connection."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED

    if isinstance(error, MCPError):
        return error.code != CONNECTION_CLOSED
    # What it returned was not what its own description promises; ValidationError is a ValueError.
    return isinstance(error, RuntimeError | ValueError)


def _told(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, SettingsError):
        return str(error)
    kind = type(error).__name__
    said = one_line(str(error), 200)
    return (said or kind).rstrip(".") + "."
