"""`laneway budget`: a table for people, JSON for programs, and clear refusals."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Server
from tests.servers import Say


def test_a_budget_is_set_shown_and_removed(server: Server) -> None:
    server.model.script.then(Say("Long.", tokens_in=1_000, tokens_out=100))
    server.shell.run("send", "how long has this server been up?", "--thread", "thrifty")
    stored = server.shell.run("budget", "set", "--thread", "thrifty", "--month", "--usd", "0.02", "--tokens", "9000")
    titles, money, tokens = stored.splitlines()
    assert titles.split("  ")[0] == "BUDGET"
    assert "(http/thrifty)" in money
    assert [part for part in money.split() if part.startswith("$")] == ["$0.0028", "$0.00", "$0.0200", "$0.0172"]
    assert "1,100 tokens" in tokens
    shown = server.shell.run("budget")
    assert money.split() in [line.split() for line in shown.splitlines()]
    assert "budget.day_usd" in shown
    assert "Each job may spend $1.0000 (budget.job_…)." in shown
    assert server.shell.run("budget", "remove", "--thread", "thrifty", "--month").startswith("Removed.")
    assert "thrifty" not in server.shell.run("budget")


def test_programs_get_what_the_server_sent(server: Server) -> None:
    stored = json.loads(server.shell.run("budget", "set", "--customers", "--month", "--usd", "30", "--json"))
    assert (stored["subject"], stored["world"], stored["period"]) == ("all", "customer", "month")
    assert stored in json.loads(server.shell.run("budget", "--json"))["items"]
    assert json.loads(server.shell.run("budget", "remove", "--customers", "--month", "--json"))["world"] == "customer"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("set", "--day"), "--usd, --tokens"),
        (("set", "--usd", "1"), "--day or --month"),
        (("set", "--day", "--month", "--usd", "1"), "a day or a month"),
        (("set", "--lane", "tools", "--job", "x", "--day", "--usd", "1"), "--lane and --job"),
        (("set", "--lane", "fast", "--day", "--usd", "1"), "no lane `fast`"),
    ],
)
def test_what_makes_no_sense_is_refused(server: Server, arguments: tuple[str, ...], told: str) -> None:
    assert told in server.shell.refused("budget", *arguments)


def test_only_what_was_set_can_be_removed(server: Server) -> None:
    told = server.shell.refused("budget", "remove", "--proactive", "--day", code=1)
    assert "Nobody set a day budget of proactive work" in told
