"""The live stream of events: one listening connection per process, fanned out to whoever watches.

A watcher joins the hub and then reads what is stored after its cursor; from there on the hub hands it everything
in the same order, through a queue of bounded length. One that lets the queue overflow is behind, and reads from the
store again. Cursors only grow, so whatever comes twice is recognised, and nothing is lost: not over a reconnect of
the watcher, not over a restart of the database.

Deltas come by themselves and would overtake events, which are read. One waits until what was committed before it has
been handed on, so that a tool that was called is seen before what was written after it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from laneway.domain.judgement import Event
from laneway.errors import Unavailable
from laneway.store import events, feed
from laneway.store.database import DELTAS, EVENTS, Database

QUEUE = 500

PAGE = 500
QUIET_SECONDS = 15.0
LOOK_ANYWAY_SECONDS = 10.0
FIRST_PAUSE, LONGEST_PAUSE = 0.01, 0.25
"""While committed events are withheld behind an older transaction, so soon we look again."""

RECONNECT_SECONDS = 0.5
BETWEEN_SECONDS = 0.05
"""What comes sooner after the last look is looked at together; what comes alone is seen at once."""
REMEMBERED_JOBS = 1000
AT_ONCE = 2
"""So many streams read the store at the same time; however many are open, the jobs have the other connections."""
DELTA_SECONDS = 2.0
"""So long a delta waits for events that are withheld; somebody else's long transaction must not stop all writing."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of text a model is writing; not stored, so it has no cursor."""

    thread: UUID
    job: UUID
    body: dict[str, Any]


