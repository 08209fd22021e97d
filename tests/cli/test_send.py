"""One message in, its reply out, and an exit code a script can use."""

from __future__ import annotations

import json
from uuid import uuid4

from tests.cli.conftest import Server
from tests.cli.processes import Shell, eventually
from tests.servers import Fail, Say


def test_text_comes_from_standard_input_and_json_names_the_job(server: Server) -> None:
    server.model.script.then(Say("Read."))
    sent = json.loads(server.shell.run("send", "-", "--json", typed="what is this?\n"))
    assert (sent["replies"], sent["outcome"]) == (["Read."], "done")
    assert server.status(sent["job_id"]) == "done"


def test_the_same_id_runs_once_gives_the_same_reply_and_why_says_that_it_came_twice(server: Server) -> None:
    server.model.script.then(Say("Only once."))
    once = str(uuid4())
    first = server.shell.run("send", "what happens twice?", "--id", once)
    asked = len(server.model.requests)
    assert server.shell.run("send", "what happens twice?", "--id", once) == first == "Only once.\n"
    assert len(server.model.requests) == asked
    assert "another text" in server.shell.refused("send", "x", "--id", once, code=1)
    message, _ = (
        line.split()[1]
        for line in server.shell.run("send", "what happens twice?", "--id", once, "--no-wait").splitlines()
    )
    assert "The same message came 2 times more; nothing was run again." in server.shell.run("why", message)


def test_a_file_is_attached(server: Server) -> None:
    (server.shell.folder / "notes.txt").write_text("buy milk", encoding="utf-8")
    server.model.script.then(Say("Milk."))
    sent = server.json("send", "what is in it?", "--file", "notes.txt")
    shown = server.json("sql", "SELECT name, mime FROM attachments")
    assert ["notes.txt", "text/plain"] in shown["rows"]
    assert sent["replies"] == ["Milk."]


def test_a_failed_job_is_told_and_ends_with_one(server: Server) -> None:
    server.model.script.then(Fail(400, message="no such thing"))
    printed = server.shell.run("send", "what fails?", code=1)
    assert printed.startswith("That did not work.")
    failed = server.json("jobs", "--failed")["items"][0]
    server.model.script.then(Say("Now it works."))
    assert "queued again" in server.shell.run("jobs", "retry", failed["id"])
    # Not before it is done, or it could take the words meant for whoever asks next.
    eventually(lambda: server.status(failed["id"]) == "done")
    assert "only a failed one" in server.shell.refused("jobs", "retry", failed["id"], code=1)


def test_bad_input_is_one_line_and_two(server: Server) -> None:
    cases = {
        ("send", ""): "The message is empty.",
        ("send", "hi", "--mode", "SING"): "mode",
        ("send", "hi", "--lane", "fast"): "Unknown lane `fast`",
        ("send", "hi", "--file", "nowhere.txt"): "nowhere.txt cannot be read",
        ("send", "hi", "--payload", "{"): "not JSON",
        ("send", "hi", "--payload", "[]"): "must be a JSON object",
        ("send", "\udcff"): "not valid UTF-8",
        ("why", "what"): "`what` is not the id of a message",
        ("jobs", "--status", "asleep"): "status",
        ("jobs", "show", "1"): "`1` is not the id of a job",
        ("ledger", "--since", "yesterday"): "not a date or time",
        ("sql", "DELETE FROM jobs"): "PostgreSQL says",
    }
    said = {arguments: server.shell.refused(*arguments) for arguments in cases}
    wrong = [f"{arguments}: {said[arguments]}" for arguments, part in cases.items() if part not in said[arguments]]
    assert not wrong, "\n".join(wrong)


def test_what_is_not_there_is_said_to_be_missing(server: Server) -> None:
    nowhere = str(uuid4())
    for arguments in (("why", nowhere), ("jobs", "show", nowhere), ("stop", nowhere), ("approve", nowhere)):
        assert "There is no" in server.shell.refused(*arguments, code=1)
    assert "There is no thread `nowhere`" in server.shell.refused("messages", "--thread", "nowhere", code=1)


def test_a_wrong_key_is_said_to_be_wrong_and_without_one_where_it_was_looked_for(server: Server, shell: Shell) -> None:
    assert "opens nothing" in server.shell.refused("threads", code=1, LANEWAY_KEY="lw_wrong")
    assert "characters" in server.shell.refused("threads", LANEWAY_KEY="clé")
    assert str(shell.folder / "home" / "key") in shell.refused("threads", code=1)


def test_no_server_is_three_and_says_how_to_start_one(shell: Shell) -> None:
    refusal = shell.refused("send", "hi", code=3, LANEWAY_KEY="lw_any")
    assert ("No Laneway answers" in refusal, "laneway up" in refusal) == (True, True)
    assert "not an address" in shell.refused("threads", LANEWAY_URL="example", LANEWAY_KEY="lw_any")
