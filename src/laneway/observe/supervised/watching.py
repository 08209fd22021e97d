"""Follows the agent's logs in a thread of its own and shows what happens there to the reactors."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

from laneway.clock import Clock, SystemClock
from laneway.domain.session import NO_TOKENS, EventKind, OpenCall, SessionEvent, SessionState
from laneway.observe.codex import Codex
from laneway.observe.codex_copies import CodexCopies
from laneway.observe.supervised.armed import Armed
from laneway.observe.supervised.locate import Candidate, Locator
from laneway.observe.supervised.order import Cause, Order
from laneway.observe.tail import DocumentTail, Tail, followed, whole
from laneway.reactors import Chain, Failed, Intervene, Said, Severity, Warn
from laneway.reactors.costs import cost_of

LOOK, TICK = 0.05, 1.0
"""Seconds between two looks at the logs, and between two ticks of the clock."""
_MOST_REJECTED, _MOST_REMEMBERED, _MOST_FAILED = 10_000, 200_000, 100
_SECOND = 1.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Alarm:
    """A reaction, the event that called for it, and what it means for the run."""

    said: Said
    event: SessionEvent
    cause: Cause

    @property
    def kills(self) -> bool:
        return isinstance(self.said.reaction, Intervene) and self.said.reaction.severity is Severity.KILL


class Followed:
    """One log of the agent's and the chain of its reactors."""

    def __init__(self, candidate: Candidate, tail: Tail | DocumentTail, chain: Chain, *, copied: bool) -> None:
        self.candidate, self.tail, self.chain, self._copied = candidate, tail, chain, copied
        self.life = tail.life
        self.counted, self.paid = NO_TOKENS, Decimal(0)
        """What this log has added to the run's totals."""
        self.copies = CodexCopies()

    def is_past(self, event: SessionEvent, began: float) -> bool:
        """Whether this happened before the run: a session that is resumed is not judged for what it did then."""
        if self.candidate.known and isinstance(self.tail, Tail) and not self.life:
            return event.offset <= self.candidate.before
        # Without a place to go by the time tells; not for a new log, whose times nobody has to believe.
        return (self.candidate.known or self._copied) and event.at.timestamp() < began - _SECOND

    def counts(self, event: SessionEvent) -> None:
        """The event is among what this log has told."""
        self.counted, self.paid = self.counted + event.tokens, self.paid + (event.cost or 0)

    def took_back(self) -> SessionEvent:
        """A log that is written anew tells everything again; this event takes back what it had told before."""
        back = SessionEvent("", self.chain.state.provider, EventKind.TOKENS, self.chain.state.last_activity or _EPOCH)
        back = replace(back, tokens=NO_TOKENS - self.counted, cost=-self.paid)
        self.life, self.counted, self.paid = self.tail.life, NO_TOKENS, Decimal(0)
        return back


