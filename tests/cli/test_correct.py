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
