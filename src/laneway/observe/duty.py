"""The server's own watching: sessions are kept as they happen, and what reactors say reaches the owner once.

What happened and what was said about it, the owner's notice included, is one transaction. A server that starts again
goes on at the byte its store knows: what lies before is only remembered, what lies behind is news.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from laneway.clock import Clock, SystemClock
from laneway.observe.changes import Changes
from laneway.observe.discovery import Found, discover, roots
from laneway.observe.notify import Notice, Notifier, Pace, Way, notice_of, reaction_key, said_words
from laneway.observe.plug import pull
from laneway.observe.recording import Recording
from laneway.observe.tail import Tail, followed
from laneway.observe.watched import Mark, Seen, Watched
from laneway.observe.watching import Bounds, Watching, keep_watching
from laneway.observe.ways import ways_of
from laneway.reactors import Intervene, Reactor, Said, Severity, Warn
from laneway.reactors.options import Options, chosen
from laneway.reactors.shipped import shipped
from laneway.settings import Settings
from laneway.store import notices, session_reactions, sessions
from laneway.store.database import Connection, Database
from laneway.store.sessions import KeptSession

_NEWS = timedelta(hours=1)
"""What happened while no server ran is told if it is not older than this; it is kept in any case."""
UNLIMITED = 1 << 30
_log = logging.getLogger("laneway.observe.duty")


@dataclass(frozen=True, slots=True)
class Orders:
    """What the owner decided about the server's watching."""

    environ: Mapping[str, str]
    options: Options
    ways: Sequence[Way] = ()
    """Besides the channels."""
    channels: bool = True
    pulled: Collection[str] = ()
    per_minute: int = 6
    keep_days: int = 90
    polling: bool = False
    runs: Path | None = None
    """Where the reports of `laneway run` lie."""
    bounds: Bounds = field(default_factory=lambda: Bounds(recent=_NEWS))
    more: Callable[[], Sequence[Reactor]] = tuple
    """Reactors besides those that come with Laneway, new ones for each session: what counts and what pushes."""
    count: Callable[[str, Warn | Intervene], None] = lambda reactor, reaction: None
    """Takes each reaction once."""


def orders_of(settings: Settings, pulled: Collection[str]) -> Orders:
    """What the settings say; a server has no terminal whose bell it could ring."""
    return Orders(
        environ=os.environ,
        options=chosen(settings),
        ways=ways_of(settings, settings.notify_by),
        channels="channel" in settings.notify_by,
        pulled=pulled,
        per_minute=settings.notify_per_minute,
        keep_days=settings.keep_events_days,
        polling=settings.watch_polling,
        runs=settings.home / "runs",
    )


class SessionDuty:
    """One server's watching; `keep_going` runs until it is cancelled, or ends with Unavailable to begin anew."""

    def __init__(self, db: Database, orders: Orders, clock: Clock | None = None) -> None:
        self._db, self._orders, self._clock = db, orders, clock or SystemClock()
        self._pace = Pace(orders.per_minute)

    async def keep_going(self) -> None:
        notifier = Notifier(self._orders.ways, Pace(UNLIMITED))
        telling = asyncio.create_task(notifier.keep_telling(), name="notices")
        try:
            await _Round(self._db, self._orders, self._clock, self._pace, notifier).keep_going()
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)


