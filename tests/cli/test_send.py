"""One message in, its reply out, and an exit code a script can use."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tests.cli.conftest import Server
from tests.cli.processes import Shell, eventually
from tests.servers import Fail, Loopback, Say


def test_the_reply_is_printed(server: Server) -> None:
    server.model.script.then(Say("Forty-two."))
    assert server.shell.run("send", "what is the answer?") == "Forty-two.\n"


def test_text_comes_from_standard_input_and_json_names_the_job(server: Server) -> None:
    server.model.script.then(Say("Read."))
    sent = json.loads(server.shell.run("send", "-", "--json", typed="what is this?\n"))
    assert sent["replies"] == ["Read."]
    assert sent["outcome"] == "done"
    assert json.loads(server.shell.run("jobs", "show", sent["job_id"], "--json"))["status"] == "done"


def test_the_same_id_runs_once_and_gives_the_same_reply(server: Server) -> None:
    server.model.script.then(Say("Only once."))
    once = str(uuid4())
    first = server.shell.run("send", "what happens twice?", "--id", once)
    asked = len(server.model.requests)
    assert server.shell.run("send", "what happens twice?", "--id", once) == first == "Only once.\n"
    assert len(server.model.requests) == asked


def test_without_waiting_the_ids_are_printed(server: Server) -> None:
    printed = server.shell.run("send", "hello", "--no-wait")
    assert [line.split()[0] for line in printed.splitlines()] == ["Message", "Job"]


def test_a_file_is_attached(server: Server) -> None:
    (server.shell.folder / "notes.txt").write_text("buy milk", encoding="utf-8")
    server.model.script.then(Say("Milk."))
    sent = json.loads(server.shell.run("send", "what is in it?", "--file", "notes.txt", "--json"))
    shown = json.loads(server.shell.run("sql", "SELECT name, mime FROM attachments", "--json"))
    assert ["notes.txt", "text/plain"] in shown["rows"]
    assert sent["replies"] == ["Milk."]


def test_a_failed_job_is_told_and_ends_with_one(server: Server) -> None:
    server.model.script.then(Fail(400, message="no such thing"))
    printed = server.shell.run("send", "what fails?", code=1)
    assert printed.startswith("That did not work.")
    failed = json.loads(server.shell.run("jobs", "--failed", "--json"))["items"][0]
    server.model.script.then(Say("Now it works."))
    assert "queued again" in server.shell.run("jobs", "retry", failed["id"])
    # Not before it is done, or it could take the words meant for whoever asks next.
    eventually(lambda: _status(server, failed["id"]) == "done")
    assert "only a failed one" in server.shell.refused("jobs", "retry", _done(server), code=1)


def _status(server: Server, job: str) -> str:
    return str(json.loads(server.shell.run("jobs", "show", job, "--json"))["status"])


def _done(server: Server) -> str:
    return str(json.loads(server.shell.run("jobs", "--status", "done", "--json"))["items"][0]["id"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("send", ""), "The message is empty."),
        (("send", "hi", "--mode", "SING"), "mode"),
        (("send", "hi", "--lane", "fast"), "Unknown lane `fast`"),
        (("send", "hi", "--file", "nowhere.txt"), "nowhere.txt cannot be read"),
        (("send", "hi", "--payload", "{"), "not JSON"),
        (("send", "hi", "--payload", "[]"), "must be a JSON object"),
        (("send", "\udcff"), "not valid UTF-8"),
        (("why", "what"), "`what` is not the id of a message"),
        (("jobs", "--status", "asleep"), "status"),
        (("jobs", "show", "1"), "`1` is not the id of a job"),
        (("ledger", "--since", "yesterday"), "not a date or time"),
        (("sql", "DELETE FROM jobs"), "PostgreSQL says"),
    ],
)
def test_bad_input_is_one_line_and_two(server: Server, arguments: tuple[str, ...], says: str) -> None:
    assert says in server.shell.refused(*arguments)


def test_what_is_not_there_is_said_to_be_missing(server: Server) -> None:
    nowhere = str(uuid4())
    for arguments in (("why", nowhere), ("jobs", "show", nowhere), ("stop", nowhere), ("approve", nowhere)):
        assert "There is no" in server.shell.refused(*arguments, code=1)
    assert "There is no thread `nowhere`" in server.shell.refused("messages", "--thread", "nowhere", code=1)


def test_no_server_is_three_and_says_how_to_start_one(shell: Shell) -> None:
    refusal = shell.refused("send", "hi", code=3, LANEWAY_KEY="lw_any")
    assert "No Laneway answers" in refusal
    assert "laneway up" in refusal


def test_a_wrong_key_is_said_to_be_wrong(server: Server) -> None:
    assert "opens nothing" in server.shell.refused("threads", code=1, LANEWAY_KEY="lw_wrong")
    assert "characters" in server.shell.refused("threads", LANEWAY_KEY="clé")


def test_without_a_key_the_command_says_where_it_looked(shell: Shell) -> None:
    assert str(shell.folder / "home" / "key") in shell.refused("threads", code=1)


def test_another_program_at_the_address_is_named(shell: Shell) -> None:
    async def stranger(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("hi")(scope, receive, send)

    with Loopback(stranger) as elsewhere:
        refusal = shell.refused("threads", code=3, LANEWAY_URL=elsewhere.url, LANEWAY_KEY="lw_any")
    assert "Another program" in refusal


def test_an_address_that_is_none_is_bad_input(shell: Shell) -> None:
    assert "not an address" in shell.refused("threads", LANEWAY_URL="example", LANEWAY_KEY="lw_any")
