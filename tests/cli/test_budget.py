"""`laneway budget` and `laneway ledger --saved`: tables for people, JSON for programs, and clear refusals."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from laneway.app import Parts
from tests.cli.conftest import MODEL, Server
from tests.cli.processes import Shell
from tests.servers import Say
from tests.serving import serving

QUESTION = "how long has this server been up?"


def test_a_budget_is_set_shown_and_removed(server: Server) -> None:
    server.model.script.then(Say("Long.", tokens_in=1_000, tokens_out=100, cache_read=0))
    server.shell.run("send", QUESTION, "--thread", "thrifty")
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


def test_programs_get_the_budgets_the_server_sent(server: Server) -> None:
    stored = server.json("budget", "set", "--customers", "--month", "--usd", "30")
    assert (stored["subject"], stored["world"], stored["period"]) == ("all", "customer", "month")
    assert stored in server.json("budget")["items"]
    assert server.json("budget", "remove", "--customers", "--month")["world"] == "customer"


def test_what_makes_no_sense_is_refused(server: Server) -> None:
    cases = {
        "budget set --day": "--usd, --tokens",
        "budget set --usd 1": "--day or --month",
        "budget set --day --month --usd 1": "a day or a month",
        "budget set --lane tools --job x --day --usd 1": "--lane and --job",
        "budget set --lane fast --day --usd 1": "no lane `fast`",
        "ledger --saved --by model": "`--by`",
        "ledger --saved --since soon": "`soon` is not a date",
    }
    said = {line: server.shell.refused(*line.split()) for line in cases}
    wrong = [f"{line}: {said[line]}" for line, part in cases.items() if part not in said[line]]
    assert not wrong, "\n".join(wrong)
    nobodys = server.shell.refused("budget", "remove", "--proactive", "--day", code=1)
    assert "Nobody set a day budget of proactive work" in nobodys


def test_what_was_saved_is_a_short_table_and_programs_get_what_the_server_sent(server: Server) -> None:
    since = datetime.now(UTC).isoformat()
    server.model.script.then(Say("Long.", tokens_in=1_000_000, tokens_out=10_000, cache_read=0))
    server.shell.run("send", QUESTION, "--thread", "saved")
    lines = server.shell.run("ledger", "--saved", "--since", since).splitlines()
    assert lines[0].split() == ["AGAINST", MODEL, "HOW", "MANY", "COST"]
    cells = [[part.strip() for part in line.split("  ") if part.strip()] for line in lines[1:5]]
    spent, there, judged, saved = cells
    assert spent == ["Spent", "1 call", "$2.0800"]
    assert there == ["The same calls there", "1 call", "$2.0800"]
    assert judged[:2] == ["Judged without a model", "1 message"]
    assert (saved[0], saved[-1]) == ("SAVED", judged[-1])
    found = server.json("ledger", "--saved", "--since", since)
    assert (found["compared_with"], found["instead_of"]) == (MODEL, None)
    assert (found["calls"], found["judged_locally"]) == (1, 1)
    assert found["saved"] == found["avoided"] > 0
    assert server.json("ledger", "--saved", "--since", "2999-01-01")["share"] is None


async def test_without_a_key_the_yardstick_is_named(database_url: str, tmp_path: Path) -> None:
    async with serving(database_url, tmp_path, Parts()) as place:
        shell = Shell(tmp_path, {"LANEWAY_URL": place.url, "LANEWAY_KEY": place.key})
        empty = await asyncio.to_thread(shell.run, "ledger", "--saved")
        await asyncio.to_thread(shell.run, "send", QUESTION)
        told = await asyncio.to_thread(shell.run, "ledger", "--saved")
    assert empty == "Nothing has been spent or judged.\n"
    assert told.startswith("AGAINST anthropic:claude-sonnet-5-5 ")
    assert "offline has no price, so the comparison is with the strong model of the settings." in told
    assert "400 tokens in and 80 out, as no model made one yet." in told
