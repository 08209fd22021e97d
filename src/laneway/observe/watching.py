"""Watches all sessions of this machine at once: finds new ones, reads what is new, lets the clock tick, bounds memory.

`Watching` knows nothing of threads, terminals or databases: `round` does what is due now and returns. `keep_watching`
calls it whenever the system says that files changed, and at least twice a second.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from laneway.clock import Clock, SystemClock
from laneway.observe.changes import PULSE, Changes
from laneway.observe.discovery import Found, is_named
from laneway.observe.plug import EndedByUs
from laneway.observe.watched import Mark, Seen, Watched
from laneway.reactors import Failed, Reactor

TICK = 4.0
"""Seconds between two ticks of the clock: a stall makes no event, so this is what it is noticed by."""
AT_ONCE = 0.25
"""Seconds of reading after which a round ends, so that nothing else waits for a long log."""
_NEWS = timedelta(minutes=10)
"""A log that appears may have been moved here: what is older than this in it is no news."""
_OLD_CHUNK = 1 << 20
Key = tuple[Path, str | None]


@dataclass(frozen=True, slots=True)
class Which:
    """The sessions that are wanted; all, if nothing is named."""

    provider: str | None = None
    session: str | None = None
    """A file, or the beginning or end of an id; the sub-agents of the session belong to it."""

    def wants(self, found: Found) -> bool:
        if self.provider is not None and found.provider != self.provider:
            return False
        if self.session is None or str(found.path) == self.session:
            return True
        names = (found.name, *(found.path.parts if found.side else ()))
        return any(is_named(name, self.session) for name in names)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many sessions are kept open: all that did something lately, as long as there are not too many."""

    recent: timedelta = timedelta(minutes=15)
    """What changed so lately is opened at the start."""
    rest: timedelta = timedelta(hours=1)
    """What was quiet for so long falls asleep."""
    awake: int = 300
    awake_bytes: int = 1 << 30
    """Of all open logs together; what is remembered of a log is about a tenth of it."""
    tick: float = TICK


