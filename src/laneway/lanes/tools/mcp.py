"""All configured MCP servers together: a shelf of tools that come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from laneway.connections import McpServer
from laneway.lanes.tools.entry import ToolEntry
from laneway.lanes.tools.mcp_server import McpConnection, ServerState


class McpServers:
    """The servers the owner named; one that fails is alone with it."""

    def __init__(self, servers: Mapping[str, McpServer], variables: Mapping[str, str]) -> None:
        self._servers = {name: McpConnection(name, server, variables) for name, server in servers.items()}
        self._first: asyncio.Task[object] | None = None

    def entries(self) -> list[ToolEntry]:
        """Every tool that a server offers, or offered when it was last there."""
        return [entry for server in self._servers.values() for entry in server.entries]

    def origins(self) -> dict[str, str]:
        """The server of each tool."""
        return {entry.name: name for name, server in self._servers.items() for entry in server.entries}

    def states(self) -> list[ServerState]:
        return [server.state for server in self._servers.values()]

    def start(self) -> None:
        """Every server is being connected; nobody waits for that yet."""
        if self._servers and self._first is None:
            self._first = asyncio.create_task(self._connect(), name="mcp-start")

    async def settled(self) -> None:
        """Every server has been tried once; those that were down and may be tried again are, aside."""
        self.start()
        if self._first is None:
            return
        if not self._first.done():
            await asyncio.shield(self._first)
        elif any(server.wanted for server in self._servers.values()):
            self._first = asyncio.create_task(self._connect(), name="mcp-again")

    async def close(self) -> None:
        """No server runs any more."""
        if self._first is not None:
            self._first.cancel()
            await asyncio.gather(self._first, return_exceptions=True)
        await asyncio.gather(*(server.close() for server in self._servers.values()))

    async def _connect(self) -> None:
        await asyncio.gather(*(server.ready() for server in self._servers.values()))
