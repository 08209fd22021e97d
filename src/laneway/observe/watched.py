"""One session that is watched: awake with its reactors, or asleep with a mark of how far it was seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from laneway.clock import Clock
from laneway.domain.session import EventKind, SessionEvent, SessionState
from laneway.observe.codex_copies import CodexCopies
from laneway.observe.discovery import Found
from laneway.observe.reading import name_of
from laneway.observe.tail import DocumentTail, Tail, followed
from laneway.reactors import Chain, Failed, Reactor, Said, Warn
from laneway.reactors.costs import priced

CHUNK = 4 << 20
"""Bytes that are read of one session before the others have their turn."""
_END_PART = 2_000_000
"""That we ended a session stands in no log; it is kept behind its last event."""
_BY_TIME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-")


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a session was seen before: it is remembered when the session is opened, and nobody hears of it again."""

    read_to: int = 0
    file_id: str = ""
    """Which file `read_to` is a place in; empty = whichever is there."""
    stale: datetime | None = None
    """Where no place helps (a document, a log written anew): nothing up to this time is news."""
    until: datetime | None = None
    """Silences before this time are no news either."""
    shown: bool = False
    """What was recorded before is for the screen, with what reactors say of it."""

    @property
    def life(self) -> int:
        """How often the file had begun anew."""
        with suppress(ValueError):
            return int(self.file_id.rpartition("-")[2])
        return 0


@dataclass(frozen=True, slots=True)
class Seen:
    """An event, or a tick of the clock, and what the session's reactors said; of what is past only if it is shown."""

    session: Watched
    event: SessionEvent
    said: tuple[Said, ...] = ()
    past: bool = False


class Watched:
    """A session and its reactors. What happens in it comes out of `look`, silence out of `tick`."""

    def __init__(
        self,
        found: Found,
        mark: Mark,
        reactors: Callable[[Watched], Sequence[Reactor]],
        clock: Clock,
        on_failure: Callable[[Failed], None] = lambda _: None,
    ) -> None:
        self.found, self.mark = found, mark
        self.behind = False
        """Whether there is more to read at once."""
        self.last: SessionEvent | None = None
        """The last event that was more than a tick or a counter."""
        self.tail: Tail | DocumentTail | None = None
        self._state: SessionState | None = None
        self._chain: Chain | None = None
        self._reactors, self._clock, self._on_failure = reactors, clock, on_failure
        self._life, self._opened = 0, False
        self._copies = CodexCopies()

    @property
    def awake(self) -> bool:
        return self.tail is not None

    @property
    def state(self) -> SessionState | None:
        """As far as it is known; what it was when the session fell asleep."""
        return self._state if self._chain is None else self._chain.state

    @property
    def session_id(self) -> str:
        known = self.state
        return known.session_id if known else self.found.name

    @property
    def label(self) -> str:
        """A short name for people: eight characters of its id, and a sub-agent's own."""
        own = name_of(self.found.path) if self.found.side else self.session_id
        own = own.removeprefix("agent-")
        return own[-8:] if _BY_TIME.match(own) else own[:8]

    @property
    def stamp(self) -> tuple[int, datetime]:
        return self.found.size, self.found.changed_at

    def look(self, most: int = CHUNK) -> Iterator[Seen]:
        """What is new in the session, judged; at most so many bytes of it."""
        tail = self._open()
        events = tail.read(most) if isinstance(tail, Tail) else tail.read()
        if isinstance(tail, Tail):
            lines = tail.reading.lines
            self.behind = not tail.gone and lines.offset + lines.waiting < self._size()
        if tail.life != self._life:
            self._begin_anew(tail)
        for event in map(self._priced, self._copies.left_out(tail.reader, tail.path, events)):
            yield self._judged(event)
        if not self.behind:
            self._opened = True
            self._pass_silence()

    def tick(self, at: datetime, ended: datetime | None = None) -> Seen | None:
        """The clock has ticked for an open session, or it is over, since we ended it and nothing came after that."""
        if self._chain is None or not self._opened:
            return None
        state = self._chain.state
        event = SessionEvent(state.session_id, state.provider, EventKind.TICK, at)
        if ended is not None and not state.ended and (state.last_activity or ended) <= ended:
            last = self.last or event
            event = replace(
                event, kind=EventKind.ENDED, at=ended, text="ended by Laneway", offset=last.offset,
                part=last.part + _END_PART,
            )  # fmt: skip
        return Seen(self, event, _for_people(self._chain.handle(event)))

    def sleep(self) -> None:
        """Its reactors and everything read of it are forgotten; when it goes on they learn it again from the file."""
        if self.tail is None:
            return
        self._state = self.state
        stale = self.mark.stale if self._state is None else self._state.last_activity
        if isinstance(self.tail, Tail):
            self.mark = Mark(self.tail.reading.lines.offset, self.tail.identity, stale)
        else:
            self.mark = Mark(stale=stale)
        self.tail = self._chain = None
        self._opened = self.behind = False
        self._copies = CodexCopies()

    def _open(self) -> Tail | DocumentTail:
        if self.tail is None:
            # What carries no time of its own is taken for new.
            self.tail = followed(self.found.path, session_id=self.found.session_id, born=self._clock.now())
            if isinstance(self.tail, Tail):
                self.tail.life = self.mark.life
            self._life = self.tail.life
        return self.tail

    def _begin_anew(self, tail: Tail | DocumentTail) -> None:
        """The file was written anew and tells again what was heard before: all of that is past."""
        self._life, before = tail.life, self.state
        self.mark = Mark(0, "another", None if before is None else before.last_activity)
        self._chain, self._opened = None, False
        self._copies = CodexCopies()

    def _size(self) -> int:
        try:
            return self.found.path.stat().st_size
        except OSError:
            return 0

    def _priced(self, event: SessionEvent) -> SessionEvent:
        return priced(event, self._chain.state.model if self._chain else "")

    def _judged(self, event: SessionEvent) -> Seen:
        chain = self._chain
        if chain is None:
            self._state = SessionState(event.session_id, event.provider)
            chain = self._chain = Chain(self._state, self._reactors(self), self._on_failure)
        if event.kind not in (EventKind.TOKENS, EventKind.OTHER):
            self.last = event
        if self._is_past(event):
            shown = self.mark.shown
            said = chain.replay([event], shown=shown)
            return Seen(self, event, _for_people(said) if shown else (), past=True)
        self._pass_silence()
        return Seen(self, event, _for_people(chain.handle(event)))

    def _is_past(self, event: SessionEvent) -> bool:
        mark, tail = self.mark, self.tail
        if isinstance(tail, Tail):
            if mark.read_to and mark.file_id in ("", tail.identity):
                return event.offset <= mark.read_to
        elif self._opened:
            return False
        return mark.stale is not None and event.at <= mark.stale

    def _pass_silence(self) -> None:
        if self.mark.until is not None and self._chain is not None:
            self._chain.replay([], until=self.mark.until)
            self.mark = replace(self.mark, until=None)


def _for_people(said: list[Said]) -> tuple[Said, ...]:
    """What a person should hear; a nudge is for the agent, and who only watches cannot speak to it."""
    return tuple(one for one in said if not (isinstance(one.reaction, Warn) and one.reaction.nudge))
