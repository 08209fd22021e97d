"""After a restart: memory is rebuilt by replay, nothing is said twice, and how events are split changes nothing."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta

import pytest

from laneway.domain.session import EventKind, SessionEvent, SessionState, Tokens
from laneway.reactors import Chain, Said
from laneway.reactors.cost_optimizer import CostOptimizer
from laneway.reactors.options import Options
from laneway.reactors.shipped import shipped
from tests.reactors.watched import PROJECT, START, Watched, notices, told, warnings

OPTIONS = Options(kill_on=frozenset({"danger", "loop", "budget"}), budget_tokens=50_000, budget_usd=0.2, max_minutes=45)


def watching() -> Watched:
    return Watched(*shipped(OPTIONS))


def restarted(before: Watched, *, watched_until_now: bool = True) -> Watched:
    """Another process goes on where the first one stopped."""
    after = watching()
    after.chain = Chain(SessionState("s1", "claude-code"), shipped(OPTIONS))
    after.chain.replay(before.events, before.now if watched_until_now else None)
    after.now, after.calls = before.now, before.calls
    return after


def test_a_standstill_that_was_told_is_not_told_again() -> None:
    session = watching()
    session.turn_over()
    assert len(notices(session.wait(120))) == 1
    after = restarted(session)
    assert after.wait(600) == []
    assert after.chain.state == session.chain.state


def test_a_cool_down_goes_on() -> None:
    session = watching()
    session.turn_over()
    assert len(notices(session.wait(90))) == 1
    session.tell(EventKind.USER, text="more")
    session.turn_over()
    after = restarted(session)
    assert after.wait(200) == []
    assert len(notices(after.wait(120))) == 1


def test_a_standstill_nobody_saw_is_told() -> None:
    session = watching()
    session.turn_over()
    assert len(notices(restarted(session, watched_until_now=False).wait(60))) == 1


def test_a_loop_goes_on_counting_and_what_was_told_is_not_told_again() -> None:
    session = watching()
    said = [one for _ in range(9) for one in session.done("Bash", {"command": "ls", "token": "s3cret-s3cret"})]
    assert (len(warnings(said)), len(notices(said))) == (1, 1)
    after = restarted(session)
    assert after.done("Bash", {"command": "ls", "token": "s3cret-s3cret"}) == []
    assert after.done("Bash", {"command": "ls", "token": "s3cret-s3cret"}) == []
    assert len(after.done("Bash", {"command": "ls", "token": "s3cret-s3cret"})) == 1


def test_a_stored_call_without_its_secrets_is_the_same_call() -> None:
    from dataclasses import replace

    from laneway.domain.redaction import redacted

    session = watching()
    for _ in range(7):
        session.done("Bash", {"command": "deploy --password=hunter22 x"})
    session.events = [replace(one, arguments=redacted(one.arguments)) for one in session.events]
    assert len(notices(restarted(session).done("Bash", {"command": "deploy --password=hunter22 x"}))) == 1


def test_budgets_and_errors_that_were_told_are_not_told_again() -> None:
    session = watching()
    assert len(warnings(session.spend(41_000))) == 1
    for number in range(5):
        session.done("Bash", {"command": f"make {number}"}, failed=True)
    after = restarted(session)
    assert after.spend(100) == []
    assert after.done("Bash", {"command": "make again"}, failed=True) == []
    assert len(after.spend(9_000)) == 1


def test_replaying_says_nothing_and_leaves_the_state_that_handling_leaves() -> None:
    lines: list[str] = []
    session = watching()
    session.call("Bash", {"command": "rm -rf /"})
    chain = Chain(SessionState("s1", "claude-code"), shipped(OPTIONS), lambda failed: lines.append(failed.error))
    chain.replay(session.events)
    assert chain.state == session.chain.state
    assert lines == []


CALLS = [
    ("Bash", {"command": "ls"}), ("Bash", {"command": "make test"}), ("Read", {"file_path": "/etc/hosts"}),
    ("Read", {"file_path": "big.py"}), ("Edit", {"file_path": "a.py"}), ("Edit", {"file_path": "../b.py"}),
    ("Bash", {"command": "git push --force"}), ("Task", {"prompt": "x"}), ("mcp__x__y", {"where": "/usr/x"}),
]  # fmt: skip


def anything(seed: int, length: int = 120) -> list[SessionEvent]:
    """A session of all sorts of things, with ticks every five seconds where it is silent."""
    chance = random.Random(seed)
    events, now, calls, favourite = (
        [told(EventKind.STARTED, cwd=PROJECT, model="claude-opus-4-5")],
        START,
        0,
        chance.choice(CALLS),
    )
    while len(events) < length:
        for _ in range(chance.choice((0, 0, 0, 0, 1, 2, 15, 70))):
            now += timedelta(seconds=5)
            events.append(told(EventKind.TICK, now))
        now += timedelta(seconds=chance.random())
        kind = chance.choice(
            (EventKind.TOOL_CALLED,) * 6 + (EventKind.USER, EventKind.TOKENS, EventKind.TOKENS, EventKind.OTHER)
        )
        if kind is EventKind.TOOL_CALLED:
            calls += 1
            tool, arguments = favourite if chance.random() < 0.85 else chance.choice(CALLS)
            events.append(told(kind, now, tool=tool, arguments=arguments, call_id=f"c{calls}"))
            if chance.random() < 0.95:
                failed = chance.random() < 0.1
                events.append(told(EventKind.TOOL_ENDED, now, call_id=f"c{calls}", text="r" * 2000, failed=failed))
        elif kind is EventKind.TOKENS:
            events.append(
                told(kind, now, tokens=Tokens(chance.randrange(8000), chance.randrange(800)), model="claude-opus-4-5")
            )
        else:
            events.append(told(kind, now, turn_ended=kind is EventKind.OTHER, text="x"))
    return events


def flat(said: list[list[Said]]) -> list[Said]:
    return [one for some in said for one in some]


def heard(chain: Chain, events: Sequence[SessionEvent]) -> list[list[Said]]:
    return [chain.handle(event) for event in events]


@pytest.mark.parametrize("seed", range(25))
def test_however_the_events_are_split_the_state_and_what_is_said_are_the_same(seed: int) -> None:
    events = anything(seed)
    whole = Chain(SessionState("s1", "claude-code"), shipped(OPTIONS))
    expected = heard(whole, events)
    folded = SessionState("s1", "claude-code")
    for event in events:
        folded = folded.after(event)
    assert folded == whole.state
    chance = random.Random(-seed)
    for cut in sorted(chance.sample(range(len(events) + 1), 3)):
        rest = Chain(SessionState("s1", "claude-code"), shipped(OPTIONS))
        rest.replay(events[:cut])
        assert heard(rest, events[cut:]) == expected[cut:]
        assert rest.state == whole.state


def test_the_sessions_of_that_test_have_something_to_say() -> None:
    said: list[Said] = []
    for seed in range(25):
        chain = Chain(SessionState("s1", "claude-code"), shipped(OPTIONS))
        said += flat(heard(chain, anything(seed)))
    assert {one.reactor for one in said} >= {"safety", "loop", "tokens", "cost", "stall", CostOptimizer.name}
