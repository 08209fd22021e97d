"""Rehearsal: shows a session that is over to reactors that were not there, and tells what they would have done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from laneway.domain.session import EventKind, SessionEvent, SessionState, Tokens
from laneway.reactors.border import Failed
from laneway.reactors.chain import Chain, Said, strongest
from laneway.reactors.contract import Intervene, Reactor, Severity, Warn

_TICK, _SLOW_TICK = timedelta(seconds=5), timedelta(minutes=1)
_QUICK_FOR, _LONGEST = timedelta(minutes=10), timedelta(hours=12)
MOST = 200
"""Reactions of one session that are told; more are counted."""


@dataclass(frozen=True, slots=True)
class Reacted:
    """What a reactor would have said, and where the session stood then."""

    at: datetime
    event: int
    reactor: str
    what: str
    message: str
    about: str
    tokens: int
    cost: Decimal

    def as_json(self) -> dict[str, Any]:
        return {
            "at": self.at.isoformat(), "event": self.event, "reactor": self.reactor, "what": self.what,
            "message": self.message, "about": self.about, "tokens": self.tokens, "cost": float(self.cost),
        }  # fmt: skip


@dataclass(slots=True)
class Rehearsal:
    """One session, what would have been said about it, and what would not have happened any more."""

    session_id: str
    provider: str
    events: int = 0
    reactions: list[Reacted] = field(default_factory=list)
    left_out: int = 0
    killed: Reacted | None = None
    spared_tokens: Tokens = field(default_factory=Tokens)
    spared_cost: Decimal = Decimal(0)
    spared_calls: int = 0
    failures: list[Failed] = field(default_factory=list)

    def is_over(self) -> bool:
        """Whether the session would have been ended by now."""
        return self.killed is not None

    def count(self, what: str) -> int:
        """How many reactions of this kind."""
        return sum(one.what == what for one in self.reactions)

    def as_json(self) -> dict[str, Any]:
        return {
            "session_id": self.session_id, "provider": self.provider, "events": self.events,
            "reactions": [one.as_json() for one in self.reactions], "left_out": self.left_out,
            "killed": None if self.killed is None else self.killed.as_json(),
            "spared": {"tokens": self.spared_tokens.total, "cost": float(self.spared_cost), "calls": self.spared_calls},
            "failures": [{"reactor": one.reactor, "error": one.error} for one in self.failures],
        }  # fmt: skip


def rehearsed(events: Iterable[SessionEvent], reactors: Sequence[Reactor]) -> Rehearsal | None:
    """What the reactors would have done; None if there are no events. What comes after a kill is only added up."""
    found: Rehearsal | None = None
    chain: Chain | None = None
    for event in events:
        if found is None or chain is None:
            found = Rehearsal(event.session_id, event.provider)
            chain = Chain(SessionState(event.session_id, event.provider), reactors, _once(found))
        found.events += 1
        for one in (*_ticks(chain.state, event.at), event):
            if found.is_over():
                break
            _note(found, chain, one)
        # What the last event itself cost was spent when it was seen.
        if found.killed is not None and (found.killed.event, found.killed.at) != (found.events, event.at):
            _spare(found, event)
    return found


def _once(found: Rehearsal) -> Any:
    def failed(failure: Failed) -> None:
        if failure.reactor not in {one.reactor for one in found.failures}:
            found.failures.append(failure)

    return failed


def _note(found: Rehearsal, chain: Chain, event: SessionEvent) -> None:
    said = chain.handle(event)
    for one in said:
        told = _reacted(found, chain.state, event, one)
        if len(found.reactions) < MOST:
            found.reactions.append(told)
        else:
            found.left_out += 1
        if one is strongest(said) and told.what == "kill":
            found.killed = told


def _reacted(found: Rehearsal, state: SessionState, event: SessionEvent, said: Said) -> Reacted:
    reaction = said.reaction
    words = reaction.message if isinstance(reaction, Warn) else reaction.reason
    kills = isinstance(reaction, Intervene) and reaction.severity is Severity.KILL
    what = "warn" if isinstance(reaction, Warn) else "kill" if kills else "notify"
    about = event.tool or event.kind.value
    return Reacted(event.at, found.events, said.reactor, what, words, about, state.tokens.total, state.cost)


def _spare(found: Rehearsal, event: SessionEvent) -> None:
    found.spared_tokens += event.tokens
    found.spared_cost += event.cost or 0
    found.spared_calls += event.kind is EventKind.TOOL_CALLED


def _ticks(state: SessionState, until: datetime) -> Iterator[SessionEvent]:
    """The clock's ticks in the silence before an event, as a watcher would have made them."""
    since = state.last_activity
    if since is None or until - since <= _TICK:
        return
    at = since + _TICK
    while at < min(until, since + _LONGEST):
        yield SessionEvent(state.session_id, state.provider, EventKind.TICK, at)
        at += _TICK if at - since < _QUICK_FOR else _SLOW_TICK
