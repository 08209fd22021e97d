"""Reactors are quick: an agent's log is read faster than it grows, with two hundred sessions at once."""

from __future__ import annotations

import time

import pytest

from laneway.domain.session import EventKind, SessionState, Tokens
from laneway.reactors import Reactor, ReactorContext
from laneway.reactors.options import Options
from laneway.reactors.shipped import shipped
from laneway.reactors.tui_renderer import TuiRenderer
from tests.reactors.watched import PROJECT, Watched, told

REACTORS: list[Reactor] = [
    *shipped(Options(budget_tokens=10**9, budget_usd=10**6, max_minutes=10**6)), TuiRenderer(lambda _: None),
]  # fmt: skip


def usual() -> list[ReactorContext]:
    """What a session mostly consists of."""
    session = Watched()
    session.tell(EventKind.USER, text="Please mend the tests. " * 20)
    session.tell(EventKind.ASSISTANT, text="I shall look at them first. " * 50)
    session.done("Read", {"file_path": f"{PROJECT}/src/app/main.py"}, "x" * 2000)
    session.done("Grep", {"pattern": "def test_", "path": "tests"}, "y" * 2000)
    session.done(
        "Bash", {"command": "cd src && python -m pytest -q tests/test_a.py 2>&1 | tail -20", "description": "x"}
    )
    session.done("Edit", {"file_path": "src/a.py", "old_string": "a" * 800, "new_string": "b" * 800})
    session.done("Bash", {"command": "git add -A && git commit -m 'Mend the tests'"})
    session.spend(Tokens(1000, 500, 20_000, 300), context_used=21_300)
    session.turn_over()
    state = SessionState("s1", "claude-code")
    contexts = []
    for event in (*session.events, told(EventKind.TICK)):
        state = state.after(event)
        contexts.append(ReactorContext(event, state))
    return contexts


@pytest.mark.alone
@pytest.mark.parametrize("reactor", REACTORS, ids=lambda reactor: reactor.name)
def test_handling_an_event_takes_a_millisecond_at_most(reactor: Reactor) -> None:
    contexts = usual()
    for ctx in contexts:
        reactor.handle(ctx)
    spent = time.process_time()
    for _ in range(20):
        for ctx in contexts:
            reactor.handle(ctx)
    each = (time.process_time() - spent) / (20 * len(contexts))
    print(f"{reactor.name}: {each * 1e6:.0f} us")
    assert each <= 0.001
