"""Sends what the outbox holds, in order per thread; what was cut off is sent once more and says so.

A reply may be several messages of its provider. Each is on record before the next one goes out, so that a crash in
between repeats at most one of them, visibly. An outage costs nothing: replies wait, and so does their order.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from laneway.channels.contract import PULLED, SENT_AGAIN, Channel, Part
from laneway.channels.pacing import NotYet
from laneway.clock import Clock, SystemClock
from laneway.domain.judgement import OutboxRow
from laneway.engine.breath import Breath
from laneway.engine.rounds import listen, rounds
from laneway.errors import PermanentFault, TransientFault, Unavailable, UncertainFault
from laneway.store import outbox, undelivered
from laneway.store.database import OUTBOX, Connection, Database
from laneway.store.finishing import outlast

__all__ = ["SENT_AGAIN", "Delivery"]

AT_ONCE = 16
"""Replies one channel sends at the same time, each of another thread."""

LOOK_ANYWAY_SECONDS = 10.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 600.0
GIVE_UP_AFTER = 200
"""With the longest pause of ten minutes, an outage of more than a day is outlived."""

_log = logging.getLogger("laneway.delivery")


class Delivery:
    """Pushes replies through the channels of this process."""

    def __init__(
        self,
        db: Database,
        worker: str,
        channels: Mapping[str, Channel],
        boundary: Callable[[str], None],
        clock: Clock | None = None,
        pulled: Collection[str] = PULLED,
        breath: Breath | None = None,
    ) -> None:
        self._db, self._worker, self._channels, self._boundary = db, worker, channels, boundary
        self._clock, self._pulled, self._breath = clock or SystemClock(), pulled, breath or Breath()
        self._wake = asyncio.Event()
        self._sending: set[asyncio.Task[None]] = set()
        self._in_hand: set[int] = set()
        self._unsure = False
        self._busy: Counter[str] = Counter()
        self._claiming = asyncio.Lock()
        self._stopping = False

    async def keep_delivering(self) -> None:
        """Runs until `stop`; without pushed channels there is nothing to do."""
        if not self._channels:
            return
        listening = listen(self._db, lambda told: self._wake.set(), OUTBOX)
        await rounds(self._wake, self._deliver, listening, going=self.is_going)

    def is_going(self) -> bool:
        """Whether what comes will be sent."""
        return not self._stopping

    async def stop(self, seconds: float) -> None:
        """Nothing new is sent, and what is being sent has been sent as far as the time allowed."""
        self._stopping = True
        self._wake.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                # What is just being claimed will be sent, and would be cut off if nobody waited for it.
                async with self._claiming:
                    pass
                if self._sending:
                    await asyncio.wait(self._sending)

    def look(self) -> None:
        """What is due is looked for now; a clock that was moved does not say so itself."""
        self._wake.set()

    async def _deliver(self) -> float:
        await self._breath.turn()
        async with self._claiming:
            return LOOK_ANYWAY_SECONDS if self._stopping else await self._begin_sending()

    async def _begin_sending(self) -> float:
        """What is due is being sent; returns in how many seconds something else may be."""
        now = self._clock.now()
        try:
            async with self._db.transaction() as tx:
                if self._unsure:
                    # A line that was cut hides a commit, even one still to come: what we have without knowing of it
                    # nobody would ever send.
                    await outbox.let_go(tx, self._worker, self._in_hand)
                rows: list[OutboxRow] = []
                for name in self._channels:
                    rows += await outbox.claim(tx, self._worker, name, AT_ONCE - self._busy[name], now)
                due = await outbox.seconds_to_next(tx, now)
        except Unavailable as error:
            _log.warning("%s Trying again in a second.", error)
            self._unsure = True
            return 1.0
        for row in rows:
            self._busy[row.channel] += 1
            self._in_hand.add(row.id)
            task = asyncio.create_task(self._send(row))
            self._sending.add(task)
            task.add_done_callback(self._sent(row))
        return LOOK_ANYWAY_SECONDS if due is None else min(due + 0.01, LOOK_ANYWAY_SECONDS)

    def _sent(self, row: OutboxRow) -> Callable[[asyncio.Task[None]], None]:
        def done(task: asyncio.Task[None]) -> None:
            self._busy[row.channel] -= 1
            self._sending.discard(task)
            if not task.cancelled() and task.exception() is None:
                # What became of any other is not on record; it may have arrived, and is not to be sent as if new.
                self._in_hand.discard(row.id)
            self._wake.set()

        return done

    async def _send(self, claimed: OutboxRow) -> None:
        """The border of delivery: the row says what became of the reply."""
        row = claimed
        self._boundary("deliver:begin")
        try:
            await self._check(row)
            await self._breath.turn()
            for number, part in enumerate(self._channels[row.channel].parts(row)):
                row = await self._send_part(row, number, part) if number >= row.parts_sent else row
        except NotYet as error:
            until = self._clock.now() + timedelta(seconds=error.retry_after or FIRST_PAUSE)
            await self._record(lambda tx: outbox.not_yet(tx, row, self._worker, until))
        except TransientFault as error:
            await self._put_back(row, error)
        except UncertainFault as error:
            await self._uncertain(row, str(error))
        except PermanentFault as error:
            await self._give_up(row, str(error))
        except Exception as error:  # noqa: BLE001  the border of delivery
            _log.error("Reply %s could not be sent.", row.message_id, exc_info=error)
            await self._put_back(row, TransientFault(f"An unexpected {type(error).__name__} stopped the sending."))
        else:
            await self._record(lambda tx: outbox.sent(tx, claimed, self._worker, {}))
            self._boundary("deliver:stored")

    async def _check(self, row: OutboxRow) -> None:
        """What may have arrived is not sent a second time into an outage, where it might get lost again."""
        if row.resent:
            await self._channels[row.channel].check()

    async def _send_part(self, row: OutboxRow, number: int, part: Part) -> OutboxRow:
        """The message is out and on record; the row returned says nothing of it any more, only of those to come."""
        receipt = await self._channels[row.channel].send(row, part, row.resent)
        self._boundary("deliver:sent")
        await self._record(lambda tx: outbox.part_sent(tx, row, number, receipt))
        return replace(row, parts_sent=number + 1, resent=False)

    async def _record(self, outcome: Callable[[Connection], Awaitable[object]]) -> None:
        """What became of the reply is on record, even if the database has to come back first."""

        async def record() -> None:
            async with self._db.transaction() as tx:
                await outcome(tx)

        await outlast(record)

    async def _put_back(self, row: OutboxRow, error: TransientFault) -> None:
        if row.attempts >= GIVE_UP_AFTER:
            return await self._give_up(row, str(error))
        until = self._later(row, error.retry_after)
        return await self._record(lambda tx: outbox.put_back(tx, row, self._worker, str(error), until))

    async def _uncertain(self, row: OutboxRow, error: str) -> None:
        if row.resent:
            return await self._give_up(row, outbox.TWICE)
        until = self._later(row, None)
        return await self._record(lambda tx: outbox.uncertain(tx, row, self._worker, error, until))

    async def _give_up(self, row: OutboxRow, error: str) -> None:
        await self._record(lambda tx: undelivered.give_up(tx, row, self._worker, error, self._pulled))

    def _later(self, row: OutboxRow, asked: float | None) -> datetime:
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(row.attempts - 1, 12)) * random.uniform(0.5, 1)  # noqa: S311
        return self._clock.now() + timedelta(seconds=max(pause, asked or 0))