class _Round:
    """The watching from one start to the next."""

    def __init__(self, db: Database, orders: Orders, clock: Clock, pace: Pace, notifier: Notifier) -> None:
        self._db, self._orders, self._clock, self._pace, self._notifier = db, orders, clock, pace, notifier
        self._heard: list[Seen] = []
        self._known: dict[tuple[str, str | None], KeptSession] = {}
        self._watching = Watching(
            partial(discover, orders.environ), lambda _: [*shipped(orders.options), *orders.more()],
            self._heard.append, clock=clock, bounds=orders.bounds, marks=self._mark, is_wanted_old=self._is_unread,
            runs=orders.runs,
        )  # fmt: skip

    async def keep_going(self) -> None:
        async with self._db.transaction() as tx:
            for kept in await sessions.all_kept(tx):
                self._known[kept.source, None] = self._known[kept.source, kept.session_id] = kept
        await asyncio.to_thread(self._watching.begin)
        folders = [folder for several in roots(self._orders.environ).values() for folder in several]
        changes = Changes(lambda: folders, polling=self._orders.polling)
        _log.info("Watching %d sessions of other agents.", len(self._watching.sessions))
        await keep_watching(self._watching, changes, self._keep)

    def _mark(self, found: Found) -> Mark | None:
        kept = self._known.get(_name(found))
        if kept is None:
            return None
        if kept.ended and kept.last_activity is not None:
            self._watching.ended.at[found.path] = kept.last_activity
        return (
            Mark(kept.read_to, kept.file_id, kept.last_activity) if _is_log(found) else Mark(stale=kept.last_activity)
        )

    def _is_unread(self, found: Found) -> bool:
        if found.changed_at < self._clock.now() - timedelta(days=self._orders.keep_days):
            return False
        kept = self._known.get(_name(found))
        if kept is None:
            return True
        return kept.read_to < found.size if _is_log(found) else kept.changed_at < found.changed_at

    async def _keep(self) -> None:
        """What was heard since the last time is stored, and whoever should know is told."""
        heard, by_session = list(self._heard), dict[int, list[Seen]]()
        self._heard.clear()
        for seen in heard:
            by_session.setdefault(id(seen.session), []).append(seen)
        for several in by_session.values():
            await self._keep_one(several[0].session, several)
        lost, self._watching.lost = self._watching.lost, []
        for session in lost:
            async with self._db.transaction() as tx:
                await sessions.note_gone_from(tx, *_name(session.found))

    async def _keep_one(self, session: Watched, several: Sequence[Seen]) -> None:
        spoken = [seen for seen in several if seen.said]
        events = [seen.event for seen in several if seen.event.kind != "tick" and not _is_stored(seen)]
        if session.tail is None or not (events or spoken):
            return
        told: list[Notice] = []
        new: list[Said] = []

        async def also(tx: Connection, kept: KeptSession) -> None:
            for seen in spoken:
                told.extend(await self._note(tx, kept, seen, new))

        recording = Recording(self._db, session.tail)
        await recording.keep(events, whose=several[0].event, state=session.state, also=also)
        for said in new:
            self._orders.count(said.reactor, said.reaction)
        for notice in told:
            self._notifier.put(notice)
            if notice.severity is Severity.KILL:
                await self._pull(session, notice)

    async def _note(self, tx: Connection, kept: KeptSession, seen: Seen, first: list[Said]) -> list[Notice]:
        """The reactions are kept, those that are new added to `first`; returns the notices of what is news."""
        news: list[Notice] = []
        for said in seen.said:
            key, words = reaction_key(seen, said), said_words(said)
            weight = "warning" if isinstance(said.reaction, Warn) else str(said.reaction.severity)
            new = await session_reactions.note(tx, kept, key, seen.event.at, said.reactor, weight, words)
            first += [said] if new else []
            notice = notice_of(seen, said) if isinstance(said.reaction, Intervene) else None
            if new and notice is not None and self._is_news(seen.event.at):
                passed = self._pace.passes(notice)
                if passed is not None:
                    await self._tell_owner(tx, passed.line, key)
                    await session_reactions.note_told(tx, key)
                    news.append(passed)
        return news

    def _is_news(self, at: datetime) -> bool:
        return at >= self._clock.now() - _NEWS

    async def _tell_owner(self, tx: Connection, text: str, key: str) -> None:
        if self._orders.channels:
            await notices.tell_owner(
                tx, text, key=f"session:{key}", kind="session.reaction", pulled=self._orders.pulled
            )

    async def _pull(self, session: Watched, notice: Notice) -> None:
        pulled = await asyncio.to_thread(pull, session, self._watching.shown())
        if pulled.ended:
            self._watching.note_ended(session)
        _log.warning("%s (%s): %s", notice.title, notice.session_id, pulled.text)
        async with self._db.transaction() as tx:
            await self._tell_owner(tx, f"{notice.title} ({notice.session_id[:8]}): {pulled.text}", f"{notice.key}:end")


def _name(found: Found) -> tuple[str, str | None]:
    return str(found.path).removesuffix(".zst"), found.session_id


def _is_log(found: Found) -> bool:
    return isinstance(followed(found.path), Tail)


def _is_stored(seen: Seen) -> bool:
    """Whether the store has the event for sure: it lies before a place that was noted there."""
    mark = seen.session.mark
    return seen.past and bool(mark.file_id) and seen.event.offset <= mark.read_to
