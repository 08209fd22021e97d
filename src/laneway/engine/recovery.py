"""Takes over what dead workers left: their runs go on from the last stored step, their sendings are uncertain."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from dbos import DBOS, SetWorkflowID

from laneway.domain.job import Job, JobStatus
from laneway.store import jobs, ledger, outbox, undelivered, workers
from laneway.store.database import Connection, Database

_log = logging.getLogger("laneway.engine.recovery")
GIVE_UP_AFTER = 25
"""A job whose worker died this often probably kills it; it is failed instead of run once more."""


STRAY_BEATS = 3
"""A run that was only handed to DBOS may take a moment to begin; after this many beats it is lost."""


GiveUp = Callable[[Connection, Job, dict[str, Any]], Awaitable[None]]
"""Fails a job for good and tells its user, within the transaction given."""


class Recovery:
    """Gives the jobs of dead workers a new life, here or on another live worker."""

    def __init__(
        self, db: Database, worker: str, shape: str, start: Callable[[Job], Awaitable[None]], give_up: GiveUp
    ) -> None:
        self._db, self._worker, self._shape, self._start, self._give_up = db, worker, shape, start, give_up
        self._strays: Counter[UUID] = Counter()

    async def take_over(self) -> int:
        """Nothing of a dead worker lies about any more; returns how many jobs were taken over."""
        async with self._db.transaction() as tx:
            dead = await workers.gone_with_work(tx)
        taken = 0
        for worker in dead:
            taken += await self._take_over(worker)
        return taken

    async def take_back(self, running: set[UUID]) -> set[UUID]:
        """Jobs that are ours by their row and that nothing here has run for several beats go on.

        Returns the jobs that are still ours to begin.
        """
        async with self._db.transaction() as tx:
            mine = [job for job in await jobs.running_of(tx, self._worker) if job.id not in running]
            self._strays = Counter({job.id: self._strays[job.id] + 1 for job in mine})
            lost = [job for job in mine if self._strays[job.id] >= STRAY_BEATS]
            plans = [await self._plan(tx, job, self._worker) for job in lost]
        for plan in plans:
            await plan()
        return {job.id for job in mine} - {job.id for job in lost}

    async def told_to_stop(self) -> list[UUID]:
        """The jobs of ours that somebody told to stop; word of it is not repeated for those who missed it."""
        async with self._db.transaction() as tx:
            return await jobs.told_to_stop(tx, self._worker)

    async def _take_over(self, dead: str) -> int:
        async with self._db.transaction() as tx:
            for reply in await outbox.mark_uncertain(tx, dead):
                await undelivered.tell(tx, reply, outbox.TWICE)
            left = await jobs.running_of(tx, dead)
            plans = [await self._plan(tx, job, dead) for job in left]
        for plan in plans:
            await plan()
        if left:
            _log.info("Took over %d jobs of worker %s.", len(left), dead)
        return len(left)

    async def _plan(self, tx: Connection, job: Job, dead: str) -> Callable[[], Awaitable[None]]:
        """The job's row is settled in `tx`; what the engine must do after the commit is returned."""
        await ledger.cut_all_of(tx, job.id)
        status = await DBOS.get_workflow_status_async(job.run_id)
        if job.cancel_requested_at is not None:
            await jobs.move(tx, job.id, JobStatus.CANCELLED)
            return _nothing
        deaths = await jobs.count_death(tx, job.id)
        if deaths >= GIVE_UP_AFTER:
            error = {"code": "poison", "message": f"A worker died {deaths} times while it ran this job."}
            await self._give_up(tx, job, error)
            return _nothing
        if status is None:
            # Claimed, and dead before the run began: nothing has happened yet.
            await jobs.move(tx, job.id, JobStatus.QUEUED, resume=job.resume)
            return _nothing
        if status.app_version != self._shape:
            moved = await jobs.hand_over(tx, job.id, worker=self._worker, next_run=True)
            return lambda: self._carry_over(job.run_id, moved)
        if status.status in ("PENDING", "ENQUEUED"):
            await jobs.hand_over(tx, job.id, worker=self._worker, next_run=False)
            executor = status.executor_id or dead
            return lambda: asyncio.to_thread(_requeue, job.run_id, executor)
        moved = await jobs.hand_over(tx, job.id, worker=self._worker, next_run=True)
        return lambda: self._start(moved)

    async def _carry_over(self, before: str, job: Job) -> None:
        """A run of another shape goes on under ours with its stored steps; where they no longer fit, from the start."""
        step = await last_good_step(before)
        with SetWorkflowID(job.run_id):
            await DBOS.fork_workflow_async(before, step or 1, application_version=self._shape)


async def last_good_step(run_id: str) -> int | None:
    """The number of the first step of a run that has no good outcome; None if the run was never stored."""
    if await DBOS.get_workflow_status_async(run_id) is None:
        return None
    number = 1
    for step in await DBOS.list_workflow_steps_async(run_id):
        if step["error"] is not None:
            break
        number = step["function_id"] + 1
    return number


def _requeue(run_id: str, executor: str) -> None:
    from dbos._dbos import _get_dbos_instance
    from dbos._utils import INTERNAL_QUEUE_NAME

    # DBOS recovers whole executors at its own start only; this is the same call for one run.
    _get_dbos_instance()._sys_db.reenqueue_for_recovery(run_id, [executor], INTERNAL_QUEUE_NAME)


async def _nothing() -> None:
    return None
