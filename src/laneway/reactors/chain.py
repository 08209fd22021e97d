"""Shows every event to every reactor, in a plain order, whatever one of them does."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from laneway.domain.session import SessionEvent, SessionState
from laneway.reactors.contract import Continue, Intervene, Reaction, Reactor, ReactorContext, Severity, Warn

_log = logging.getLogger("laneway.reactors")


@dataclass(frozen=True, slots=True)
class Said:
    """Who reacted, and how."""

    reactor: str
    reaction: Warn | Intervene


@dataclass(frozen=True, slots=True)
class Failed:
    """A reactor broke on an event and was passed over."""

    reactor: str
    error: str


class Chain:
    """The reactors of one session, and the session's state as they see it."""

    def __init__(
        self, state: SessionState, reactors: Sequence[Reactor], on_failure: Callable[[Failed], None] = lambda _: None
    ) -> None:
        self.state, self._reactors, self._on_failure = state, list(reactors), on_failure

    def handle(self, event: SessionEvent) -> list[Said]:
        """Every reactor has seen the event; what they had to say is returned in their order."""
        self.state = self.state.after(event)
        ctx = ReactorContext(event, self.state)
        said: list[Said] = []
        for reactor in self._reactors:
            reaction = self._ask(reactor, ctx)
            if not isinstance(reaction, Continue):
                said.append(Said(reactor.name, reaction))
        return said

    def _ask(self, reactor: Reactor, ctx: ReactorContext) -> Reaction:
        """The border of a reactor: whatever it does, the work and the other reactors go on."""
        try:
            reaction: object = reactor.handle(ctx)
        except Exception as error:  # noqa: BLE001  the border of the reactor chain
            name = str(getattr(reactor, "name", type(reactor).__name__))
            _log.warning("The reactor %s failed and was passed over.", name, exc_info=error)
            self._on_failure(Failed(name, f"{type(error).__name__}: {error}"[:500]))
            return Continue()
        if not isinstance(reaction, Continue | Warn | Intervene):
            self._on_failure(Failed(reactor.name, f"It answered {type(reaction).__name__}, which is no reaction."))
            return Continue()
        return reaction


def strongest(said: Sequence[Said]) -> Said | None:
    """The reaction that counts: kill before notification before warning; of equals the first."""
    return max(said, key=lambda one: _strength(one.reaction), default=None)


def _strength(reaction: Warn | Intervene) -> int:
    if isinstance(reaction, Warn):
        return 1
    return 3 if reaction.severity is Severity.KILL else 2
