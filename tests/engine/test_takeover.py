"""What happens to the jobs of a worker that is gone, stopped, cancelled or of another shape."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from laneway.domain.job import JobStatus
from laneway.domain.judgement import EffectState
from laneway.engine.dispatch import LOOK_ANYWAY_SECONDS
from laneway.engine.launch import Engine
from laneway.engine.running import End, Run, current_run
from laneway.engine.steps import Steps
from laneway.errors import IllegalTransition, LeaseLost
from laneway.store import effects, jobs, workers
from laneway.store.database import CANCELS, Database
from tests.engine.conftest import Door, Launch
from tests.gates import somebody_waits


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

    def given(self, engine: Engine) -> None:
        """Steps are those of this engine from now on."""
        self.steps = engine.steps

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


@pytest.mark.parametrize(("hold_at", "shape", "runs"), [("two", "A", 1), ("three", "B", 2)])
async def test_a_drained_run_goes_on_at_the_step_where_it_was_stopped(
    db: Database, door: Door, launch: Launch, hold_at: str, shape: str, runs: int
) -> None:
    """A worker of another shape starts another run, with the steps that are stored."""
    diary = Diary(db)
    diary.hold_at = hold_at
    async with launch(diary.run, shape="A", made=diary.given):
        job_id = await door.put()
        await asyncio.wait_for(diary.held.wait(), 30)
    assert (await door.job(job_id)).status is JobStatus.RUNNING
    diary.hold_at = None
    async with launch(diary.run, shape=shape, made=diary.given):
        job = await door.ended(job_id)
    assert (job.status, job.run) == (JobStatus.DONE, runs)
    assert diary.made == ["one", "two", "three"]


async def until_stopped(db: Database, run: Run, began: asyncio.Event, ended: asyncio.Event) -> None:
    """A job that works until somebody stops it, and says so."""
    began.set()
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        ended.set()
        async with db.transaction() as tx:
            await jobs.move(tx, run.job.id, JobStatus.CANCELLED)


async def test_cancelling_a_running_job_ends_its_task_and_its_children_at_once(
    db: Database, door: Door, launch: Launch
) -> None:
    began, ended = asyncio.Event(), asyncio.Event()
    children_ended: list[bool] = []

    async def runner(run: Run) -> None:
        current_run().on_end.append(lambda: children_ended.append(True))
        await until_stopped(db, run, began, ended)

    async with launch(runner):
        job_id = await door.put()
        await asyncio.wait_for(began.wait(), 30)
        async with db.transaction() as tx:
            await jobs.request_cancel(tx, job_id)
        await asyncio.wait_for(ended.wait(), 2)
        assert (await door.ended(job_id)).status is JobStatus.CANCELLED
    assert children_ended == [True]


async def test_a_worker_that_was_given_up_may_not_act_and_starts_afresh_as_soon_as_it_has_let_go(
    db: Database, door: Door, launch: Launch
) -> None:
    began, gone, refused = asyncio.Event(), asyncio.Event(), list[str]()

    async def runner(run: Run) -> None:
        if began.is_set():
            await finish(db, run)
            return
        began.set()
        try:
            await ask_until_refused()
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            # The heartbeat noticed first and lets go of every run; this one may not act all the same.
            await ask_until_refused()
        finally:
            await gone.wait()

    async def ask_until_refused() -> None:
        while not refused:
            await asyncio.sleep(0.05)
            try:
                await engine.steps.check_lease()
            except LeaseLost as error:
                refused.append(str(error))

    async with launch(runner) as engine:
        job_id = await door.put()
        await asyncio.wait_for(began.wait(), 30)
        async with db.transaction() as tx:
            # What another worker does when this one has been silent for too long.
            await workers.leave(tx, engine.worker)
            await jobs.hand_over(tx, job_id, worker="w-other", next_run=False)
        async with asyncio.timeout(30):
            while not (refused and engine.running.paused):
                await asyncio.sleep(0.02)
        fresh = await door.put("another")
        await asyncio.sleep(0.1)
        assert (await door.job(fresh)).status is JobStatus.QUEUED
        gone.set()
        # Nobody has to look for it: that is done every ten seconds only.
        await door.until(fresh, JobStatus.DONE, seconds=LOOK_ANYWAY_SECONDS * 0.8)
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


async def test_a_stop_that_nobody_was_told_of_ends_the_run_all_the_same(
    db: Database, door: Door, launch: Launch
) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async with launch(lambda run: until_stopped(db, run, began, ended)):
        job_id = await door.put()
        await asyncio.wait_for(began.wait(), 30)
        # Word of a stop that names no job leaves the worker as it is.
        await db.notify(CANCELS, "nonsense")
        # As `request_cancel` does, with a notification that came while the listener had no connection.
        async with db.transaction() as tx:
            await tx.execute("UPDATE jobs SET cancel_requested_at = now() WHERE id = %s", (job_id,))
        await asyncio.wait_for(ended.wait(), 30)
        assert (await door.ended(job_id)).status is JobStatus.CANCELLED
        # Nobody told of it, dispatch would look after ten seconds.
        for event in (began, ended):
            event.clear()
        second = await door.put()
        await asyncio.wait_for(began.wait(), LOOK_ANYWAY_SECONDS * 0.8)
        async with db.transaction() as tx:
            await jobs.request_cancel(tx, second)
        await asyncio.wait_for(ended.wait(), 2)


async def test_an_effect_that_has_happened_is_on_record_though_its_run_is_stopped_meanwhile(
    db: Database, door: Door, launch: Launch, database_url: str
) -> None:
    steps, ended = list[Steps](), asyncio.Event()
    async with await psycopg.AsyncConnection.connect(database_url) as holder:

        async def work() -> dict[str, str]:
            # The intent is stored; until this is let go, the outcome is not.
            await holder.execute("SELECT 1 FROM effects FOR UPDATE")
            return {"status": "ok"}

        async def runner(run: Run) -> None:
            try:
                await steps[0].effect("send", {}, work, idempotent=False)
            finally:
                ended.set()

        async with launch(runner, made=lambda engine: steps.append(engine.steps)) as engine:
            job_id = await door.put()
            await somebody_waits(db)
            assert engine.running.stop(job_id, End.CANCELLED)
            # The run has heard of it before the row is free.
            await asyncio.sleep(0)
            await holder.rollback()
            await asyncio.wait_for(ended.wait(), 30)
    async with db.transaction() as tx:
        (effect,) = await effects.of_job(tx, job_id)
    assert effect.state is EffectState.DONE