class Watcher:
    """One open stream: what it wants to see, and what waits for it."""

    def __init__(self, job: UUID | None = None, thread: UUID | None = None) -> None:
        self.job, self.thread = job, thread
        self.behind = True
        self.ended = asyncio.Event()
        self._queue: asyncio.Queue[Event | Delta] = asyncio.Queue(QUEUE)

    def offer(self, item: Event | Delta) -> None:
        """The item waits for the watcher if it wants it; if too much waits already, the watcher is behind."""
        job, thread = (item.job_id, item.thread_id) if isinstance(item, Event) else (item.job, item.thread)
        if self.behind or self.job not in (None, job) or self.thread not in (None, thread):
            return
        if not self._queue.full():
            self._queue.put_nowait(item)
        elif isinstance(item, Event):
            self.behind = True

    def catch_up(self) -> None:
        """What is offered from now on waits again; what came before must be read from the store."""
        while not self._queue.empty():
            self._queue.get_nowait()
        self.behind = False

    async def next(self, seconds: float) -> Event | Delta | None:
        """The next item, or None if nothing came for so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._queue.get()
        return None


class Hub:
    """Hears of events once for all watchers of this process."""

    def __init__(self, db: Database, delta_seconds: float = DELTA_SECONDS) -> None:
        self._db, self._delta_seconds = db, delta_seconds
        self._watchers: set[Watcher] = set()
        self._reading = asyncio.Semaphore(AT_ONCE)
        self._tasks: list[asyncio.Task[None]] = []
        self._ready, self._wake = asyncio.Event(), asyncio.Event()
        self._cursor = events.START
        self._answered: OrderedDict[UUID, None] = OrderedDict()
        self._held: deque[tuple[float, Delta]] = deque(maxlen=QUEUE)
        self._more = False
        """Whether something may be committed that was not handed on yet."""
        self._closed = False

    def __len__(self) -> int:
        return len(self._watchers)

    async def place(self, since: str) -> str:
        """The cursor a stream begins after: `now`, `start`, or the id of an event."""
        async with self._reading, self._db.transaction() as tx:
            return await feed.place(tx, since)

    async def watch(self, cursor: str, watcher: Watcher) -> AsyncGenerator[Event | Delta | None, None]:
        """Every event after the cursor, once and in order, and deltas while they come; None after a quiet while."""
        self._join(watcher)
        try:
            await _first(self._ready, watcher.ended)
            while not watcher.ended.is_set():
                if watcher.behind:
                    watcher.catch_up()
                    async with aclosing(self._stored(cursor, watcher)) as stored:
                        async for event in stored:
                            yield event
                            cursor = event.cursor
                item = await watcher.next(QUIET_SECONDS)
                if isinstance(item, Event):
                    if events.parse_cursor(item.cursor) <= events.parse_cursor(cursor):
                        continue
                    cursor = item.cursor
                yield item
        finally:
            self._leave(watcher)

    def close(self) -> None:
        """All streams have been told to end, and nothing is listened to any more."""
        self._closed = True
        for watcher in self._watchers:
            watcher.ended.set()
        self._stop()

    async def _stored(self, cursor: str, watcher: Watcher) -> AsyncGenerator[Event, None]:
        while True:
            try:
                async with self._reading, self._db.transaction() as tx:
                    page = await events.after(tx, cursor, limit=PAGE, job_id=watcher.job, thread_id=watcher.thread)
            except Unavailable:
                await asyncio.sleep(RECONNECT_SECONDS)
                continue
            for event in page:
                yield event
            if len(page) < PAGE:
                return
            cursor = page[-1].cursor

    def _join(self, watcher: Watcher) -> None:
        if self._closed:
            watcher.ended.set()
            return
        self._watchers.add(watcher)
        if not self._tasks:
            self._ready.clear()
            self._answered.clear()
            self._held.clear()
            self._tasks = [asyncio.create_task(self._keep_listening()), asyncio.create_task(self._keep_reading())]

    def _leave(self, watcher: Watcher) -> None:
        self._watchers.discard(watcher)
        if not self._watchers:
            self._stop()

    def _stop(self) -> None:
        """Without watchers nothing is listened to."""
        for task in self._tasks:
            task.cancel()
        self._tasks = []

    async def _keep_listening(self) -> None:
        while True:
            try:
                async with aclosing(self._db.listen(EVENTS, DELTAS)) as notifications:
                    async for notification in notifications:
                        self._hear(notification)
            except Unavailable:
                await asyncio.sleep(RECONNECT_SECONDS)

    def _hear(self, notification: tuple[str, str] | None) -> None:
        if notification is None or notification[0] == EVENTS:
            self._more = True
            self._wake.set()
            return
        try:
            body = json.loads(notification[1])
            delta = Delta(UUID(body["thread"]), UUID(body["job"]), body)
        except (ValueError, LookupError, TypeError, AttributeError):
            # Anybody on the database may notify; what is not of ours is not passed on.
            return
        self._held.append((time.monotonic(), delta))
        if not self._more:
            self._let_go(float("inf"))

    async def _keep_reading(self) -> None:
        """Everything committed reaches the watchers, woken by a notification or by the clock."""
        pause, looked = FIRST_PAUSE, float("-inf")
        while True:
            await asyncio.sleep(looked + BETWEEN_SECONDS - time.monotonic())
            self._wake.clear()
            looked = time.monotonic()
            try:
                more_to_come = await self._read()
            except Unavailable:
                await asyncio.sleep(RECONNECT_SECONDS)
                continue
            self._more = more_to_come or self._wake.is_set()
            # What was told of while we read may stand before what was written then, but not before what was earlier.
            seen = looked if self._wake.is_set() else float("inf")
            self._let_go(time.monotonic() - self._delta_seconds if more_to_come else seen)
            pause = min(pause * 2, LONGEST_PAUSE) if more_to_come else FIRST_PAUSE
            with suppress(TimeoutError):
                async with asyncio.timeout(pause if more_to_come else LOOK_ANYWAY_SECONDS):
                    await self._wake.wait()

    async def _read(self) -> bool:
        """What is new has been offered to all; True if more is committed but must not be shown yet."""
        if not self._ready.is_set():
            self._cursor = await self.place("now")
            self._ready.set()
        while True:
            async with self._db.transaction() as tx:
                withheld = await feed.withheld(tx)
                page = await events.after(tx, self._cursor, limit=PAGE)
            for event in page:
                self._note(event)
                self._offer(event)
                self._cursor = event.cursor
            if len(page) < PAGE:
                return withheld

    def _note(self, event: Event) -> None:
        if event.job_id is None:
            return
        if event.kind == "reply.written":
            self._answered[event.job_id] = None
            if len(self._answered) > REMEMBERED_JOBS:
                self._answered.popitem(last=False)
        elif event.kind == "job.queued":
            self._answered.pop(event.job_id, None)

    def _let_go(self, heard_before: float) -> None:
        """Deltas heard before this moment have been handed on, in order, but for those that a reply has overtaken."""
        while self._held and self._held[0][0] < heard_before:
            _, delta = self._held.popleft()
            # The reply has the whole text; a piece that comes after it would be read as the start of another.
            if delta.job not in self._answered:
                self._offer(delta)

    def _offer(self, item: Event | Delta) -> None:
        for watcher in self._watchers:
            watcher.offer(item)


async def _first(*signals: asyncio.Event) -> None:
    """Returns when one of the signals is given."""
    waiting = [asyncio.create_task(signal.wait()) for signal in signals]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
