"""`laneway ledger --saved`: the comparison as a table for people, as JSON for programs."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

from laneway.app import Parts
from tests.cli.conftest import MODEL, Server
from tests.cli.processes import Shell
from tests.servers import Say
from tests.serving import Served, serving

QUESTION = "how long has this server been up?"


def asked(server: Server, thread: str) -> str:
    """A question of a known size was judged by rules and answered; returns the moment before it."""
    moment = datetime.now(UTC).isoformat()
    server.model.script.then(Say("Long.", tokens_in=1_000_000, tokens_out=10_000, cache_read=0))
    server.shell.run("send", QUESTION, "--thread", thread)
    return moment


def test_the_comparison_is_a_short_table(server: Server) -> None:
    lines = server.shell.run("ledger", "--saved", "--since", asked(server, "saved-1")).splitlines()
    assert lines[0].split() == ["AGAINST", MODEL, "HOW", "MANY", "COST"]
    spent, there, judged, saved = ([part for part in line.split("  ") if part.strip()] for line in lines[1:5])
    assert [cell.strip() for cell in spent] == ["Spent", "1 call", "$2.0800"]
    assert [cell.strip() for cell in there] == ["The same calls there", "1 call", "$2.0800"]
    assert [cell.strip() for cell in judged[:2]] == ["Judged without a model", "1 message"]
    assert saved[0].strip() == "SAVED"
    assert saved[-1].strip() == judged[-1].strip()


def test_programs_get_what_the_server_sent(server: Server) -> None:
    since = asked(server, "saved-2")
    found = json.loads(server.shell.run("ledger", "--saved", "--since", since, "--json"))
    assert (found["compared_with"], found["instead_of"]) == (MODEL, None)
    assert (found["calls"], found["judged_locally"]) == (1, 1)
    assert found["saved"] == found["avoided"] > 0


def test_where_nothing_happened_there_is_nothing_to_compare(server: Server) -> None:
    assert server.shell.run("ledger", "--saved", "--since", "2999-01-01") == "Nothing has been spent or judged.\n"
    assert json.loads(server.shell.run("ledger", "--saved", "--since", "2999-01-01", "--json"))["share"] is None


def test_one_sum_cannot_be_split(server: Server) -> None:
    assert "`--by`" in server.shell.refused("ledger", "--saved", "--by", "model")
    assert "`soon` is not a date" in server.shell.refused("ledger", "--saved", "--since", "soon")


def shell_of(place: Served, folder: Path) -> Shell:
    """A shell whose commands find a Laneway in this process."""
    return Shell(folder, {"LANEWAY_URL": place.url, "LANEWAY_KEY": place.key})


async def test_without_a_price_it_says_what_to_set(database_url: str, tmp_path: Path) -> None:
    async with serving(database_url, tmp_path, Parts(), claude_model="our-own-llama") as place:
        said = await asyncio.to_thread(shell_of(place, tmp_path).refused, "ledger", "--saved")
    assert "Nobody knows a price for `offline`" in said
    assert "Set CLAUDE_MODEL" in said


async def test_without_a_key_the_yardstick_is_named(database_url: str, tmp_path: Path) -> None:
    async with serving(database_url, tmp_path, Parts()) as place:
        shell = shell_of(place, tmp_path)
        empty = await asyncio.to_thread(shell.run, "ledger", "--saved")
        await asyncio.to_thread(shell.run, "send", QUESTION)
        told = await asyncio.to_thread(shell.run, "ledger", "--saved")
    assert empty == "Nothing has been spent or judged.\n"
    assert told.startswith("AGAINST anthropic:claude-sonnet-5-5 ")
    assert "offline has no price, so the comparison is with the strong model of the settings." in told
    assert "400 tokens in and 80 out, as no model made one yet." in told
