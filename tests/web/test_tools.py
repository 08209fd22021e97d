"""The tools at hand over HTTP, where they come from, and what a thread has kept."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from laneway.connections import McpServer, OpenApiDocument
from tests.lanes.test_openapi import PETS
from tests.web.conftest import Open

RUDE = str(Path(__file__).parents[1] / "servers" / "mcp_rude_server.py")


async def test_all_tools_are_listed_with_their_origin_and_their_suppliers_with_their_state(
    opened: Open, tmp_path: Path
) -> None:
    (tmp_path / "pets.json").write_text(json.dumps(PETS))
    servers = {"odds": McpServer(command=sys.executable, args=(RUDE,)), "gone": McpServer(command="no-such-program")}
    async with opened(mcp=servers, openapi={"pets": OpenApiDocument(document="pets.json")}) as door:
        told = await door.get("/tools")
    origins = {one["name"]: one["origin"] for one in told["items"]}
    assert origins["http_request"] == origins["search_tools"] == "built in"
    assert origins["odds__add"] == "MCP server odds"
    assert origins["openapi_action"] == "APIs"
    add = next(one for one in told["items"] if one["name"] == "odds__add")
    assert (add["changes"], add["asks"], add["worlds"]) == (True, True, ["owner"])
    states = {one["name"]: (one["kind"], one["status"], one["says"]) for one in told["suppliers"]}
    assert states["odds"][:2] == ("MCP server", "ready")
    assert states["pets"][:2] == ("API", "ready")
    assert states["gone"][1] == "down"
    assert "no-such-program" in states["gone"][2]
