"""Starts DBOS in our PostgreSQL, runs jobs as its workflows, and ends it all cleanly."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any
from uuid import UUID

from dbos import DBOS, DBOSConfig, SetWorkflowID

from laneway.clock import SystemClock
from laneway.domain.ids import new_id
from laneway.domain.job import Job, JobStatus
from laneway.engine import watched
from laneway.engine.breath import Breath
from laneway.engine.dispatch import Dispatcher
from laneway.engine.heartbeat import Heartbeat
from laneway.engine.kept import keep
from laneway.engine.recovery import GiveUp, Recovery, last_good_step
from laneway.engine.running import End, Run, Running
from laneway.engine.steps import Boundary, Steps
from laneway.errors import Unavailable
from laneway.llm.noted import ModelCalled, noted_by
from laneway.store import jobs, workers
from laneway.store.database import Connection, Database
from laneway.store.migrate import sqlalchemy_url

SHAPE = "3"
"""The shape of our durable runs. Raise it when steps are added, removed, renamed or reordered."""

DRAIN_SECONDS = 10.0

Runner = Callable[[Run], Awaitable[None]]
Last = Callable[[], Awaitable[None]]
Watching = Callable[[Run], AbstractAsyncContextManager[None]]
"""Looks at a run while the block lasts, by setting its `watch`."""

_log = logging.getLogger("laneway.engine")
_here: Engine | None = None


@DBOS.workflow(name="laneway.job", max_recovery_attempts=None)
async def _run_job(job_id: str) -> str:
    """One run of a job; which run it is stands in the workflow's own id, so that a fork is a new run."""
    engine = _here
    if engine is None or DBOS.workflow_id is None:
        raise RuntimeError("The engine is not running.")
    return await engine.run(UUID(job_id), int(DBOS.workflow_id.rpartition(".")[2]))


def migrate_engine(database_url: str) -> None:
    """The engine's own tables are in the database, in the schema `dbos`."""
    _quiet()
    DBOS.migrate(sqlalchemy_url(database_url))


class Engine:
    """The durable engine of one process."""

    def __init__(
        self,
        db: Database,
        runner: Runner,
        *,
        slots: int,
        owner_slots: int,
        keep_days: int = 90,
        give_up: GiveUp | None = None,
        shape: str = SHAPE,
        boundary: Boundary = lambda name: None,
        watching: Watching = lambda run: nullcontext(),
        breath: Breath | None = None,
    ) -> None:
        self.worker = f"w-{new_id().hex[-12:]}-{os.getpid()}"
        self.shape = shape
        self._db, self._runner, self._slots, self._watching = db, runner, slots, watching
        self.running = Running(slots, owner_slots)
        self.breath = breath or Breath()
        self.steps = Steps(db, draining=lambda: self.running.draining, boundary=boundary, turn=self.breath.turn)
        self._recovery = Recovery(db, self.worker, shape, self._start, give_up or _fail)
        self._heartbeat = Heartbeat(db, self.worker, self.running, self._recovery, keep_days)
        self._dispatcher = Dispatcher(db, self.worker, self.running, self._start, self.breath)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def launch(self) -> None:
        """Jobs are being taken; those of dead workers on this machine have been taken over."""
        global _here
        _here = self
        _quiet()
        config: DBOSConfig = {
            "name": "laneway",
            "system_database_url": sqlalchemy_url(self._db.url),
            "application_version": self.shape,
            "executor_id": self.worker,
            "sys_db_pool_size": 10,
            "log_level": "ERROR",
            "max_executor_threads": 32,
        }
        DBOS(config=config)
        DBOS.launch()
        await self._heartbeat.begin(self._slots, self.shape)
        loops = {"heartbeat": self._heartbeat.keep_beating, "dispatch": self._dispatcher.keep_dispatching}
        for name, loop in loops.items():
            kept = keep(name, loop, going=lambda: not self.running.draining)
            self._tasks[name] = asyncio.create_task(kept, name=name)

    async def stop(self, drain_seconds: float = DRAIN_SECONDS, last: Sequence[Last] = ()) -> None:
        """Nothing runs here any more; steps that did not end in time will be taken up at the next start.

        What others must not take out of our hands is done `last`, one after the other, before we say goodbye.
        """
        global _here
        self.running.drain()
        deadline = asyncio.get_running_loop().time() + drain_seconds
        while len(self.running) and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.05)
        self.running.stop_all(End.DRAINED)
        await asyncio.sleep(0.05 if len(self.running) else 0)
        heartbeat, dispatch = self._tasks["heartbeat"], self._tasks["dispatch"]
        heartbeat.cancel()
        # Dispatch ends by itself: cancelled in the middle of a claim it would leave a job to be taken over.
        await asyncio.gather(heartbeat, dispatch, return_exceptions=True)
        for work in last:
            await work()
        await self._say_goodbye()
        await asyncio.to_thread(DBOS.destroy)
        # DBOS made its own thread pool the loop's default and has just shut it down; others still need one.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix="laneway"))
        _here = None

    async def _say_goodbye(self) -> None:
        try:
            async with self._db.transaction() as tx:
                await workers.leave(tx, self.worker)
        except Unavailable:
            _log.warning("The database is gone; the next start will notice that this worker is, too.")

    async def _start(self, job: Job) -> None:
        """A run of the job has begun: from its start, or from its last good step if it is to resume."""
        if job.resume and job.run > 1:
            before = f"{job.id}.{job.run - 1}"
            step = await last_good_step(before)
            if step is not None:
                with SetWorkflowID(job.run_id):
                    await DBOS.fork_workflow_async(before, step, application_version=self.shape)
                # A fork waits in DBOS's own queue, and any worker may take it; our slot is held until one has.
                return
        with SetWorkflowID(job.run_id):
            await DBOS.start_workflow_async(_run_job, str(job.id))

    async def run(self, job_id: UUID, run: int) -> str:
        """The run has ended one way or another, and the job's row says how."""
        job = None
        try:
            async with self._db.transaction() as tx:
                job = await jobs.adopt(tx, job_id, run, self.worker)
        finally:
            if job is None:
                self.running.release(job_id)
        if job is None:
            return "no longer wanted"
        this = Run(job, self.worker)

        async def model_called(call: ModelCalled) -> None:
            await this.watch.see(watched.model_answered(job.id, SystemClock().now(), call))

        with self.running.running(this), noted_by(model_called):
            async with self._watching(this):
                await self._runner(this)
        return "ended"


async def _fail(tx: Connection, job: Job, error: dict[str, Any]) -> None:
    await jobs.move(tx, job.id, JobStatus.FAILED, error=error)


def _quiet() -> None:
    # DBOS logs its own life in prose on the console; ours is in events and in our log.
    logging.getLogger("dbos").setLevel(logging.ERROR)
    logging.getLogger("dbos").propagate = False
