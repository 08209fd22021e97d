"""Everything tools reach or borrow from outside: web servers, MCP servers, APIs; and where each tool comes from."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from laneway.connections import McpServer, OpenApiDocument
from laneway.lanes.tools.entry import ToolEntry
from laneway.lanes.tools.http_request import http_request_with
from laneway.lanes.tools.mcp import McpServers
from laneway.lanes.tools.openapi import OpenApis
from laneway.sandbox.exchange import Exchange
from laneway.sandbox.hosts import Allowed

BUILT_IN = "built in"


@dataclass(frozen=True, slots=True)
class Supplier:
    """Somebody who brings tools, and how they are."""

    name: str
    kind: str
    status: str
    says: str
    tools: int


class Outside:
    """The tools from outside, connected when they are first needed and closed with us."""

    def __init__(
        self, allowed_hosts: Iterable[str], mcp: Mapping[str, McpServer], apis: Mapping[str, OpenApiDocument],
        home: Path, variables: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.exchange = exchange = Exchange(Allowed.of(allowed_hosts))
        self.http_request = http_request_with(exchange)
        self.mcp = McpServers(mcp, variables)
        self.apis = OpenApis(apis, home, variables, exchange)

    def entries(self) -> list[ToolEntry]:
        """The shelf: what is at hand now."""
        return [*self.apis.entries(), *self.mcp.entries()]

    def start(self) -> None:
        """Servers are being connected, and nobody waits for it."""
        self.mcp.start()

    async def settled(self) -> None:
        """Every server and document has been tried, so that what it offers is on the shelf."""
        await asyncio.gather(self.mcp.settled(), self.apis.settled())

    async def close(self) -> None:
        """Nothing of it runs any more."""
        await self.mcp.close()

    def suppliers(self) -> list[Supplier]:
        """Every server and API with its state."""
        servers = [Supplier(one.name, "MCP server", one.status, one.says, one.tools) for one in self.mcp.states()]
        apis = [Supplier(one.name, "API", one.status, one.says, one.operations) for one in self.apis.states()]
        return [*servers, *apis]

    def origins(self, entries: Sequence[ToolEntry]) -> dict[str, str]:
        """Where each tool comes from, in words."""
        servers = {name: f"MCP server {server}" for name, server in self.mcp.origins().items()}
        theirs = {entry.name: "APIs" for entry in self.apis.entries()} | servers
        return {entry.name: theirs.get(entry.name, BUILT_IN) for entry in entries}
