"""Shows every event to every reactor, in a plain order, whatever one of them does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from laneway.domain.action import Verdict, deny
from laneway.domain.session import EventKind, SessionEvent, SessionState
from laneway.reactors.border import Failed, attempted
from laneway.reactors.contract import Continue, Intervene, Reaction, Reactor, ReactorContext, Severity, Warn

_MINUTES = (*range(1, 16), 20, 25, 30, 45, 60)
"""When the clock ticks in a silence that is replayed; a tick every few seconds would say the same."""


@dataclass(frozen=True, slots=True)
class Said:
    """Who reacted, and how."""

    reactor: str
    reaction: Warn | Intervene


class Chain:
    """The reactors of one session, and the session's state as they see it."""

    def __init__(
        self, state: SessionState, reactors: Sequence[Reactor], on_failure: Callable[[Failed], None] = lambda _: None
    ) -> None:
        self.state, self._reactors, self._on_failure = state, list(reactors), on_failure
        self._broken: set[str] = set()

    def handle(self, event: SessionEvent) -> list[Said]:
        """Every reactor has seen the event; what they had to say is returned in their order."""
        self.state = self.state.after(event)
        return self.show(ReactorContext(event, self.state))

    def replay(
        self, events: Iterable[SessionEvent], until: datetime | None = None, *, shown: bool = False
    ) -> list[Said]:
        """The reactors know these events; nobody is told of them again. Returns what they said, to be `shown` or not.

        `until` is the time up to which somebody watched: silences before it count as noticed, and one that lasts
        longer is told when it reaches its next state.
        """
        said: list[Said] = []
        for event in events:
            self._pass_time(event.at, event.kind is EventKind.TICK)
            self.state = self.state.after(event)
            said += self.show(ReactorContext(event, self.state, replayed=True, shown=shown))
        if until is not None:
            self._pass_time(until)
        return said

    def _pass_time(self, until: datetime, ticking: bool = False) -> None:
        since = self.state.last_activity
        if since is None or ticking or until - since < timedelta(minutes=1):
            return
        ticks = (since + timedelta(minutes=minutes) for minutes in _MINUTES)
        for at in (*(at for at in ticks if at < until), until):
            tick = SessionEvent(self.state.session_id, self.state.provider, EventKind.TICK, at)
            self.show(ReactorContext(tick, self.state, replayed=True))

    def show(self, ctx: ReactorContext) -> list[Said]:
        """What the reactors say of an event, for somebody who keeps the session's state elsewhere."""
        said: list[Said] = []
        for reactor in self._reactors:
            reaction = self._ask(reactor, ctx)
            if not isinstance(reaction, Continue):
                said.append(Said(reactor.name, reaction))
        return said

    def _ask(self, reactor: Reactor, ctx: ReactorContext) -> Reaction:
        name = str(getattr(reactor, "name", type(reactor).__name__))
        reaction: object = attempted(name, lambda: reactor.handle(ctx), again=name in self._broken)
        if isinstance(reaction, Continue | Warn | Intervene):
            return reaction
        self._broken.add(name)
        wrong = Failed(name, f"It answered {type(reaction).__name__}, which is no reaction.")
        self._on_failure(reaction if isinstance(reaction, Failed) else wrong)
        return Continue()


def strongest(said: Sequence[Said]) -> Said | None:
    """The reaction that counts: kill before notification before warning; of equals the first."""
    return max(said, key=lambda one: _strength(one.reaction), default=None)


def denied_by(said: Sequence[Said]) -> Verdict | None:
    """The verdict on a call that has not run yet, where a reactor wants an end because of it."""
    first = strongest(said)
    if first is None or not isinstance(first.reaction, Intervene) or first.reaction.severity is not Severity.KILL:
        return None
    return deny(first.reactor, first.reaction.reason)


def _strength(reaction: Warn | Intervene) -> int:
    if isinstance(reaction, Warn):
        return 1
    return 3 if reaction.severity is Severity.KILL else 2
