"""`laneway correct`: one line says what a message really was, and `laneway why` what became of that."""

from __future__ import annotations

import json

from tests.cli.conftest import Server


def test_a_correction_is_noted_and_why_tells_of_it(server: Server) -> None:
    message = json.loads(server.shell.run("send", "thanks a lot", "--thread", "corrected", "--json"))["message_id"]
    noted = server.shell.run("correct", message, "command", "--needs-confirmation")
    assert noted == f"Noted: command. `laneway why {message}` tells whether it was learnt.\n"
    server.shell.run("correct", message, "command", "--no-confirmation")
    told = server.shell.run("why", message)
    assert "to command, needs an approval: not decided yet." in told
    assert "to command, needs no approval: not decided yet." in told


def test_an_unknown_label_is_refused_with_the_known_ones(server: Server) -> None:
    message = json.loads(server.shell.run("send", "hello", "--thread", "corrected", "--json"))["message_id"]
    refused = server.shell.refused("correct", message, "order")
    assert "Say one of question, command, other." in refused


def test_corrections_are_listed_and_taken_back_once(server: Server) -> None:
    message = json.loads(server.shell.run("send", "polish the silver", "--thread", "corrected", "--json"))["message_id"]
    noted = json.loads(server.shell.run("correct", message, "command", "--no-confirmation", "--json"))["id"]
    (line,) = [line for line in server.shell.run("correct", "--list").splitlines() if noted in line]
    assert "pending" in line
    assert "command, needs no approval" in line
    assert "“polish the silver”" in line
    gone = server.shell.run("correct", "--withdraw", noted)
    assert gone == "Withdrawn: “polish the silver” as command. It was pending before.\n"
    assert noted in server.shell.run("correct", "--list", "--state", "withdrawn")
    assert "command, needs no approval: withdrawn. It was pending before." in server.shell.run("why", message)
    assert "was withdrawn before" in server.shell.refused("correct", "--withdraw", noted, code=1)


def test_what_is_wanted_of_correct_must_be_clear(server: Server) -> None:
    assert "--withdraw" in server.shell.refused("correct")
    assert "--withdraw" in server.shell.refused("correct", "--list", "--withdraw", "x")
    assert "Say what the message really is" in server.shell.refused("correct", "x")
    assert "`laneway correct --list` lists them" in server.shell.refused("correct", "--withdraw", "x")
