"""`laneway correct`: one line says what a message really was, and `laneway why` what became of that."""

from __future__ import annotations

from tests.cli.conftest import Server


def message(server: Server, text: str) -> str:
    return str(server.json("send", text, "--thread", "corrected")["message_id"])


def test_a_correction_is_noted_and_why_tells_of_it(server: Server) -> None:
    thanks = message(server, "thanks a lot")
    noted = server.shell.run("correct", thanks, "command", "--needs-confirmation")
    assert noted == f"Noted: command. `laneway why {thanks}` tells whether it was learnt.\n"
    server.shell.run("correct", thanks, "command", "--no-confirmation")
    told = server.shell.run("why", thanks)
    assert "to command, needs an approval: not decided yet." in told
    assert "to command, needs no approval: not decided yet." in told


def test_corrections_are_listed_and_taken_back_once(server: Server) -> None:
    silver = message(server, "polish the silver")
    noted = server.json("correct", silver, "command", "--no-confirmation")["id"]
    (line,) = [line for line in server.shell.run("correct", "--list").splitlines() if noted in line]
    assert [part for part in ("pending", "command, needs no approval", "“polish the silver”") if part not in line] == []
    gone = server.shell.run("correct", "--withdraw", noted)
    assert gone == "Withdrawn: “polish the silver” as command. It was pending before.\n"
    assert noted in server.shell.run("correct", "--list", "--state", "withdrawn")
    assert "command, needs no approval: withdrawn. It was pending before." in server.shell.run("why", silver)
    assert "was withdrawn before" in server.shell.refused("correct", "--withdraw", noted, code=1)


def test_what_is_wanted_of_correct_must_be_clear(server: Server) -> None:
    assert "Say one of question, command, other." in server.shell.refused("correct", message(server, "hello"), "order")
    assert "--withdraw" in server.shell.refused("correct")
    assert "--withdraw" in server.shell.refused("correct", "--list", "--withdraw", "x")
    assert "Say what the message really is" in server.shell.refused("correct", "x")
    assert "`laneway correct --list` lists them" in server.shell.refused("correct", "--withdraw", "x")
