"""A rehearsal says what would have been stopped, when, and what would not have been spent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from laneway.domain.session import EventKind, SessionEvent, Tokens
from laneway.domain.session_json import as_json, from_json
from laneway.errors import SettingsError
from laneway.reactors import Continue, Intervene, Reaction, ReactorContext, Severity, Warn
from laneway.reactors.loading import load_file, made
from laneway.reactors.rehearsal import rehearsed
from laneway.reactors.token_budget import TokenBudget

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def happened(kind: EventKind, seconds: float, **more: Any) -> SessionEvent:
    return SessionEvent("s1", "codex", kind, NOW + timedelta(seconds=seconds), **more)


def session(turns: int = 10) -> list[SessionEvent]:
    events = [happened(EventKind.USER, 0, text="go")]
    for turn in range(1, turns + 1):
        events.append(happened(EventKind.ASSISTANT, turn, tokens=Tokens(90, 10), cost=Decimal("0.01")))
        events.append(happened(EventKind.TOOL_CALLED, turn, tool="shell", call_id=f"c{turn}",
                               arguments={"command": f"make step{turn}"}))  # fmt: skip
        events.append(happened(EventKind.TOOL_ENDED, turn, call_id=f"c{turn}"))
    return events


def test_a_budget_is_rehearsed_with_what_it_would_have_saved() -> None:
    found = rehearsed(session(), [TokenBudget(300, kill=True)])
    assert found is not None
    assert found.killed is not None
    assert (found.killed.reactor, found.killed.tokens, found.killed.about) == ("tokens", 300, "assistant")
    assert found.killed.at == NOW + timedelta(seconds=3)
    assert found.spared_tokens.total == 700
    assert found.spared_cost == Decimal("0.07")
    assert found.spared_calls == 8
    assert found.events == 31


def test_a_session_within_the_budget_is_left_alone() -> None:
    found = rehearsed(session(), [TokenBudget(3000, kill=True)])
    assert found is not None
    assert found.killed is None
    assert found.reactions == []
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
    found = rehearsed(events, [Silence()])
    assert found is not None
    assert [(one.at, one.what) for one in found.reactions] == [(NOW + timedelta(seconds=110), "notify")]


class Breaks:
    name = "broken"

    def handle(self, ctx: ReactorContext) -> Reaction:
        if ctx.event.kind is EventKind.TOOL_CALLED:
            raise KeyError("x")
        return Warn("hm")


def test_a_reactor_that_fails_in_a_rehearsal_is_told_once_and_hurts_nobody() -> None:
    found = rehearsed(session(2), [Breaks()])
    assert found is not None
    assert [failure.error for failure in found.failures] == ["KeyError: 'x'"]
    assert found.count("warn") == 5


def test_a_rule_and_a_reactor_of_ones_own_come_from_a_file(tmp_path: Path) -> None:
    rules = tmp_path / "no-deploys.toml"
    rules.write_text('[[rule]]\nname = "steps"\nwhen = "tool_called"\npattern = "step4"\ndo = "kill"\n')
    found = rehearsed(session(), made(load_file(rules), rules.name))
    assert found is not None
    assert found.killed is not None
    assert found.killed.at == NOW + timedelta(seconds=4)
    code = tmp_path / "mine.py"
    code.write_text(
        "from laneway.reactors import Continue, Warn\n"
        "class Mine:\n    name = 'mine'\n    def handle(self, ctx):\n"
        "        return Warn('ended') if ctx.event.kind == 'tool_ended' else Continue()\n"
        "def reactors():\n    return [Mine()]\n"
    )
    found = rehearsed(session(3), made(load_file(code), code.name))
    assert found is not None
    assert found.count("warn") == 3


@pytest.mark.parametrize(
    ("name", "text"), [("a.toml", "nonsense ["), ("b.py", "def reactors(:"), ("c.py", "x = 1"), ("d.txt", "")]
)
def test_a_file_that_holds_no_reactors_is_named(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(SettingsError, match=name):
        load_file(path)


def test_an_event_goes_through_json_and_comes_back_the_same() -> None:
    for event in session(2):
        assert from_json(as_json(event)) == event
