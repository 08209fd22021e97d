"""Tells people what a reactor found: on the desktop, by the bell, by a webhook, by a channel; once, and not too often.

Nothing here holds up the watching: notices wait in a queue, and a way that fails is noted and passed over.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from laneway.domain.keepable import keepable
from laneway.domain.session import EventKind, SessionEvent
from laneway.errors import LanewayError
from laneway.observe.watched import Seen
from laneway.reactors import Intervene, Said, Severity, Warn
from laneway.reactors.tui_renderer import cut, plain

_MOST_WAITING = 500
_MOST_REMEMBERED = 10_000
_SPAN = re.compile(r"\d+(\.\d+)?( s\b| minutes?\b)?")
_log = logging.getLogger("laneway.observe.notify")


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know, in words that can be shown anywhere."""

    key: str
    """The same for the same reaction, however often it is met."""
    text: str
    provider: str
    session_id: str
    folder: str
    reactor: str
    severity: Severity
    at: datetime

    @property
    def title(self) -> str:
        where = f" in {self.folder.rstrip('/').rpartition('/')[2]}" if self.folder.strip("/") else ""
        return cut(plain(f"{self.provider}{where}"), 80)

    @property
    def line(self) -> str:
        """All of it in one line."""
        return f"{self.title} ({self.session_id[:8]}): {self.text}"


class Way(Protocol):
    """One way of telling: a LanewayError if it did not work."""

    @property
    def name(self) -> str: ...

    async def tell(self, notice: Notice) -> None: ...


class Pace:
    """At most so many in a minute. Who is held back is counted; what ends a session is never held back."""

    def __init__(self, per_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self.held = 0
        self._most, self._now = per_minute, now
        self._given: deque[float] = deque()

    def passes(self, notice: Notice) -> Notice | None:
        """The notice, with the number of those held back since the last one; None if it is one of them."""
        now = self._now()
        while self._given and now - self._given[0] >= 60:
            self._given.popleft()
        if len(self._given) >= self._most and notice.severity is not Severity.KILL:
            self.held += 1
            return None
        self._given.append(now)
        held, self.held = self.held, 0
        more = f" ({held} more notice{'s were' if held > 1 else ' was'} held back.)" if held else ""
        return replace(notice, text=notice.text + more)


class Notifier:
    """Gives notices by all its ways, in the background; a slow one keeps no other waiting."""

    def __init__(self, ways: Sequence[Way], pace: Pace, on_failure: Callable[[str], None] = lambda _: None) -> None:
        self._lines = [_Line(way, on_failure) for way in ways]
        self._pace = pace
        self._told: OrderedDict[str, None] = OrderedDict()
        self._loop = asyncio.get_running_loop()

    def put(self, notice: Notice) -> None:
        """The notice will be given, unless it was before or there are too many; may be called from any thread."""
        self._loop.call_soon_threadsafe(self._put, notice)

    def _put(self, notice: Notice) -> None:
        if notice.key in self._told:
            return
        self._told[notice.key] = None
        if len(self._told) > _MOST_REMEMBERED:
            self._told.popitem(last=False)
        passed = self._pace.passes(notice)
        if passed is not None:
            for line in self._lines:
                line.put(passed)

    async def keep_telling(self) -> None:
        """Runs until cancelled."""
        await asyncio.gather(*(line.keep_telling() for line in self._lines))

    async def finish(self, seconds: float) -> None:
        """What waits has been given, if that takes no longer."""
        # What was put by another thread just now first has to arrive.
        await asyncio.sleep(0)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(line.done() for line in self._lines))


class _Line:
    """The notices that wait for one way."""

    def __init__(self, way: Way, on_failure: Callable[[str], None]) -> None:
        self._way, self._on_failure = way, on_failure
        self._queue: asyncio.Queue[Notice] = asyncio.Queue(_MOST_WAITING)
        self._failing = False

    def put(self, notice: Notice) -> None:
        try:
            self._queue.put_nowait(notice)
        except asyncio.QueueFull:
            _log.warning("Too many notices wait for %s; one was dropped.", self._way.name)

    async def done(self) -> None:
        await self._queue.join()

    async def keep_telling(self) -> None:
        while True:
            notice = await self._queue.get()
            try:
                await self._way.tell(notice)
                self._failing = False
            except LanewayError as error:
                self._note(error)
            finally:
                self._queue.task_done()

    def _note(self, error: LanewayError) -> None:
        _log.warning("A notice could not be given by %s: %s", self._way.name, error)
        if not self._failing:
            self._failing = True
            self._on_failure(f"Notices by {self._way.name} do not arrive: {error}")


Tell = Callable[[Notice], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ByChannel:
    """Tells the owner where the owner reads: Telegram, WhatsApp, the terminal."""

    send: Tell
    name: str = "channel"

    async def tell(self, notice: Notice) -> None:
        await self.send(notice)


def notice_of(seen: Seen, said: Said) -> Notice | None:
    """The notice a reaction calls for; None for a warning, which is shown and nothing more."""
    state = seen.session.state
    return notice_about(seen.event, said, "" if state is None else state.cwd, reaction_key(seen, said))


def notice_about(event: SessionEvent, said: Said, folder: str, key: str) -> Notice | None:
    """The same where no log is watched."""
    if not isinstance(said.reaction, Intervene):
        return None
    text, severity = cut(plain(str(keepable(said_words(said)))), 400), said.reaction.severity
    return Notice(key, text, event.provider, event.session_id, folder, said.reactor, severity, event.at)


def hash_of(*parts: object) -> str:
    """A name that can stand in a header of a webhook, whatever agents call their sessions."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:32]


def reaction_key(seen: Seen, said: Said) -> str:
    """A name for one reaction that is the same after a restart."""
    event, words = seen.event, said_words(said)
    place = f"{event.offset}:{event.part}"
    if event.kind is EventKind.TICK:
        # A silence has no place of its own: it follows the last event, and how long it has lasted is no difference.
        last = seen.session.last
        place = "" if last is None else f"after {last.offset}:{last.part}:{last.at.isoformat()}"
        words = _SPAN.sub("#", words)
    source = str(seen.session.found.path).removesuffix(".zst")
    return hash_of(event.provider, event.session_id, source, place, said.reactor, words)


def said_words(said: Said) -> str:
    """What a reactor said."""
    return said.reaction.message if isinstance(said.reaction, Warn) else said.reaction.reason
