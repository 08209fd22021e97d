"""Budgets of tokens, money and time: a warning at 80 %, a forecast, and the end at 100 %."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from laneway.domain.session import EventKind, Tokens
from laneway.reactors.cost_budget import CostBudget
from laneway.reactors.costs import price_of
from laneway.reactors.time_budget import TimeBudget
from laneway.reactors.token_budget import TokenBudget
from tests.reactors.watched import START, Watched, kills, notices, warnings


def test_tokens_are_warned_of_at_80_percent_and_end_at_100() -> None:
    session = Watched(TokenBudget(1000))
    assert session.spend(799) == []
    assert warnings(session.spend(1)) == ["800 of 1,000 tokens (80 %) are used."]
    assert session.spend(199) == []
    assert notices(session.spend(Tokens(cache_read=1))) == ["The budget is used up: 1,000 of 1,000 tokens (100 %)."]
    assert session.spend(5000) == []


def test_an_armed_budget_ends_the_session_even_if_one_answer_takes_it_all() -> None:
    assert len(kills(Watched(TokenBudget(1000, kill=True)).spend(5000))) == 1


def test_a_fast_session_is_warned_of_before_80_percent_and_a_pause_is_no_pace() -> None:
    session = Watched(TokenBudget(100_000))
    said = [warning for _ in range(3) for warning in warnings((session.wait(60), session.spend(20_000))[1])]
    assert said == ["60,000 of 100,000 tokens (60 %) are used; at this pace the rest is used up in 2 minutes."]
    session = Watched(TokenBudget(100_000))
    session.spend(60_000)
    session.wait(3600)
    assert session.spend(5_000) == []


def test_what_was_used_before_the_run_does_not_count() -> None:
    since = START + timedelta(minutes=5)
    session = Watched(TokenBudget(1000, since=since), CostBudget(0.01, since=since), TimeBudget(5, since=since))
    session.spend(900_000)
    assert session.wait(300) == []
    assert warnings(session.spend(850))[0].startswith("850 of 1,000 tokens")
    assert notices(session.wait(300)) == ["The budget is used up: 5.0 of 5.0 minutes (100 %)."]


def test_money_is_counted_by_the_price_list_or_by_what_the_log_says() -> None:
    tokens = Tokens(input=100_000, output=10_000)
    assert price_of(tokens, "claude-sonnet-4-5", "claude-code") == Decimal("0.45")
    session = Watched(CostBudget(1.0))
    assert session.spend(tokens) == []
    assert warnings(session.spend(tokens)) == ["$0.90 of $1.00 (90 %) are used."]
    assert notices(session.spend(Tokens(), cost=Decimal("0.10"))) == ["The budget is used up: $1.00 of $1.00 (100 %)."]


def test_a_model_without_a_price_is_named_once() -> None:
    session = Watched(CostBudget(1.0), model="my-own-model")
    assert warnings(session.spend(1000)) == ["Nobody knows the price of my-own-model: what it costs is not counted."]
    assert session.spend(1000) == []


def test_time_runs_out_in_silence_too_but_not_when_the_session_is_over() -> None:
    session = Watched(TimeBudget(10, kill=True))
    session.tell(EventKind.USER, text="go")
    assert session.wait(475) == []
    assert warnings(session.wait(5)) == ["8.0 of 10 minutes (80 %) are used."]
    assert session.wait(115) == []
    assert kills(session.wait(5)) == ["The budget is used up: 10 of 10 minutes (100 %)."]
    session = Watched(TimeBudget(10, kill=True))
    session.tell(EventKind.ENDED)
    assert session.wait(3600) == []
