"""A session for tests: events are told one after the other, on a clock of its own, to the reactors under test."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from laneway.domain.session import EventKind, SessionEvent, SessionState, Tokens
from laneway.reactors import Chain, Intervene, Reactor, Said, Severity, Warn

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
PROJECT = "/home/me/app"


def told(kind: EventKind, at: datetime = START, **fields: Any) -> SessionEvent:
    return SessionEvent("s1", "claude-code", kind, at, **fields)


def happened(kind: EventKind, seconds: float = 0, **fields: Any) -> SessionEvent:
    return told(kind, START + timedelta(seconds=seconds), **fields)


class Watched:
    """What some reactors say to a session."""

    def __init__(self, *reactors: Reactor, cwd: str = PROJECT, model: str = "claude-sonnet-4-5") -> None:
        self.now = START
        self.events: list[SessionEvent] = []
        self.chain = Chain(SessionState("s1", "claude-code"), reactors)
        self.calls = 0
        self.tell(EventKind.STARTED, cwd=cwd, model=model)

    def tell(self, kind: EventKind, **fields: Any) -> list[Said]:
        event = told(kind, self.now, **fields)
        self.events.append(event)
        return self.chain.handle(event)

    def call(self, tool: str, arguments: Mapping[str, Any], **fields: Any) -> list[Said]:
        self.calls += 1
        return self.tell(EventKind.TOOL_CALLED, tool=tool, arguments=arguments, call_id=f"c{self.calls}", **fields)

    def end(self, text: str = "ok", **fields: Any) -> list[Said]:
        fields.setdefault("call_id", f"c{self.calls}")
        return self.tell(EventKind.TOOL_ENDED, text=text, result_hash=f"h{text}", **fields)

    def done(self, tool: str, arguments: Mapping[str, Any], text: str = "ok", **fields: Any) -> list[Said]:
        """A call and its result."""
        return self.call(tool, arguments, side=fields.get("side", False)) + self.end(text, **fields)

    def spend(self, tokens: int | Tokens, **fields: Any) -> list[Said]:
        counted = tokens if isinstance(tokens, Tokens) else Tokens(input=tokens)
        return self.tell(EventKind.TOKENS, tokens=counted, **fields)

    def turn_over(self, **fields: Any) -> list[Said]:
        return self.tell(EventKind.OTHER, turn_ended=True, **fields)

    def wait(self, seconds: float, step: float = 5, **tick: Any) -> list[Said]:
        """The clock goes on, ticking."""
        said: list[Said] = []
        end = self.now + timedelta(seconds=seconds)
        while self.now < end:
            self.now = min(end, self.now + timedelta(seconds=step))
            said += self.chain.handle(told(EventKind.TICK, self.now, **tick))
        return said


def warnings(said: list[Said]) -> list[str]:
    return [one.reaction.message for one in said if isinstance(one.reaction, Warn)]


def notices(said: list[Said], severity: Severity = Severity.NOTIFICATION) -> list[str]:
    reactions = [one.reaction for one in said]
    return [one.reason for one in reactions if isinstance(one, Intervene) and one.severity is severity]


def kills(said: list[Said]) -> list[str]:
    return notices(said, Severity.KILL)


def weights(said: list[Said]) -> str:
    """How strongly each of them speaks: warning, notification or kill."""
    return " ".join("warning" if isinstance(one.reaction, Warn) else one.reaction.severity.value for one in said)
