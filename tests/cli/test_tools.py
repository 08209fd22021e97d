"""`laneway tools` on a running Laneway, and what the doctor says of its servers."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import psycopg

from laneway.cli.outside_checks import api_document, hosts_readable, mcp_server
from laneway.connections import McpServer, OpenApiDocument
from laneway.store.vitals import running_address
from tests.cli.conftest import Server
from tests.lanes.test_openapi import PETS


def test_tools_are_listed_with_where_they_come_from(server: Server) -> None:
    assert re.search(r"^http_request .*built in", server.shell.run("tools"), re.MULTILINE)
    names = {one["name"] for one in server.json("tools")["items"]}
    assert {"http_request", "search_tools", "server_info"} <= names


def test_what_a_thread_keeps_is_listed_and_dropped(server: Server) -> None:
    server.shell.run("send", "hello", "--thread", "toolbox")
    assert "No tool was looked for" in server.shell.run("tools", "kept", "toolbox")
    address = running_address(server.home)
    assert address is not None
    with psycopg.connect(address) as connection:
        connection.execute(
            "INSERT INTO toolbox (thread_id, tool, found, kept) "
            "SELECT id, 'sky__forecast', 3, true FROM threads WHERE external_id = 'toolbox'"
        )
    assert "sky__forecast  yes   3" in server.shell.run("tools", "kept", "toolbox")
    assert "out of the toolbox" in server.shell.run("tools", "drop", "toolbox", "sky__forecast")
    assert "No tool was looked for" in server.shell.run("tools", "kept", "toolbox")
    server.shell.run("tools", "drop", "toolbox", "sky__forecast", code=1)


def test_a_server_that_could_not_start_is_found() -> None:
    servers = {
        "program": {"command": sys.executable},
        "address": {"url": "https://sky.example/mcp"},
        "gone": {"command": "no-such-program"},
        "unset": {"command": sys.executable, "env": {"A": "${NOWHERE_SET}"}},
    }
    states = {name: mcp_server(name, McpServer.model_validate(server), {}).state for name, server in servers.items()}
    assert states == {"program": "ok", "address": "ok", "gone": "fail", "unset": "fail"}


def test_a_document_that_cannot_be_used_is_found(tmp_path: Path) -> None:
    (tmp_path / "pets.json").write_text(json.dumps(PETS))
    (tmp_path / "bad.json").write_text("{}")
    good = api_document("pets", OpenApiDocument(document="pets.json"), tmp_path, {})
    assert (good.state, good.says) == ("ok", "4 operations can be called.")
    assert api_document("pets", OpenApiDocument(document="bad.json"), tmp_path, {}).state == "fail"
    assert api_document("pets", OpenApiDocument(document="none.json"), tmp_path, {}).state == "fail"
    assert hosts_readable(("10.0.0.0/8",)).state == "ok"
    assert hosts_readable(("10.0.0.0/99",)).state == "fail"
