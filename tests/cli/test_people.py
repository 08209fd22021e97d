"""`laneway people`: pairing codes, who is known from where, and the owner's word on them."""

from __future__ import annotations

import json
import re

from tests.cli.conftest import Server


def test_a_pairing_code_is_printed_with_what_to_do_with_it(server: Server) -> None:
    printed = server.shell.run("people", "pair", TZ="Europe/Berlin").splitlines()
    assert re.fullmatch(r"[2-9CDFHJKMNPQRTVWX]{4}-[2-9CDFHJKMNPQRTVWX]{4}", printed[0])
    assert printed[1].startswith("Send it to the bot from the device that is yours, in a private chat.")
    assert "five wrong tries end it" in printed[2]
    made = json.loads(server.shell.run("people", "pair", "--role", "operator", "--name", "Bob", "--json"))
    assert (made["role"], made["name"]) == ("operator", "Bob")
    assert "role" in server.shell.refused("people", "pair", "--role", "king")
    logs = server.shell.run("logs", "--lines", "1000")
    assert printed[0] not in logs
    assert made["code"] not in logs


def test_people_are_let_in_promoted_blocked_and_forgotten(server: Server) -> None:
    said = server.shell.run("people", "allow", "whatsapp:+49 151 77", "--role", "customer", "--name", "Cleo")
    assert said == "Cleo is let in as customer, from whatsapp:4915177.\n"
    listed = server.shell.run("people", "--role", "customer")
    assert "Cleo" in listed
    assert "whatsapp:4915177" in listed
    assert server.shell.run("people", "block", "whatsapp:+4915177") == "Cleo is blocked.\n"
    assert "blocked" in server.shell.run("people", "list", "--role", "customer")
    assert "is blocked" in server.shell.refused("people", "forget", "whatsapp:4915177", code=1)
    assert server.shell.run("people", "unblock", "Cleo") == "Cleo is no longer blocked.\n"
    assert server.shell.run("people", "role", "whatsapp:4915177", "operator") == "Cleo has the role operator.\n"
    assert server.shell.run("people", "forget", "whatsapp:4915177") == "whatsapp:4915177 is nobody's any more.\n"
    assert "Nobody is called whatsapp:4915177." in server.shell.refused("people", "block", "whatsapp:4915177", code=1)
    assert "Several people are called Cleo." in server.shell.refused("people", "block", "Cleo")


def test_the_owner_stays_and_host_mode_is_switched_as_before(server: Server) -> None:
    assert "cannot be blocked" in server.shell.refused("people", "block", "owner", code=1)
    assert "cannot be demoted" in server.shell.refused("people", "role", "owner", "operator", code=1)
    assert server.shell.run("host-mode", "show", "owner").split()[-1] == "off"


def test_what_cannot_be_is_said_plainly(server: Server) -> None:
    assert "is no address" in server.shell.refused("people", "allow", "4915177", "--role", "operator")
    assert "role" in server.shell.refused("people", "allow", "telegram:5", "--role", "king")
    assert server.shell.run("people", "--strangers") == "Nobody has knocked.\n"


def test_lists_go_on_where_they_ended(server: Server) -> None:
    for number in range(3):
        server.shell.run("people", "allow", f"telegram:77{number}", "--role", "customer", "--name", f"Dora {number}")
    first = json.loads(server.shell.run("people", "--limit", "2", "--json"))
    rest = json.loads(server.shell.run("people", "--limit", "1", "--before", first["next"], "--json"))
    assert [one["name"] for one in first["items"] + rest["items"]] == ["Dora 2", "Dora 1", "Dora 0"]
    ended = server.shell.ended("people", "--limit", "1")
    assert "There are more: laneway people --before " in ended.stderr
