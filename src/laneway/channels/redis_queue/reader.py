"""The loop that takes jobs from one list or stream: not more than there is room for, and nobody's faster than allowed.

Nothing is lost on the way: an entry leaves Redis after the commit, and whatever happens before that, it is found again
in this worker's own list or among its pending entries, by this worker or by the next.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

import orjson
from redis.exceptions import ResponseError

from laneway.channels.redis_queue.burying import Burying
from laneway.channels.redis_queue.connection import BLOCK_SECONDS, FAULTS, FIRST_PAUSE, LONGEST_PAUSE, told
from laneway.channels.redis_queue.job_message import JobMessage, Unreadable, first_id
from laneway.channels.redis_queue.source import BEAT_SECONDS, Entry, Source
from laneway.channels.redis_queue.taking import Taker
from laneway.clock import SystemClock
from laneway.domain.redaction import HIDDEN, holds_secret, redacted
from laneway.domain.storable import storable
from laneway.errors import TooMany, Unavailable
from laneway.lanes.workflow.refusing import Rejected
from laneway.store import redis_jobs
from laneway.store.refusals import CannotHold

AT_ONCE = 16
MOST_AT_HAND = 64
"""So many jobs that are too fast, or cannot be buried, may wait here; with more, nothing further is taken."""

LONGEST_WAIT = 5.0
"""After this time it is looked again whether somebody who was too fast may go on."""

READ_TRIES = 3
LONGEST_LETTER = 65_536
_log = logging.getLogger("laneway.redis")


@dataclass
class _Queue:
    """Jobs of one owner that wait until their owner may have another one taken."""

    until: float
    waiting: deque[tuple[Entry, JobMessage]] = field(default_factory=deque)


class Reader:
    """Takes jobs from one source into the database."""

    def __init__(self, source: Source, taker: Taker, most_unfinished: int) -> None:
        self._source, self._taker, self._most = source, taker, most_unfinished
        self._taken: deque[Entry] = deque()
        """What is to be settled next, the one that just is included."""
        self._queues: dict[str, _Queue] = {}
        self._burying = Burying(source)
        self.wrong: str | None = None
        """Why nothing can be taken, as long as Redis answers and refuses it."""
        self._beaten = 0.0

    async def keep_reading(self) -> None:
        """Runs until cancelled; a Redis that goes away, or refuses what we ask, is asked less and less often."""
        pause = FIRST_PAUSE
        try:
            while True:
                try:
                    await self._begin()
                    while True:
                        if await self._round():
                            # Only now: a Redis that lets us begin may still refuse to give a job.
                            self.wrong, pause = None, FIRST_PAUSE
                except FAULTS as error:
                    wrong = f"Nothing can be taken from {self._source.name} now: {told(error)}"
                    self.wrong = wrong if isinstance(error, ResponseError) else None
                    _log.warning("%s", wrong)
                await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311  no secret
                pause = min(LONGEST_PAUSE, pause * 2)
        finally:
            self.wrong = None
            await asyncio.shield(asyncio.gather(self._leave(), return_exceptions=True))

    async def _leave(self) -> None:
        async with asyncio.timeout(2):
            await self._source.leave()

    async def _begin(self) -> None:
        # What was at hand is still kept by Redis, and comes again from there.
        self._taken.clear()
        self._queues.clear()
        self._burying.clear()
        self._beaten = self._now()
        self._taken.extend(await self._source.begin())
        await self._settle_taken()

    async def _round(self) -> bool:
        """What may be taken now has been taken; False if there was no room to ask for anything."""
        if self._now() - self._beaten >= BEAT_SECONDS:
            await self._beat()
        await self._settle_queues()
        await self._settle_taken()
        await self._burying.go_on()
        room = await self._room()
        if room <= 0:
            await asyncio.sleep(0.1)
            return False
        due = min((queue.until for queue in self._queues.values()), default=self._now() + BLOCK_SECONDS)
        seconds = min(BLOCK_SECONDS, max(0.05, due - self._now()))
        self._taken.extend(await self._source.take(room, seconds))
        await self._settle_taken()
        return True

    async def _beat(self) -> None:
        """The others know that this worker lives, and what the dead among them left is the last to be settled here."""
        self._beaten = self._now()
        left = await self._source.beat(self._at_hand())
        if left:
            _log.info("Took over %d jobs that a dead worker had taken from %s.", len(left), self._source.name)
        self._taken.extend(left)

    async def _wait(self) -> None:
        """A while has passed that something we need may take to come back; nobody takes us for dead meanwhile."""
        await asyncio.sleep(1)
        await self._beat()

    def _at_hand(self) -> Collection[bytes]:
        waiting = {entry.key for queue in self._queues.values() for entry, _ in queue.waiting}
        return waiting.union(self._burying.keys(), (entry.key for entry in self._taken))

    async def _room(self) -> int:
        """How many more may be taken now."""
        waiting = sum(len(queue.waiting) for queue in self._queues.values())
        try:
            async with self._taker.db.transaction() as tx:
                unfinished = await redis_jobs.unfinished(tx)
        except Unavailable:
            return 0
        return min(AT_ONCE, MOST_AT_HAND - waiting - len(self._burying), self._most - unfinished - waiting)

    async def _settle_taken(self) -> None:
        while self._taken:
            await self._settle(self._taken[0])
            self._taken.popleft()

    async def _settle(self, entry: Entry) -> None:
        """The entry is committed and let go, refused and buried, or waits for its owner's turn."""
        try:
            job = await self._read(entry)
            owner = job.named.get("workflow_owner", "")
            if owner in self._queues:
                self._queues[owner].waiting.append((entry, job))
            elif (wait := await self._take(entry, job)) is not None:
                self._queues[owner] = _Queue(self._now() + wait, deque([(entry, job)]))
        except Unreadable as bad:
            await self._refuse(entry, bad)

    async def _read(self, entry: Entry) -> JobMessage:
        """The job in the entry; one that nobody can read, however often it is tried, is no job."""
        for _ in range(READ_TRIES):
            try:
                return await self._source.read(entry)
            except Unavailable as error:
                reason = str(error)
                await self._wait()
        raise Unreadable("too-large", f"The job could not be read. {reason}", first_id(entry.raw))

    async def _take(self, entry: Entry, job: JobMessage) -> float | None:
        """None once the job is committed and let go; else how long its owner must wait."""
        while True:
            try:
                await self._taker.take(job, again=entry.again)
            except TooMany as error:
                return min(error.retry_after or 1.0, LONGEST_WAIT)
            except Unavailable:
                # Our own database is gone: the job stays where it is, and so do we.
                await self._wait()
            else:
                await self._source.release(entry)
                return None

    async def _settle_queues(self) -> None:
        """Whoever may go on has gone on, in order."""
        for owner, queue in list(self._queues.items()):
            while queue.waiting and queue.until <= self._now():
                entry, job = queue.waiting[0]
                try:
                    wait = await self._take(entry, job)
                except Unreadable as bad:
                    await self._refuse(entry, bad)
                    wait = None
                if wait is None:
                    queue.waiting.popleft()
                else:
                    queue.until = self._now() + wait
            if not queue.waiting:
                del self._queues[owner]

    async def _refuse(self, entry: Entry, bad: Unreadable) -> None:
        _log.warning("A job from %s was refused (%s): %s", self._source.name, bad.type, bad.reason)
        while True:
            try:
                await self._taker.refuse(bad, again=entry.again)
                break
            except (TooMany, Unavailable):
                await self._wait()
            except CannotHold as error:
                # Put back, it would come again and again, and nothing behind it ever would.
                _log.warning("Nobody can be told of that in a result: the database cannot hold it (%s).", error)
                break
        await self._burying.bury(entry, letter(entry.raw, bad, self._source.name))

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def letter(raw: bytes, bad: Unreadable, source: str) -> bytes:
    """What lies with the dead: the reason, and as much of the job as a person can look at."""
    text = raw[:LONGEST_LETTER].decode("utf-8", errors="backslashreplace")
    if bad.type == Rejected.code:
        shown = redacted(orjson.loads(raw)) if len(raw) <= LONGEST_LETTER else HIDDEN
        text = HIDDEN if holds_secret(shown) else orjson.dumps(shown).decode()
    told_of = {
        "type": bad.type, "reason": bad.reason, "job_id": bad.job_id, "source": source, "bytes": len(raw),
        "at": SystemClock().now().isoformat(), "job": text,
    }  # fmt: skip
    return orjson.dumps(storable(told_of))
