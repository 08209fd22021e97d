"""A rehearsal says what would have been stopped, when, and what would not have been spent."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from laneway.domain.session import EventKind, SessionEvent, Tokens
from laneway.errors import SettingsError
from laneway.reactors import Continue, Intervene, Reaction, Reactor, ReactorContext, Severity
from laneway.reactors.loading import load_file, made
from laneway.reactors.rehearsal import Rehearsal, rehearsed
from laneway.reactors.token_budget import TokenBudget
from tests.reactors.watched import START, happened


def session(turns: int = 10) -> list[SessionEvent]:
    events = [happened(EventKind.USER, text="go")]
    for turn in range(1, turns + 1):
        call = {"call_id": f"c{turn}", "arguments": {"command": f"make step{turn}"}}
        events += [
            happened(EventKind.ASSISTANT, turn, tokens=Tokens(90, 10), cost=Decimal("0.01")),
            happened(EventKind.TOOL_CALLED, turn, tool="shell", **call),
            happened(EventKind.TOOL_ENDED, turn, call_id=f"c{turn}"),
        ]
    return events


def rehearsal(events: list[SessionEvent], *reactors: Reactor) -> Rehearsal:
    found = rehearsed(events, reactors)
    assert found is not None
    return found


def test_a_budget_is_rehearsed_with_what_it_would_have_saved() -> None:
    found = rehearsal(session(), TokenBudget(300, kill=True))
    assert found.killed is not None
    assert (found.killed.reactor, found.killed.tokens, found.killed.about) == ("tokens", 300, "assistant")
    assert found.killed.at == START + timedelta(seconds=3)
    assert found.spared_tokens.total == 700
    assert (found.spared_cost, found.spared_calls, found.events) == (Decimal("0.07"), 8, 31)
    # A session within the budget is left alone.
    found = rehearsal(session(), TokenBudget(3000, kill=True))
    assert (found.killed, found.reactions) == (None, [])
    assert rehearsed([], []) is None


class Silence:
    """Says something when nothing happens for a minute."""

    name = "silence"

    def handle(self, ctx: ReactorContext) -> Reaction:
        quiet = ctx.event.at - (ctx.state.last_activity or ctx.event.at)
        if ctx.event.kind is EventKind.TICK and quiet == timedelta(minutes=1):
            return Intervene("quiet", Severity.NOTIFICATION)
        return Continue()


def test_the_clock_ticks_in_the_silences_of_a_rehearsal() -> None:
    events = [happened(EventKind.USER, 0), happened(EventKind.ASSISTANT, 50), happened(EventKind.USER, 500)]
    found = rehearsal(events, Silence())
    assert [(one.at, one.what) for one in found.reactions] == [(START + timedelta(seconds=110), "notify")]


def test_a_rule_comes_from_a_file_and_one_that_holds_no_reactors_is_named(tmp_path: Path) -> None:
    rules = tmp_path / "no-deploys.toml"
    rules.write_text('[[rule]]\nname = "steps"\nwhen = "tool_called"\npattern = "step4"\ndo = "kill"\n')
    found = rehearsal(session(), *made(load_file(rules), rules.name))
    assert found.killed is not None
    assert found.killed.at == START + timedelta(seconds=4)
    for name, text in (("a.toml", "nonsense ["), ("b.py", "def reactors(:"), ("c.py", "x = 1"), ("d.txt", "")):
        (tmp_path / name).write_text(text)
        with pytest.raises(SettingsError, match=name):
            load_file(tmp_path / name)
