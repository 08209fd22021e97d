"""After a restart: memory is rebuilt by replay, nothing is said twice, and how events are split changes nothing."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from laneway.domain.redaction import redacted
from laneway.domain.session import EventKind, SessionEvent, SessionState, Tokens
from laneway.reactors import Chain, Said
from laneway.reactors.cost_optimizer import CostOptimizer
from laneway.reactors.options import Options
from laneway.reactors.shipped import shipped
from tests.reactors.watched import PROJECT, START, Watched, notices, told, warnings

OPTIONS = Options(kill_on=frozenset({"danger", "loop", "budget"}), budget_tokens=50_000, budget_usd=0.2, max_minutes=45)


def chain() -> Chain:
    return Chain(SessionState("s1", "claude-code"), shipped(OPTIONS))


def test_a_loop_goes_on_counting_and_a_stored_call_without_its_secrets_is_the_same_call() -> None:
    session, after = Watched(*shipped(OPTIONS)), Watched()
    said = [one for _ in range(9) for one in session.done("Bash", {"command": "ls --password=hunter22 x"})]
    assert (len(warnings(said)), len(notices(said))) == (1, 1)
    after.chain, after.calls = chain(), session.calls
    after.chain.replay([replace(one, arguments=redacted(one.arguments)) for one in session.events])
    assert [len(after.done("Bash", {"command": "ls --password=hunter22 x"})) for _ in range(3)] == [0, 0, 1]


CALLS = [
    ("Bash", {"command": "ls"}), ("Bash", {"command": "make test"}), ("Read", {"file_path": "/etc/hosts"}),
    ("Read", {"file_path": "big.py"}), ("Edit", {"file_path": "a.py"}), ("Edit", {"file_path": "../b.py"}),
    ("Bash", {"command": "git push --force"}), ("Task", {"prompt": "x"}), ("mcp__x__y", {"where": "/usr/x"}),
]  # fmt: skip


def anything(seed: int, length: int = 120) -> list[SessionEvent]:
    """A session of all sorts of things, with ticks every five seconds where it is silent."""
    chance = random.Random(seed)
    events = [told(EventKind.STARTED, cwd=PROJECT, model="claude-opus-4-5")]
    now, calls, favourite = START, 0, chance.choice(CALLS)
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


def heard(chain: Chain, events: Sequence[SessionEvent]) -> list[list[Said]]:
    return [chain.handle(event) for event in events]


def test_however_the_events_are_split_the_state_and_what_is_said_are_the_same() -> None:
    wrong, speakers = [], set[str]()
    for seed in range(25):
        events, whole, folded = anything(seed), chain(), SessionState("s1", "claude-code")
        expected = heard(whole, events)
        speakers |= {one.reactor for said in expected for one in said}
        for event in events:
            folded = folded.after(event)
        wrong += [] if folded == whole.state else [f"seed {seed}: the state"]
        for cut in sorted(random.Random(-seed).sample(range(len(events) + 1), 2)):
            rest = chain()
            rest.replay(events[:cut])
            same = heard(rest, events[cut:]) == expected[cut:] and rest.state == whole.state
            wrong += [] if same else [f"seed {seed}, cut at {cut}"]
    assert not wrong, "\n".join(wrong)
    # The sessions had something to say.
    assert speakers >= {"safety", "loop", "tokens", "cost", "stall", CostOptimizer.name}
