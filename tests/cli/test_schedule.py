"""`laneway schedule`, `reminders`, `tasks` and `memories`, as a person types them."""

from __future__ import annotations

import json

from tests.cli.conftest import Server

BERLIN = ("--zone", "Europe/Berlin")


def test_a_schedule_from_its_making_to_its_end(server: Server) -> None:
    run = server.shell.run
    order = "check the disk and tell me above 80 %"
    added = run("schedule", "add", "weekdays 09:00", order, *BERLIN, "--budget-usd", "0.5", "--quiet", "22:00-07:00",
                "--name", "disk", TZ="Europe/Berlin")  # fmt: skip
    assert added.startswith("Added disk: weekdays 09:00, Europe/Berlin. First run ")
    assert added.rstrip().endswith("09:00:00.")
    assert order in run("schedule", "list")
    shown = run("schedule", "show", "disk", TZ="Europe/Berlin")
    assert "weekdays 09:00, as cron 0 9 * * 1-5, Europe/Berlin" in shown
    assert "Quiet hours 22:00-07:00: results are held back." in shown
    assert "Budget: $0.5000 a day." in shown
    assert shown.count(" 09:00:00\n") == 5
    assert run("schedule", "pause", "disk") == "disk is paused.\n"
    assert "Paused." in run("schedule", "show", "disk")
    assert run("schedule", "resume", "disk").startswith("disk runs next ")
    assert run("schedule", "remove", "disk") == "Removed disk.\n"
    assert server.shell.refused("schedule", "show", "disk", code=1).startswith("Error: There is no schedule `disk`.")


def test_a_time_that_is_not_understood_is_refused_with_examples(server: Server) -> None:
    refused = server.shell.refused("schedule", "add", "whenever you like", "look around")
    assert refused.startswith("Error: `whenever you like` is not understood as a time. Say it like `weekdays 09:00`")
    assert "no time zone `Mars/Base`" in server.shell.refused("schedule", "add", "hourly", "x", "--zone", "Mars/Base")


def test_tasks_are_added_moved_and_shown(server: Server) -> None:
    run = server.shell.run
    made = json.loads(run("tasks", "add", "call the plumber", "--assignee", "Ann", "--priority", "1", "--json"))
    number = str(made["id"])
    assert "call the plumber" in run("tasks")
    assert run("tasks", "move", number, "in_progress") == f"Task {number} is in_progress: call the plumber\n"
    assert "in_progress, manual, priority 1, for Ann" in run("tasks", "show", number)
    refused = server.shell.refused("tasks", "move", number, "pending", code=1)
    assert "From in_progress it may become cancelled or completed or failed." in refused
    run("tasks", "move", number, "completed")
    assert "call the plumber" not in run("tasks")
    assert "call the plumber" in run("tasks", "list", "--status", "completed")


def test_empty_lists_say_so(server: Server) -> None:
    assert server.shell.run("reminders") == "Nothing waits to be delivered.\n"
    assert server.shell.run("memories") == "Nothing is remembered.\n"
    assert "is not the id of a reminder" in server.shell.refused("reminders", "cancel", "x")
    assert "is not the id of a memory" in server.shell.refused("memories", "remove", "x")
