"""`laneway people` and `laneway host-mode`: who is known from where, what each may, and the owner's word on them."""

from __future__ import annotations

import re

from tests.cli.conftest import Server


def test_a_pairing_code_is_printed_with_what_to_do_with_it(server: Server) -> None:
    printed = server.shell.run("people", "pair", TZ="Europe/Berlin").splitlines()
    assert re.fullmatch(r"[2-9CDFHJKMNPQRTVWX]{4}-[2-9CDFHJKMNPQRTVWX]{4}", printed[0])
    assert printed[1].startswith("Send it to the bot from the device that is yours, in a private chat.")
    assert "five wrong tries end it" in printed[2]
    made = server.json("people", "pair", "--role", "operator", "--name", "Bob")
    assert (made["role"], made["name"]) == ("operator", "Bob")
    logs = server.shell.run("logs", "--lines", "1000")
    assert printed[0] not in logs
    assert made["code"] not in logs


def test_people_are_let_in_promoted_blocked_and_forgotten(server: Server) -> None:
    said = server.shell.run("people", "allow", "whatsapp:+49 151 77", "--role", "customer", "--name", "Cleo")
    assert said == "Cleo is let in as customer, from whatsapp:4915177.\n"
    assert re.search("Cleo.*whatsapp:4915177", server.shell.run("people", "--role", "customer"))
    assert server.shell.run("people", "block", "whatsapp:+4915177") == "Cleo is blocked.\n"
    assert "blocked" in server.shell.run("people", "list", "--role", "customer")
    assert "is blocked" in server.shell.refused("people", "forget", "whatsapp:4915177", code=1)
    assert server.shell.run("people", "unblock", "Cleo") == "Cleo is no longer blocked.\n"
    assert server.shell.run("people", "role", "whatsapp:4915177", "operator") == "Cleo has the role operator.\n"
    assert server.shell.run("people", "forget", "whatsapp:4915177") == "whatsapp:4915177 is nobody's any more.\n"
    assert "Nobody is called whatsapp:4915177." in server.shell.refused("people", "block", "whatsapp:4915177", code=1)
    assert "Several people are called Cleo." in server.shell.refused("people", "block", "Cleo")


def test_what_cannot_be_is_said_plainly(server: Server) -> None:
    refused = server.shell.refused
    assert "cannot be blocked" in refused("people", "block", "owner", code=1)
    assert "cannot be demoted" in refused("people", "role", "owner", "operator", code=1)
    assert "is no address" in refused("people", "allow", "4915177", "--role", "operator")
    assert "role" in refused("people", "allow", "telegram:5", "--role", "king")
    assert "role" in refused("people", "pair", "--role", "king")
    assert "No principal is called nobody." in refused("host-mode", "on", "nobody")
    assert server.shell.run("people", "--strangers") == "Nobody has knocked.\n"


def test_host_mode_is_off_until_it_is_switched_on(server: Server) -> None:
    assert server.json("host-mode", "show", "owner")["items"][0]["host_mode"] is False
    switched = server.shell.run("host-mode", "on")
    assert switched == "Commands of owner run on this machine itself; what may change it asks first.\n"
    try:
        assert server.shell.run("host-mode", "show", "owner").split()[-1] == "on"
    finally:
        assert server.shell.run("host-mode", "off", "owner") == "Commands of owner run in the sandbox.\n"
    assert server.shell.run("host-mode", "show", "owner").split()[-1] == "off"


def test_the_place_for_notices_is_chosen_and_given_back(server: Server) -> None:
    server.shell.run("send", "hello", "--thread", "notices-here")
    try:
        said = server.shell.run("people", "notices", "http/notices-here")
        assert said == "You are told in http/notices-here.\n"
        assert server.json("people", "notices")["place"] == "http/notices-here"
        assert "on `telegram`" in server.shell.refused("people", "notices", "telegram")
    finally:
        server.shell.run("people", "notices", "--last-used")
