"""Shows jobs of Telegram threads while they run, from the same stream of events that everybody can watch."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import aclosing
from functools import partial
from itertools import takewhile
from typing import Any
from uuid import UUID

from laneway.channels.telegram.updates import NAME
from laneway.channels.telegram.view import Seat, Stage, View, taken_away
from laneway.domain.job import JobStatus, Scope
from laneway.domain.judgement import Event
from laneway.engine.stream import Delta, Hub, Watcher
from laneway.errors import NotFound, Unavailable
from laneway.store import conversations, events, jobs, notes
from laneway.store.database import Database

BEGINS = frozenset({"message.received", "job.queued", "job.recovered"})
ENDS = frozenset({"reply.written", "job.done", "job.failed", "job.cancelled", "job.waiting"})
SHOWN, GONE = "telegram.shown", "telegram.gone"
"""Events: a message with a Stop button stands in a chat, and that it was taken away."""

REMEMBERED_HOURS = 48
"""Later Telegram lets nobody delete a message."""

SOON_SECONDS = 0.25
"""What is done sooner is not shown: nobody would see it."""
NEXT_SECONDS = 1.0
"""In a thread one job is shown at a time; so soon the next one is when that is over."""

_OPEN = (JobStatus.QUEUED, JobStatus.RUNNING)
_log = logging.getLogger("laneway.telegram")


class Live:
    """One view for each running job of a Telegram thread, in one process at a time."""

    def __init__(self, stage: Stage, hub: Hub, db: Database) -> None:
        self._stage, self._hub, self._db = stage, hub, db
        self._views: dict[UUID, View] = {}
        self._soon: dict[UUID, tuple[UUID | None, asyncio.Task[None]]] = {}
        """Jobs that are not shown yet, in order, with their threads."""
        self._drafts = True
        self._ending: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """People see what is being worked on until this is cancelled."""
        try:
            while True:
                try:
                    place = await self._hub.place("now")
                    await self._take_over()
                    async with aclosing(self._hub.watch(place, Watcher())) as items:
                        async for item in items:
                            await self._hear(item)
                except Unavailable as error:
                    _log.debug("The live view waits: %s", error)
                await asyncio.sleep(1)
        finally:
            await self._leave()

    async def quiet(self, message: str) -> None:
        """Nothing more is shown of what is done for this message, unless that still runs: its answer comes next."""
        for job_id, view in list(self._views.items()):
            if view.answers == message and await self._is_over(job_id):
                await self._end(job_id, view)

    async def _hear(self, item: Event | Delta | None) -> None:
        if isinstance(item, Delta):
            view = self._views.get(item.job)
            if view is not None:
                view.hear(str(item.body.get("call")), str(item.body.get("text", "")))
        elif item is not None and item.job_id is not None:
            await self._heed(item, item.job_id)

    async def _heed(self, event: Event, job_id: UUID) -> None:
        view = self._views.get(job_id)
        if view is None and event.kind in BEGINS and event.body.get("channel", NAME) == NAME:
            if job_id not in self._soon:
                self._begin_later(job_id, event.thread_id)
        elif view is None and event.kind in ENDS - {"reply.written"} and job_id in self._soon:
            self._soon.pop(job_id)[1].cancel()
        elif view is not None and event.kind in ENDS and await self._is_over(job_id):
            self._aside(self._end(job_id, view))

    def _begin_later(self, job_id: UUID, thread_id: UUID | None) -> None:
        self._soon[job_id] = thread_id, asyncio.create_task(self._begin_soon(job_id, thread_id))

    async def _begin_soon(self, job_id: UUID, thread_id: UUID | None) -> None:
        await asyncio.sleep(SOON_SECONDS)
        try:
            while self._follows(job_id, thread_id):
                await asyncio.sleep(NEXT_SECONDS)
            await self._begin(job_id)
        except Unavailable as error:
            _log.debug("A job is not shown: %s", error)
        finally:
            # A job that went on at once is in line anew, and that is not ours to end.
            if self._soon.get(job_id, (None, None))[1] is asyncio.current_task():
                del self._soon[job_id]

    def _follows(self, job_id: UUID, thread_id: UUID | None) -> bool:
        """Whether another job of the thread is shown, or will be before this one."""
        if any(view.thread == thread_id for view in self._views.values()):
            return True
        before = takewhile(lambda one: one != job_id, self._soon)
        return any(self._soon[one][0] == thread_id for one in before)

    async def _begin(self, job_id: UUID, message: int | None = None) -> None:
        async with self._db.transaction() as tx:
            try:
                job = await jobs.get(tx, job_id)
            except NotFound:
                return
            thread = await conversations.thread(tx, job.thread_id)
        seat = seat_of(thread.external_id) if thread is not None and thread.channel == NAME else None
        # What a schedule starts is nobody's waiting; commands are answered at once.
        if seat is None or job.scope is Scope.PROACTIVE or job.aside or job.status not in _OPEN:
            return
        view = View(self._stage, job_id, seat, partial(self._note, SHOWN, job_id, seat), message)
        view.drafts, view.answers, view.thread = view.drafts and self._drafts, str(job.message_id), job.thread_id
        self._views[job_id] = view
        view.begin()

    async def _is_over(self, job_id: UUID) -> bool:
        """Whether the job has ended or waits, told once: its view is no longer among ours then.

        A question it asked, or a word on its budget, is no end.
        """
        try:
            async with self._db.transaction() as tx:
                over = (await jobs.get(tx, job_id)).status not in _OPEN
        except NotFound:
            over = True
        return over and self._views.pop(job_id, None) is not None

    async def _end(self, job_id: UUID, view: View) -> None:
        self._drafts = self._drafts and (view.drafts or not view.seat.private)
        await view.let_go()
        number = view.message
        await view.end()
        if number is not None:
            await self._note(GONE, job_id, view.seat, number)

    async def _note(self, kind: str, job_id: UUID, seat: Seat, number: int) -> None:
        """So that the message is found again if this process dies before it could take it away."""
        body = {"chat": seat.chat, "topic": seat.topic, "message": number}
        try:
            async with self._db.transaction() as tx:
                await events.append(tx, kind, body, job_id=job_id)
        except Unavailable:
            return

    async def _take_over(self) -> None:
        """What an earlier process left standing belongs to a job that still runs, or is gone."""
        async with self._db.transaction() as tx:
            told = await notes.recent(tx, [SHOWN, GONE], hours=REMEMBERED_HOURS)
            pages = [await jobs.page(tx, status=status, limit=200) for status in (JobStatus.RUNNING, JobStatus.QUEUED)]
        standing: dict[UUID, Event] = {}
        for event in told:
            if event.job_id is not None and event.kind == SHOWN:
                standing[event.job_id] = event
            elif event.job_id is not None:
                standing.pop(event.job_id, None)
        for job in [job for page in pages for job in sorted(page, key=lambda one: one.seq)]:
            left = standing.pop(job.id, None)
            if left is not None and job.id not in self._views:
                await self._begin(job.id, int(left.body["message"]))
            elif job.id not in self._views and job.id not in self._soon:
                self._begin_later(job.id, job.thread_id)
        for job_id, event in standing.items():
            if job_id not in self._views:
                self._aside(self._clear(job_id, event))

    async def _clear(self, job_id: UUID, event: Event) -> None:
        seat, number = Seat(int(event.body["chat"]), event.body.get("topic")), int(event.body["message"])
        await taken_away(self._stage.bot, seat.chat, number)
        await self._note(GONE, job_id, seat, number)

    async def _leave(self) -> None:
        """Nothing is shown from here any more; messages stay for whoever takes over."""
        for _, task in self._soon.values():
            task.cancel()
        views, self._views = list(self._views.values()), {}
        await asyncio.gather(*(view.let_go() for view in views), return_exceptions=True)
        if self._ending:
            await asyncio.wait(self._ending, timeout=2)

    def _aside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def seat_of(thread: str) -> Seat | None:
    """Where a thread's chat is; None for threads nothing is sent to."""
    chat, _, topic = thread.partition("/")
    try:
        return Seat(int(chat), int(topic) if topic else None)
    except ValueError:
        return None
