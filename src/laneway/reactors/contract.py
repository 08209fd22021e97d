"""What a reactor gets and what it answers. A whole reactor is a name and one method."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from laneway.domain.session import SessionEvent, SessionState


class Severity(StrEnum):
    """How far an intervention goes: tell somebody, or end what is watched."""

    NOTIFICATION = "notification"
    KILL = "kill"


@dataclass(frozen=True, slots=True)
class Continue:
    """Nothing to say."""


@dataclass(frozen=True, slots=True)
class Warn:
    """Worth a line where the session is watched."""

    message: str
    nudge: bool = False
    """Worth telling the watched agent itself, by whoever can: a hook's answer, a job of our own."""


@dataclass(frozen=True, slots=True)
class Intervene:
    """Somebody has to know, or the session has to end."""

    reason: str
    severity: Severity = Severity.NOTIFICATION


Reaction: TypeAlias = Continue | Warn | Intervene


@dataclass(frozen=True, slots=True)
class ReactorContext:
    """What just happened, and the session as it is with it."""

    event: SessionEvent
    state: SessionState
    replayed: bool = False
    """It happened before this process watched: worth remembering, but nothing is to be done about it again."""
    shown: bool = False
    """It is replayed for somebody who looks at it: what is said is shown, though nobody is told."""


class Reactor(Protocol):
    """A watcher of one session. It may remember what it saw: its memory is rebuilt by replaying the session."""

    @property
    def name(self) -> str: ...

    def handle(self, ctx: ReactorContext) -> Reaction:
        """What this event calls for; called for every event, in the order they happened, and for the clock's ticks."""
        ...
