"""`laneway tools` on a running Laneway, and what the doctor says of servers without starting them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import psycopg
import pytest

from laneway.cli.outside_checks import api_document, hosts_readable, mcp_server
from laneway.connections import McpServer, OpenApiDocument
from laneway.store.vitals import running_address
from tests.cli.conftest import Server
from tests.cli.processes import Shell
from tests.lanes.test_openapi import PETS


def test_tools_are_listed_with_where_they_come_from(server: Server) -> None:
    printed = server.shell.run("tools")
    line = next(line for line in printed.splitlines() if line.startswith("http_request"))
    assert "built in" in line
    names = {one["name"] for one in json.loads(server.shell.run("tools", "--json"))["items"]}
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


def test_the_doctor_looks_at_servers_without_starting_them(shell: Shell) -> None:
    home = shell.folder / "home"
    home.mkdir()
    (home / "config.yaml").write_text("tools:\n  mcp:\n    gone: {command: no-such-program}\n")
    found = {one["check"]: one for one in json.loads(shell.run("doctor", "--json", code=1))["findings"]}
    assert found["MCP server gone"]["state"] == "fail"
    assert "no-such-program" in found["MCP server gone"]["says"]


@pytest.mark.parametrize(
    ("server", "state"),
    [
        ({"command": sys.executable}, "ok"),
        ({"url": "https://sky.example/mcp"}, "ok"),
        ({"command": "no-such-program"}, "fail"),
        ({"command": sys.executable, "env": {"A": "${NOWHERE_SET}"}}, "fail"),
    ],
)
def test_a_server_that_could_not_start_is_found(server: dict[str, object], state: str) -> None:
    assert mcp_server("a", McpServer.model_validate(server), {}).state == state


def test_a_document_that_cannot_be_used_is_found(tmp_path: Path) -> None:
    (tmp_path / "pets.json").write_text(json.dumps(PETS))
    (tmp_path / "bad.json").write_text("{}")
    good = api_document("pets", OpenApiDocument(document="pets.json"), tmp_path, {})
    assert (good.state, good.says) == ("ok", "4 operations can be called.")
    assert api_document("pets", OpenApiDocument(document="bad.json"), tmp_path, {}).state == "fail"
    assert api_document("pets", OpenApiDocument(document="none.json"), tmp_path, {}).state == "fail"
    assert hosts_readable(("10.0.0.0/8",)).state == "ok"
    assert hosts_readable(("10.0.0.0/99",)).state == "fail"