class Watching:
    """The sessions, awake and asleep. Everything that happens goes to `hear`, one event at a time."""

    def __init__(
        self,
        find: Callable[[], Iterable[Found]],
        reactors: Callable[[Watched], Sequence[Reactor]],
        hear: Callable[[Seen], None],
        *,
        clock: Clock | None = None,
        which: Which | None = None,
        bounds: Bounds | None = None,
        marks: Callable[[Found], Mark | None] = lambda _: None,
        is_wanted_old: Callable[[Found], bool] = lambda _: False,
        on_failure: Callable[[Failed], None] = lambda _: None,
        runs: Path | None = None,
    ) -> None:
        self.sessions: dict[Key, Watched] = {}
        self.pending: dict[Key, None] = {}
        """Those that have something to read, in the order of their turns."""
        self.polling = False
        """Whether nobody tells us what changed."""
        self.lost: list[Watched] = []
        """Sessions whose file is gone; whoever wants to know takes them out."""
        self.clock = clock or SystemClock()
        self.ended = EndedByUs(runs)
        self._find, self._reactors, self._hear, self._marks = find, reactors, hear, marks
        self._which, self._bounds, self._on_failure = which or Which(), bounds or Bounds(), on_failure
        self._is_wanted_old = is_wanted_old
        self._old: deque[Found] = deque()
        """Sessions that nothing happens in any more and that somebody wants to have read all the same."""
        self._reading: Watched | None = None
        self._by_path: dict[Path, set[Key]] = {}
        self._scanned = self._ticked = 0.0
        self._cost = 0.0
        self._asked = False

    def begin(self) -> None:
        """What is there already is known; what happened before now is nobody's news."""
        now = self.clock.now()
        for found in self._scan():
            mark = self._marks(found) or Mark(found.size, stale=found.changed_at, until=now)
            key = self._add(found, mark)
            fresh = now - found.changed_at <= self._bounds.recent
            if fresh and len(self.pending) < self._bounds.awake:
                self.pending[key] = None
            elif self._is_wanted_old(found):
                self._old.append(found)

    def round(self, changed: Collection[Path] = (), seconds: float = AT_ONCE) -> None:
        """What is due now is done."""
        self._note(changed)
        if self._is_scan_due():
            self.rescan()
        if self.polling:
            self._poll()
        if self.pending:
            self.read(seconds)
        else:
            self.read_old()
        if time.monotonic() - self._ticked >= self._bounds.tick:
            self.tick()
            self.rest()

    def rescan(self) -> None:
        """Sessions that appeared, changed or vanished without our being told are known."""
        there = {_key(found): found for found in self._scan()}
        news = self.clock.now() - _NEWS
        for key, found in there.items():
            known = self.sessions.get(key)
            if known is None:
                self.pending[self._add(found, Mark(stale=news))] = None
            elif (found.size, found.changed_at) != known.stamp:
                self._moved(known, found)
                self.pending[key] = None
        for key in self.sessions.keys() - there.keys():
            self._drop(key)

    def read(self, seconds: float = AT_ONCE) -> None:
        """The sessions that changed have been read, each a piece at a time; what is left stays pending."""
        until = time.monotonic() + seconds
        while self.pending:
            key = next(iter(self.pending))
            del self.pending[key]
            session = self.sessions[key]
            for seen in session.look():
                self._hear(seen)
            if session.behind:
                self.pending[key] = None
            if time.monotonic() >= until:
                return

    def read_old(self) -> None:
        """One more piece of an old session has been read, as something long past and without any reactors."""
        if self._reading is None and self._old:
            long_past = Mark(sys.maxsize, stale=datetime.max.replace(tzinfo=UTC))
            self._reading = Watched(self._old.popleft(), long_past, lambda _: [], self.clock)
        if self._reading is not None:
            for seen in self._reading.look(_OLD_CHUNK):
                self._hear(seen)
            if not self._reading.behind:
                self._reading = None

    def tick(self) -> None:
        """The clock has ticked in every open session."""
        self._ticked, now = time.monotonic(), self.clock.now()
        self.ended.look()
        for session in list(self.sessions.values()):
            seen = session.tick(now, self.ended.at.get(session.found.path))
            if seen is not None:
                self._hear(seen)

    def note_ended(self, session: Watched) -> None:
        """We have ended its process: that it is silent now, and its sub-agents, is no standstill."""
        same = [one for one in self.shown() if one.session_id == session.session_id]
        self.ended.at |= {one.found.path: self.clock.now() for one in same}

    def rest(self) -> None:
        """Sessions that were quiet for long, or are too many, are asleep: the one that was quiet longest first."""
        awake = [session for session in self.sessions.values() if session.awake]
        awake.sort(key=lambda session: session.found.changed_at)
        count, size = len(awake), sum(session.found.size for session in awake)
        tired = self.clock.now() - self._bounds.rest
        for session in awake:
            crowded = count > self._bounds.awake or (size > self._bounds.awake_bytes and count > 1)
            if not crowded and session.found.changed_at > tired:
                return
            if _key(session.found) not in self.pending:
                session.sleep()
                count, size = count - 1, size - session.found.size

    def shown(self) -> list[Watched]:
        """The open sessions, the one that changed last first."""
        awake = [session for session in self.sessions.values() if session.awake and session.state is not None]
        return sorted(awake, key=lambda session: session.found.changed_at, reverse=True)

    def _scan(self) -> list[Found]:
        began = time.monotonic()
        found = [one for one in self._find() if self._which.wants(one)]
        self._scanned, self._asked = time.monotonic(), False
        self._cost = self._scanned - began
        return found

    def _is_scan_due(self) -> bool:
        """Soon if we were told of something unknown, else now and then; the larger the store, the more seldom."""
        waited = time.monotonic() - self._scanned
        if self._asked:
            return waited >= max(0.2, 5 * self._cost)
        return waited >= (max(1.0, 10 * self._cost) if self.polling else max(5.0, 20 * self._cost))

    def _note(self, changed: Collection[Path]) -> None:
        for path in changed:
            keys = self._by_path.get(path) or self._by_path.get(_database(path))
            if keys is None:
                self._asked = True
                continue
            for key in keys:
                if self._refresh(self.sessions[key]):
                    self.pending[key] = None

    def _poll(self) -> None:
        for key, session in self.sessions.items():
            if session.awake and self._refresh(session):
                self.pending[key] = None

    def _refresh(self, session: Watched) -> bool:
        """Whether the file is there and another than before; what is known of it is up to date."""
        found = session.found
        if found.session_id is not None:
            # One of several in a store: only reading tells whether it is the one that changed.
            self._asked |= not session.awake
            return session.awake
        again = _stat(found)
        if again is None:
            self._asked = True
            return False
        changed = (again.size, again.changed_at) != session.stamp
        session.found = again
        return changed

    def _moved(self, session: Watched, found: Found) -> None:
        if found.path != session.found.path:
            session.sleep()
            self._by_path.setdefault(found.path, set()).add(_key(found))
        session.found = found

    def _add(self, found: Found, mark: Mark) -> Key:
        key = _key(found)
        self.sessions[key] = Watched(found, mark, self._reactors, self.clock, self._on_failure)
        self._by_path.setdefault(found.path, set()).add(key)
        return key

    def _drop(self, key: Key) -> None:
        session = self.sessions.pop(key)
        self.pending.pop(key, None)
        keys = self._by_path.get(session.found.path, set())
        keys.discard(key)
        if not keys:
            self._by_path.pop(session.found.path, None)
        session.sleep()
        self.lost.append(session)


async def keep_watching(
    watching: Watching, changes: Changes, after: Callable[[], Awaitable[None]], *, pulse: float = PULSE
) -> None:
    """Watches until it is cancelled; `after` has been called after every round."""
    async with changes.heard():
        while True:
            changed = await changes.take(0 if watching.pending else pulse)
            watching.polling = changes.polling
            await asyncio.to_thread(watching.round, changed)
            await after()


def _key(found: Found) -> Key:
    # A log that is compressed later is still the same session.
    path = found.path.with_suffix("") if found.path.suffix == ".zst" else found.path
    return path, found.session_id


def _database(path: Path) -> Path:
    """The database a file beside it belongs to."""
    return path.with_name(path.name.removesuffix("-wal").removesuffix("-shm"))


def _stat(found: Found) -> Found | None:
    try:
        state = found.path.stat()
    except OSError:
        return None
    changed = datetime.fromtimestamp(state.st_mtime, UTC)
    return Found(found.provider, found.path, changed, state.st_size, found.session_id, found.side)
