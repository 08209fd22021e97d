"""The chain: every reactor sees every event, in order, whatever another one does; the strongest reaction counts."""

from __future__ import annotations

from datetime import UTC, datetime

from laneway.domain.session import EventKind, SessionEvent, SessionState
from laneway.reactors import (
    Chain,
    Continue,
    Failed,
    Intervene,
    Reaction,
    ReactorContext,
    Said,
    Severity,
    Warn,
    strongest,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Always:
    """Answers the same to everything and remembers what it saw."""

    def __init__(self, name: str, reaction: Reaction | BaseException | object, seen: list[str]) -> None:
        self.name, self._reaction, self._seen = name, reaction, seen

    def handle(self, ctx: ReactorContext) -> Reaction:
        self._seen.append(f"{self.name}:{ctx.event.kind}:{ctx.state.turns}")
        if isinstance(self._reaction, BaseException):
            raise self._reaction
        return self._reaction  # type: ignore[return-value]


def event(kind: EventKind = EventKind.USER) -> SessionEvent:
    return SessionEvent("s", "claude-code", kind, NOW)


def chain(*answers: Reaction | BaseException | object) -> tuple[Chain, list[str], list[Failed]]:
    seen: list[str] = []
    failed: list[Failed] = []
    reactors = [Always(chr(ord("a") + number), answer, seen) for number, answer in enumerate(answers)]
    return Chain(SessionState("s", "claude-code"), reactors, failed.append), seen, failed


KILL, TELL = Intervene("too much", Severity.KILL), Intervene("look")


def test_every_reactor_sees_every_event_in_order_with_the_state_it_led_to() -> None:
    watching, seen, _ = chain(Continue(), Warn("hm"), Continue())
    assert watching.handle(event()) == [Said("b", Warn("hm"))]
    watching.handle(event())
    watching.handle(event(EventKind.TICK))
    assert seen == ["a:user:1", "b:user:1", "c:user:1", "a:user:2", "b:user:2", "c:user:2",
                    "a:tick:2", "b:tick:2", "c:tick:2"]  # fmt: skip


def test_a_reactor_that_fails_in_the_middle_is_recorded_and_passed_over() -> None:
    watching, seen, failed = chain(Warn("one"), ValueError("broken"), "stop!", SystemExit(3), KILL)
    assert watching.handle(event()) == [Said("a", Warn("one")), Said("e", KILL)]
    assert [failure.reactor for failure in failed] == ["b", "c", "d"]
    assert [failure.error for failure in failed[:2]] == ["ValueError: broken", "It answered str, which is no reaction."]
    assert len(seen) == 5


def test_the_strongest_reaction_counts_and_of_equals_the_first() -> None:
    watching, _, _ = chain(Warn("w"), TELL, KILL, Intervene("again", Severity.KILL))
    said = watching.handle(event())
    assert [one.reactor for one in said] == ["a", "b", "c", "d"]
    assert strongest(said) == Said("c", KILL)
    assert strongest(said[:2]) == Said("b", TELL)
    assert strongest([]) is None
