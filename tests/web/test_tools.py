"""The tools at hand over HTTP, where they come from, and what a thread has kept."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from uuid import uuid4

from laneway.connections import McpServer, OpenApiDocument
from laneway.domain.ids import new_id
from laneway.store import toolboxes
from laneway.store.database import Database
from tests.lanes.test_openapi import PETS
from tests.web.conftest import Door, Open

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


async def test_what_a_thread_has_kept_is_listed_and_dropped(own_door: Door, db: Database) -> None:
    door = own_door
    receipt = await door.send("hello there")
    thread = receipt["thread_id"]
    assert (await door.get(f"/threads/{thread}/tools"))["items"] == []
    async with db.transaction() as tx:
        for _ in range(3):
            await toolboxes.note_found(tx, thread, new_id(), ["odds__add"])
    [kept] = (await door.get(f"/threads/{thread}/tools"))["items"]
    assert (kept["tool"], kept["found"], kept["kept"]) == ("odds__add", 3, True)
    assert (await door.delete(f"/threads/{thread}/tools/odds__add"))["found"] == 3
    assert (await door.get(f"/threads/{thread}/tools"))["items"] == []
    assert (await door.delete(f"/threads/{thread}/tools/odds__add", 404))["code"] == "not-found"
    await door.get(f"/threads/{uuid4()}/tools", 404)
