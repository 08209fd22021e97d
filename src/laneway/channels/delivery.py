"""Sends what the outbox holds, in order per thread; what was cut off is sent once more and says so."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing

from laneway.channels.contract import Channel
from laneway.domain.judgement import OutboxRow
from laneway.engine.faults import ended
from laneway.errors import PermanentFault, TransientFault, Unavailable
from laneway.store import outbox
from laneway.store.database import OUTBOX, Connection, Database

SENT_AGAIN = "(Sent again after an interruption; you may already have this.)\n"
AT_ONCE = 16
LOOK_ANYWAY_SECONDS = 10.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 600.0
GIVE_UP_AFTER = 200
"""With the longest pause of ten minutes, an outage of more than a day is outlived."""

_log = logging.getLogger("laneway.delivery")


class Delivery:
    """Pushes replies through the channels of this process."""

    def __init__(
        self, db: Database, worker: str, channels: Mapping[str, Channel], boundary: Callable[[str], None]
    ) -> None:
        self._db, self._worker, self._channels, self._boundary = db, worker, channels, boundary
        self._wake = asyncio.Event()
        self._sending: set[asyncio.Task[None]] = set()
        self._stopping = False

    async def keep_delivering(self) -> None:
        """Runs until `stop`; without pushed channels there is nothing to do."""
        if not self._channels:
            return
        listener = asyncio.create_task(self._keep_listening())
        try:
            while not self._stopping:
                self._wake.clear()
                pause = await self._deliver()
                try:
                    async with asyncio.timeout(pause):
                        await self._wake.wait()
                except TimeoutError:
                    pass
        finally:
            listener.cancel()
            await asyncio.gather(listener, return_exceptions=True)

    async def stop(self, seconds: float) -> None:
        """Nothing new is sent, and what is being sent has been sent as far as the time allowed."""
        self._stopping = True
        self._wake.set()
        if self._sending:
            await asyncio.wait(self._sending, timeout=seconds)

    async def _deliver(self) -> float:
        try:
            async with self._db.transaction() as tx:
                rows = await outbox.claim(tx, self._worker, list(self._channels), AT_ONCE - len(self._sending))
                due = await outbox.seconds_to_next(tx)
        except Unavailable as error:
            _log.warning("%s Trying again in a second.", error)
            return 1.0
        for row in rows:
            task = asyncio.create_task(self._send(row))
            self._sending.add(task)
            task.add_done_callback(self._sent)
        return LOOK_ANYWAY_SECONDS if due is None else min(due + 0.01, LOOK_ANYWAY_SECONDS)

    def _sent(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        self._wake.set()

    async def _send(self, row: OutboxRow) -> None:
        """The border of delivery: the row says what became of the reply."""
        self._boundary("deliver:begin")
        try:
            receipt = await self._channels[row.channel].send(row, (SENT_AGAIN if row.resent else "") + row.text)
        except TransientFault as error:
            await self._put_back(row, error)
            return
        except PermanentFault as error:
            reason = str(error)
            await self._record(lambda tx: outbox.undeliverable(tx, row, self._worker, reason))
            return
        except Exception as error:  # noqa: BLE001  the border of delivery
            _log.error("Reply %s could not be sent.", row.message_id, exc_info=error)
            await self._put_back(row, TransientFault(f"An unexpected {type(error).__name__} stopped the sending."))
            return
        self._boundary("deliver:sent")
        await self._record(lambda tx: outbox.sent(tx, row, self._worker, receipt))
        self._boundary("deliver:stored")

    async def _record(self, outcome: Callable[[Connection], Awaitable[None]]) -> None:
        """What became of the reply is on record, even if the database has to come back first."""
        while True:
            try:
                async with self._db.transaction() as tx:
                    return await outcome(tx)
            except Unavailable:
                await asyncio.sleep(1)

    async def _put_back(self, row: OutboxRow, error: TransientFault) -> None:
        if row.attempts >= GIVE_UP_AFTER:
            return await self._record(lambda tx: outbox.undeliverable(tx, row, self._worker, str(error)))
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(row.attempts - 1, 12)) * random.uniform(0.5, 1)  # noqa: S311
        delay = max(pause, error.retry_after or 0)
        return await self._record(lambda tx: outbox.put_back(tx, row, self._worker, str(error), delay))

    async def _keep_listening(self) -> None:
        while not ended():
            try:
                async with aclosing(self._db.listen(OUTBOX)) as notifications:
                    async for _ in notifications:
                        if ended():
                            return
                        self._wake.set()
            except Unavailable:
                await asyncio.sleep(1)
