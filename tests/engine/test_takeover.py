"""What happens to the jobs of a worker that is gone, stopped, cancelled or of another shape."""

from __future__ import annotations

import asyncio
import time

import pytest

from laneway.domain.job import JobStatus
from laneway.engine.running import Run, current_run
from laneway.engine.steps import Steps
from laneway.errors import IllegalTransition, LeaseLost
from laneway.store import jobs, workers
from laneway.store.database import Database
from tests.engine.conftest import Door, Launch


async def finish(db: Database, run: Run) -> None:
    async with db.transaction() as tx:
        await jobs.move(tx, run.job.id, JobStatus.DONE)


class Diary:
    """A runner of three steps that can be stopped after each."""

    def __init__(self, db: Database) -> None:
        self.db, self.made = db, list[str]()
        self.steps: Steps
        self.hold_at: str | None = None
        self.held = asyncio.Event()

    async def run(self, run: Run) -> None:
        for name in ("one", "two", "three"):
            await self.steps.step(name, lambda name=name: self._make(name))  # type: ignore[misc]
        await finish(self.db, run)

    async def _make(self, name: str) -> str:
        if self.hold_at == name:
            self.held.set()
            await asyncio.sleep(60)
        self.made.append(name)
        return name


async def test_a_drained_run_goes_on_at_the_step_where_it_was_stopped(db: Database, door: Door, launch: Launch) -> None:
    diary = Diary(db)
    diary.hold_at = "two"
    async with launch(diary.run) as engine:
        diary.steps = engine.steps
        job_id = await door.put()
        await asyncio.wait_for(diary.held.wait(), 5)
    assert (await door.job(job_id)).status is JobStatus.RUNNING
    diary.hold_at = None
    async with launch(diary.run) as engine:
        diary.steps = engine.steps
        assert (await door.ended(job_id)).status is JobStatus.DONE
    assert diary.made == ["one", "two", "three"]


async def test_a_run_of_another_shape_keeps_its_stored_steps(db: Database, door: Door, launch: Launch) -> None:
    diary = Diary(db)
    diary.hold_at = "three"
    async with launch(diary.run, shape="A") as engine:
        diary.steps = engine.steps
        job_id = await door.put()
        await asyncio.wait_for(diary.held.wait(), 5)
    diary.hold_at = None
    async with launch(diary.run, shape="B") as engine:
        diary.steps = engine.steps
        job = await door.ended(job_id)
    assert job.status is JobStatus.DONE
    assert job.run == 2
    assert diary.made == ["one", "two", "three"]


async def test_cancelling_a_queued_job_means_it_never_starts(db: Database, door: Door, launch: Launch) -> None:
    began: list[str] = []

    async def runner(run: Run) -> None:
        began.append(str(run.job.id))
        await finish(db, run)

    job_id = await door.put()
    async with db.transaction() as tx:
        await jobs.request_cancel(tx, job_id)
    async with launch(runner):
        other = await door.put()
        await door.ended(other)
    assert began == [str(other)]
    assert (await door.job(job_id)).status is JobStatus.CANCELLED


@pytest.mark.alone
async def test_cancelling_a_running_job_ends_its_task_within_a_second(db: Database, door: Door, launch: Launch) -> None:
    began, ended = asyncio.Event(), asyncio.Event()
    children_ended: list[bool] = []

    async def runner(run: Run) -> None:
        current_run().on_end.append(lambda: children_ended.append(True))
        began.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.set()
            async with db.transaction() as tx:
                await jobs.move(tx, run.job.id, JobStatus.CANCELLED)

    async with launch(runner):
        job_id = await door.put()
        await asyncio.wait_for(began.wait(), 5)
        at = time.monotonic()
        async with db.transaction() as tx:
            await jobs.request_cancel(tx, job_id)
        await asyncio.wait_for(ended.wait(), 5)
        assert time.monotonic() - at < 1
        assert (await door.ended(job_id)).status is JobStatus.CANCELLED
    assert children_ended == [True]


async def test_a_worker_that_was_given_up_may_not_act_and_then_starts_afresh(
    db: Database, door: Door, launch: Launch
) -> None:
    began = asyncio.Event()
    refused: list[str] = []
    runs: list[int] = []

    async def runner(run: Run) -> None:
        runs.append(run.epoch)
        if len(runs) > 1:
            await finish(db, run)
            return
        began.set()
        while True:
            await asyncio.sleep(0.05)
            try:
                await engine.steps.check_lease()
            except LeaseLost as error:
                refused.append(str(error))
                raise asyncio.CancelledError from None

    async with launch(runner) as engine:
        job_id = await door.put()
        await asyncio.wait_for(began.wait(), 5)
        async with db.transaction() as tx:
            # What another worker does when this one has been silent for too long.
            await workers.leave(tx, engine.worker)
            await jobs.hand_over(tx, job_id, worker="w-other", next_run=False)
        async with asyncio.timeout(10):
            while not refused:
                await asyncio.sleep(0.05)
        await asyncio.sleep(3.5)
        async with db.transaction() as tx:
            assert engine.worker in [worker.id for worker in await workers.alive(tx)]
        fresh = await door.put("another")
        assert (await door.ended(fresh)).status is JobStatus.DONE
    assert "taken over" in refused[0]


async def test_a_job_that_has_ended_cannot_be_moved(db: Database, door: Door, launch: Launch) -> None:
    async with launch(lambda run: finish(db, run)):
        job = await door.ended(await door.put())
    with pytest.raises(IllegalTransition, match="is done and cannot become running"):
        async with db.transaction() as tx:
            await jobs.move(tx, job.id, JobStatus.RUNNING)
    with pytest.raises(IllegalTransition, match="is done and cannot become cancelled"):
        async with db.transaction() as tx:
            await jobs.request_cancel(tx, job.id)
