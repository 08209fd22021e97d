"""What commands show: tables with local times for people, JSON with UTC for programs."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from tests.cli.conftest import Server
from tests.cli.processes import eventually
from tests.servers import CallTool, Fail, Hang, Say

BERLIN = "Europe/Berlin"


@pytest.fixture(scope="module")
def sent(server: Server) -> dict[str, str]:
    """A message of a thread of its own that was answered with the help of a tool."""
    server.model.script.then(CallTool("server_info", {"topics": ["uptime"]}), Say("Up for a while."))
    receipt: dict[str, str] = json.loads(
        server.shell.run("send", "how long has [bold]this[/bold] server been up?", "--thread", "listed", "--json")
    )
    return receipt


def test_messages_show_what_was_said_as_it_was_said(server: Server, sent: dict[str, str]) -> None:
    printed = server.shell.run("messages", "--thread", "listed")
    assert "how long has [bold]this[/bold] server been up?" in printed
    assert printed.index("server been up?") < printed.index("Up for a while.")


def test_people_read_local_times_and_programs_utc(server: Server, sent: dict[str, str]) -> None:
    created = json.loads(server.shell.run("messages", "--json", TZ=BERLIN))["items"][0]["created_at"]
    assert created.endswith("Z")
    here = server.shell.run("sql", f"SELECT to_char('{created}'::timestamptz AT TIME ZONE '{BERLIN}', 'HH24:MI:SS')")
    assert here.split()[-1] in server.shell.run("messages", TZ=BERLIN)


def test_why_tells_the_whole_life_from_top_to_bottom(server: Server, sent: dict[str, str]) -> None:
    told = server.shell.run("why", sent["message_id"])
    story = ["| how long has", "Received", "Classified by rules", "Routed to the lane tools", "Job ", "classify",
             "tool.server_info", "reply", "Model openai:gpt-4.1", "Tool server_info: done", "Sent", "| Up for a while.",
             "Altogether:"]  # fmt: skip
    assert [part for part in story if part not in told] == []
    places = [told.index(part) for part in story]
    assert places == sorted(places)


def test_one_job_is_shown_with_its_steps_and_what_it_cost(server: Server, sent: dict[str, str]) -> None:
    shown = server.shell.run("jobs", "show", sent["job_id"])
    for part in ("done, mode AUTO", "Classified by rules", "tool.server_info", "gpt-4.1", "settled"):
        assert part in shown
    assert sent["job_id"] in server.shell.run("jobs", "list", "--thread", "listed")


def test_a_long_list_says_how_to_go_on(server: Server, sent: dict[str, str]) -> None:
    first = server.json("messages", "--limit", "1")
    second = server.json("messages", "--limit", "1", "--before", str(first["next"]))
    assert second["items"][0]["seq"] < first["items"][0]["seq"]
    assert "There are more: laneway messages --before " in server.shell.ended("messages", "--limit", "1").stderr


def test_the_ledger_adds_up_and_is_a_table_with_a_total(server: Server, sent: dict[str, str]) -> None:
    lines = server.json("ledger", "--by", "day", "--since", "2020-01-01")["items"]
    assert (sum(line["calls"] for line in lines) >= 2, sum(line["cost"] for line in lines) > 0) == (True, True)
    assert server.shell.run("ledger", "--by", "thread").splitlines()[-1].startswith("TOTAL")
    assert "Nothing has been spent." in server.shell.run("ledger", "--since", "2999-01-01")


def test_threads_outbox_sql_and_approvals_are_listed(server: Server, sent: dict[str, str]) -> None:
    assert "listed" in server.shell.run("threads")
    assert "Up for a while." in server.shell.run("outbox", "--state", "sent")
    assert "There are no such replies." in server.shell.run("outbox", "--state", "undeliverable")
    assert "Nothing waits for an answer." in server.shell.run("approvals")
    assert server.shell.run("sql", "-", typed="SELECT 6 * 7 AS answer").split() == ["answer", "42"]
    assert "permission" in server.shell.refused("sql", "SELECT key_hash FROM principals", code=1)


def test_stop_ends_a_running_job_and_everything_in_a_thread(server: Server) -> None:
    server.model.script.then(Hang(60), Hang(60))
    asked = len(server.model.requests)
    jobs = [
        server.json("send", "what takes so long?", "--thread", name, "--no-wait")["job_id"]
        for name in ("slow-1", "slow-2")
    ]
    # Stopped before it asks, a job would leave its silence to whoever asks next.
    eventually(lambda: len(server.model.requests) >= asked + 2 and server.model.script.left == 0)
    assert [server.status(job) for job in jobs] == ["running", "running"]
    assert jobs[0] in server.shell.run("stop", jobs[0])
    assert jobs[1] in server.shell.run("stop", "http/slow-2")
    for job in jobs:
        eventually(lambda job=job: server.status(job) == "cancelled")
    assert server.shell.run("stop", "slow-2") == "Nothing is running or waiting there.\n"


def test_the_log_can_be_read_filtered_and_followed(server: Server) -> None:
    assert "Ready at http://127.0.0.1" in server.shell.run("logs", "-n", "5000")
    assert server.shell.run("logs", "--job", str(uuid4())) == ""
    follower = server.shell.start("logs", "-f", "-n", "1")
    assert follower.stdout is not None
    try:
        assert follower.stdout.readline() != ""
        # A word the rules are unsure of goes to the small model; that it fails is a warning.
        server.model.script.then(Fail(400), Say("Whatever that means."))
        job = server.json("send", "disk", "--thread", "logged")["job_id"]
        # What else the server does, it may say in between.
        followed = [follower.stdout.readline()]
        while "The small model did not judge" not in followed[-1]:
            followed.append(follower.stdout.readline())
            assert followed[-1] != "", followed
        assert any(f"Job {job}, run 1, began" in line for line in followed)
        # The reply is there before the job says that it has ended.
        eventually(lambda: f"Job {job}, run 1, ended." in server.shell.run("logs", "--job", job))
    finally:
        follower.send_signal(2)
        assert follower.wait(60) == 130


def test_a_reader_that_leaves_early_is_no_error(server: Server, sent: dict[str, str]) -> None:
    process = server.shell.start("config", "show")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    process.wait(60)


def test_undo_prints_what_it_did_and_a_second_one_that_it_was_done(server: Server) -> None:
    server.model.script.then(CallTool("write_file", {"path": "a.txt", "content": "a"}), Say("Written."))
    receipt = server.json("send", "what is the plan?", "--thread", "undone")
    file = server.home / "workspaces" / receipt["thread_id"] / "a.txt"
    file.write_text("mine")
    told = server.shell.run("undo", receipt["job_id"], code=1)
    assert told == "a.txt: left alone, its content changed since\n0 restored, 1 left alone.\n"
    file.write_text("a")
    assert server.json("undo", receipt["job_id"])["restored"] == [{"path": "a.txt", "what": "removed"}]
    assert "was undone already" in server.shell.refused("undo", receipt["job_id"], code=1)
    assert not file.exists()
