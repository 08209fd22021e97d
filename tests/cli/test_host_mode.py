"""`laneway host-mode`: switched for a principal, and shown."""

from __future__ import annotations

import json

from tests.cli.conftest import Server


def test_host_mode_is_off_until_it_is_switched_on(server: Server) -> None:
    assert json.loads(server.shell.run("host-mode", "show", "owner", "--json"))["items"][0]["host_mode"] is False
    switched = server.shell.run("host-mode", "on")
    assert switched == "Commands of owner run on this machine itself; what may change it asks first.\n"
    try:
        assert server.shell.run("host-mode", "show").split()[-1] == "on"
    finally:
        assert server.shell.run("host-mode", "off", "owner") == "Commands of owner run in the sandbox.\n"
    assert server.shell.run("host-mode", "show", "owner").split()[-1] == "off"


def test_a_principal_nobody_knows_is_named(server: Server) -> None:
    assert "No principal is called nobody." in server.shell.refused("host-mode", "on", "nobody")
