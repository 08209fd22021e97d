"""A session's state is a pure fold over its events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from laneway.domain.session import EventKind, SessionEvent, SessionState, Tokens

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NEW = SessionState("s", "codex")


def happened(kind: EventKind, after: int = 0, **fields: Any) -> SessionEvent:
    return SessionEvent("s", "codex", kind, NOON + timedelta(seconds=after), **fields)


def folded(*events: SessionEvent) -> SessionState:
    state = NEW
    for event in events:
        state = state.after(event)
    return state


def test_turns_tokens_and_money_add_up() -> None:
    state = folded(
        happened(EventKind.USER, cwd="/w", model="big"),
        happened(EventKind.TOKENS, 1, tokens=Tokens(1, 2, 3, 4, 1), cost=Decimal("0.1"), context_used=8),
        happened(EventKind.TOKENS, 2, tokens=Tokens(10, 20), cost=Decimal("0.2"), context_window=100),
        happened(EventKind.USER, 3, side=True, cwd="/elsewhere", model="small"),
    )
    assert (state.turns, state.tokens, state.cost) == (1, Tokens(11, 22, 3, 4, 1), Decimal("0.3"))
    assert (state.cwd, state.model, state.context_used, state.context_window) == ("/w", "big", 8, 100)
    assert (state.started_at, state.last_activity) == (NOON, NOON + timedelta(seconds=3))
    assert state.tokens.total == 40
    assert (state.total_input_tokens, state.total_output_tokens) == (18, 22)


def test_errors_in_a_row_end_with_a_success() -> None:
    bad, good = happened(EventKind.TOOL_ENDED, failed=True), happened(EventKind.TOOL_ENDED)
    assert folded(bad, happened(EventKind.ERROR), bad).consecutive_errors == 3
    after = folded(bad, bad, good, bad)
    assert (after.errors, after.consecutive_errors) == (3, 1)


def test_calls_are_open_until_their_result() -> None:
    call = happened(EventKind.TOOL_CALLED, tool="Bash", call_id="1", arguments={"command": "ls"})
    state = folded(call, happened(EventKind.TOOL_CALLED, call_id="2"), happened(EventKind.TOOL_CALLED))
    assert set(state.open_calls) == {"1", "2"}
    assert (state.open_calls["1"].tool, state.open_calls["1"].at) == ("Bash", NOON)
    assert set(state.after(happened(EventKind.TOOL_ENDED, call_id="1")).open_calls) == {"2"}


def test_it_waits_or_has_ended_until_a_person_speaks() -> None:
    done = folded(happened(EventKind.ASSISTANT), happened(EventKind.OTHER, turn_ended=True))
    ended = folded(happened(EventKind.USER), happened(EventKind.ENDED))
    assert done.waiting
    assert done.after(happened(EventKind.TOKENS, tokens=Tokens(1))).waiting
    assert done.after(happened(EventKind.ASSISTANT, side=True)).waiting
    assert ended.after(happened(EventKind.TOKENS)).ended
    for state in (done, ended):
        spoken = state.after(happened(EventKind.USER))
        assert (spoken.waiting, spoken.ended) == (False, False)


def test_a_tick_changes_nothing_and_compaction_forgets_how_full_the_context_was() -> None:
    full = folded(happened(EventKind.TOKENS, context_used=900))
    assert full.after(happened(EventKind.TICK, 900)) is full
    assert full.after(happened(EventKind.COMPACTED)).context_used is None
    assert full.after(happened(EventKind.USER)).context_used == 900
