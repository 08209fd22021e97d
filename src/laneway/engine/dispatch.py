"""Claims ready jobs the moment they are committed: woken by NOTIFY, by a freed slot, or by a due time."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from uuid import UUID

from laneway.domain.job import Job, JobStatus
from laneway.engine.breath import Breath
from laneway.engine.faults import FAULTS
from laneway.engine.rounds import Told, listen, rounds
from laneway.engine.running import End, Running
from laneway.store import jobs
from laneway.store.database import CANCELS, JOBS, Database

_log = logging.getLogger("laneway.engine.dispatch")
LOOK_ANYWAY_SECONDS = 10.0
"""A notification can be missed while the listener reconnects; this is the longest a job then waits."""


class Dispatcher:
    """Gives this process as many ready jobs as it has slots for."""

    def __init__(
        self, db: Database, worker: str, running: Running, start: Callable[[Job], Awaitable[None]], breath: Breath
    ) -> None:
        self._db, self._worker, self._running, self._start, self._breath = db, worker, running, start, breath
        self._wake = running.freed

    async def keep_dispatching(self) -> None:
        """Runs until the process drains; a database that goes away is waited for."""
        listening = listen(self._db, self._hear, JOBS, CANCELS)
        await rounds(self._wake, self._dispatch, listening, going=lambda: not self._running.draining)

    async def _dispatch(self) -> float:
        """Everything that can start has started; returns how long nothing can be due."""
        if not self._running.free() and not self._running.free_for_owner():
            # A slot that is freed wakes us; until then nothing could be taken.
            return LOOK_ANYWAY_SECONDS
        await self._breath.turn()
        began = time.monotonic()
        try:
            # Asked after the claims, what fell due in between would be neither claimed nor still to come.
            async with self._db.transaction() as tx:
                due = await jobs.seconds_to_next(tx)
            await self._claim(self._running.free(), owner_only=False)
            await self._claim(self._running.free_for_owner(), owner_only=True)
        except FAULTS as error:
            _log.warning("No dispatch: %s Trying again in a second.", error)
            return 1.0
        if due is None:
            return LOOK_ANYWAY_SECONDS
        return min(max(0.0, due - (time.monotonic() - began)) + 0.01, LOOK_ANYWAY_SECONDS)

    async def _claim(self, limit: int, *, owner_only: bool) -> None:
        if limit <= 0 or self._running.draining or self._running.paused:
            return
        async with self._db.transaction() as tx:
            ready = await jobs.claim(tx, self._worker, limit=limit, owner_only=owner_only)
        for job in ready:
            self._running.claimed(job)
        for job in ready:
            await self._breath.turn()
            try:
                await self._start(job)
            except FAULTS as error:
                _log.warning("Job %s did not start, it goes back into the queue: %s", job.id, error)
                await self._put_back(job)

    async def _put_back(self, job: Job) -> None:
        self._running.release(job.id)
        async with self._db.transaction() as tx:
            await jobs.move(tx, job.id, JobStatus.QUEUED, resume=job.resume, delay=1)

    def _hear(self, notification: Told) -> None:
        if notification is None or notification[0] != CANCELS:
            self._wake.set()
            return
        # Anybody on the database may notify; what names no job must not end the listening.
        with suppress(ValueError):
            self._running.stop(UUID(notification[1]), End.CANCELLED)
