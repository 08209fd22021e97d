"""The reactors of a run, once they are loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from laneway.observe.supervised.order import Cause
from laneway.reactors import Failed, Reactor


@dataclass(frozen=True, slots=True)
class Armed:
    """The reactors of one run."""

    session: Callable[[Callable[[Failed], None]], Sequence[Reactor]]
    """New ones for each log: they judge what one session does. A sub-agent's log is a session of its own."""
    run: Sequence[Reactor]
    """They judge all sessions of the run together, from its beginning: its budgets."""
    causes: Mapping[str, Cause] = field(default_factory=dict)
    """By a reactor's name: what it means when it wants an end."""
    faults: Sequence[Failed] = ()
    """What of the person's own could not be loaded."""

    def cause(self, reactor: str) -> Cause:
        return self.causes.get(reactor, Cause.REACTOR)