class Watching(threading.Thread):
    """The thread. What the reactors have to say goes to `tell`, one alarm at a time."""

    def __init__(
        self, order: Order, locator: Locator, armed: Armed, tell: Callable[[Alarm], None], clock: Clock | None = None
    ) -> None:
        super().__init__(name="laneway-run-watching", daemon=True)
        self._locator, self._armed, self._tell = locator, armed, tell
        self._clock = clock or SystemClock()
        self._began = self._clock.now().timestamp()
        self._over = threading.Event()
        self._rejected: dict[object, int | frozenset[str]] = {}
        self.followed: dict[object, Followed] = {}
        self.failed: list[Failed] = []
        self.unpriced: set[str] = set()
        self._seen: set[int] = set()
        """Calls that were told."""
        self._usual: set[int] = set()
        self.whole = Chain(SessionState(order.run_id, locator.provider or ""), armed.run, self._note)
        self.broken = False
        """It has ended though nobody told it to: the agent is not watched any more."""

    def run(self) -> None:
        """Until it is told to stop; then once more, so that the last lines count, too."""
        self.broken = True
        for fault in self._armed.faults:
            self._note(fault)
        self._follow()
        self.broken = False

    def _follow(self) -> None:
        ticked = time.monotonic()
        while not self._over.wait(LOOK):
            self.look()
            if time.monotonic() - ticked >= TICK:
                ticked = time.monotonic()
                self.tick()
        self.look(last=True)

    def stop(self, seconds: float = 10.0) -> None:
        """The last lines have been read."""
        self._over.set()
        if self.is_alive():
            self.join(seconds)

    @property
    def open_calls(self) -> list[tuple[str, OpenCall]]:
        """The calls that have no result, of all sessions, the oldest first."""
        calls = [call for one in self.followed.values() for call in one.chain.state.open_calls.items()]
        return sorted(calls, key=lambda call: call[1].at)

    def look(self, *, last: bool = False) -> None:
        """New logs are followed, and what is new in all of them has been judged."""
        for candidate in self._locator.look(at_once=last):
            self._consider(candidate)
        for one in list(self.followed.values()):
            self._read(one)

    def _consider(self, candidate: Candidate) -> None:
        found = candidate.found
        key = (found.path, found.session_id)
        if key in self.followed or self._rejected.get(key) in (found.size, self._locator.folders):
            return
        tail = followed(found.path, session_id=found.session_id, born=self._clock.now())
        events = tail.read()
        cwd = tail.reader.cwd if tail.reader else ""
        if tail.reader is None or not self._locator.is_ours(candidate, cwd):
            if len(self._rejected) < _MOST_REJECTED:
                # Where it works never changes; only what is known of the agent's folders does.
                self._rejected[key] = self._locator.folders if cwd else found.size
            return
        chain = self._chain(tail.reader.session_id or tail.reader.name, tail.reader.provider)
        self._locator.found = True
        one = self.followed[key] = Followed(candidate, tail, chain, copied=self._locator.resumes)
        if isinstance(tail.reader, Codex):
            # A fork repeats the calls of its parent as if they were new.
            older = [path for name in tail.reader.lineage.parents for path in self._locator.older(name)]
            self._seen |= {_call(event) for path in older[:1] for event in whole(path)}
        self._judge(one, events)

    def _chain(self, session_id: str, provider: str) -> Chain:
        return Chain(SessionState(session_id, provider), self._armed.session(self._note), self._note)

    def _read(self, one: Followed) -> None:
        while events := one.tail.read():
            self._judge(one, events)

    def _judge(self, one: Followed, events: list[SessionEvent]) -> None:
        if one.life != one.tail.life:
            self.whole.handle(one.took_back())
            one.chain = self._chain(one.chain.state.session_id, one.chain.state.provider)
        for event in map(self._with_price, one.copies.left_out(one.tail.reader, one.tail.path, events)):
            if self._is_repeated(event) or one.is_past(event, self._began):
                one.chain.replay([event])
            else:
                one.counts(event)
                self._raise([*one.chain.handle(event), *self.whole.handle(event)], event)

    def _is_repeated(self, event: SessionEvent) -> bool:
        """Whether this very call was told before: by a log that is written anew, or by the one it was copied from."""
        if event.kind is not EventKind.TOOL_CALLED or not event.call_id:
            return False
        known = _call(event) in self._seen
        if len(self._seen) < _MOST_REMEMBERED:
            self._seen.add(_call(event))
        return known

    def _with_price(self, event: SessionEvent) -> SessionEvent:
        cost = cost_of(event)
        if cost is None:
            self.unpriced.add(event.model or "a model without a name")
        return replace(event, cost=cost) if event.tokens else event

    def tick(self) -> None:
        """The clock has ticked for every chain, so that silence is noticed, too."""
        now, below = self._clock.now(), self._activity()
        for chain in (*(one.chain for one in self.followed.values()), self.whole):
            state = chain.state
            event = SessionEvent(state.session_id, state.provider, EventKind.TICK, now, text=below)
            self._raise(chain.handle(event), event)

    def _activity(self) -> str:
        """What a log cannot tell: whether programs run that were not there before the open calls."""
        living = {process.pid for process in self._locator.living()}
        if not self.open_calls:
            self._usual = living
            return ""
        return "busy" if living - self._usual else "idle"

    def _raise(self, said: list[Said], event: SessionEvent) -> None:
        for one in said:
            self._tell(Alarm(one, event, self._armed.cause(one.reactor)))

    def _note(self, failed: Failed) -> None:
        """That a reactor broke is told once."""
        if failed not in self.failed and len(self.failed) < _MOST_FAILED:
            self.failed.append(failed)
            now = SessionEvent(self.whole.state.session_id, "", EventKind.OTHER, self._clock.now())
            said = Said(failed.reactor, Warn(f"It failed and was passed over: {failed.error}"))
            self._tell(Alarm(said, now, Cause.REACTOR))


def _call(event: SessionEvent) -> int:
    """One call; some models give the same ids again, so the id alone does not tell."""
    return hash((event.call_id, event.tool, str(event.arguments)))
