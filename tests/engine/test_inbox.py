"""Order within a thread, parallel across threads, and slots kept for the owner."""

from __future__ import annotations

import asyncio
import time
from uuid import UUID

import pytest

from laneway.domain.job import Job, JobStatus
from laneway.engine.breath import Breath
from laneway.engine.dispatch import LOOK_ANYWAY_SECONDS, Dispatcher
from laneway.engine.running import Run, Running
from laneway.store import jobs
from laneway.store.database import Database
from tests.engine.conftest import Door, Launch


async def finish(db: Database, run: Run) -> None:
    async with db.transaction() as tx:
        await jobs.move(tx, run.job.id, JobStatus.DONE)


async def test_jobs_of_one_thread_run_one_after_the_other_in_the_order_they_came(
    db: Database, door: Door, launch: Launch
) -> None:
    began: list[str] = []
    inside = 0

    async def runner(run: Run) -> None:
        nonlocal inside
        inside += 1
        assert inside == 1
        began.append(str(run.job.id))
        await asyncio.sleep(0.01)
        inside -= 1
        await finish(db, run)

    async with launch(runner):
        ids = [await door.put("one") for _ in range(12)]
        for job_id in ids:
            await door.ended(job_id)
    assert began == [str(job_id) for job_id in ids]


async def test_jobs_of_different_threads_run_side_by_side_up_to_the_number_of_slots(
    db: Database, door: Door, launch: Launch
) -> None:
    inside, most = 0, 0
    gate = asyncio.Event()

    async def runner(run: Run) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await gate.wait()
        inside -= 1
        await finish(db, run)

    async with launch(runner, slots=5):
        ids = [await door.put(f"t{number}", customer=True) for number in range(9)]
        async with asyncio.timeout(30):
            while inside < 5:
                await asyncio.sleep(0.02)
        # Time enough for a sixth to begin, if it were to.
        await asyncio.sleep(0.5)
        assert inside == 5
        gate.set()
        for job_id in ids:
            await door.ended(job_id)
    assert most == 5


async def test_the_owners_message_starts_at_once_while_two_hundred_customers_wait(
    db: Database, door: Door, launch: Launch
) -> None:
    gate = asyncio.Event()
    owner_began = asyncio.Event()

    async def runner(run: Run) -> None:
        if run.job.owner:
            owner_began.set()
        else:
            await gate.wait()
        await finish(db, run)

    async with launch(runner):
        customers = [await door.put(f"c{number}", customer=True) for number in range(200)]
        await asyncio.sleep(0.5)
        began = time.monotonic()
        owners = await door.put("owner")
        # The customers leave no slot before the owner has begun, so it is theirs or none.
        await asyncio.wait_for(owner_began.wait(), 30)
        waited = time.monotonic() - began
        async with db.transaction() as tx:
            counts = await jobs.counts(tx)
        assert counts["queued"] >= 180
        gate.set()
        await door.ended(owners)
        for job_id in customers:
            await door.ended(job_id, seconds=60)
    print(f"the owner's message started after {waited * 1000:.0f} ms")


async def test_a_delayed_job_starts_when_it_is_due_and_holds_its_thread_until_then(
    db: Database, door: Door, launch: Launch
) -> None:
    began: list[tuple[str, int]] = []

    async def runner(run: Run) -> None:
        began.append((str(run.job.id), run.job.run))
        async with db.transaction() as tx:
            if run.job.run == 1 and len(began) == 1:
                await jobs.move(tx, run.job.id, JobStatus.QUEUED, delay=0.4)
            else:
                await jobs.move(tx, run.job.id, JobStatus.DONE)

    async with launch(runner):
        first = await door.put("one")
        second = await door.put("one")
        await door.ended(second)
    assert began == [(str(first), 1), (str(first), 2), (str(second), 1)]


@pytest.mark.alone
async def test_a_job_that_falls_due_while_another_is_started_is_not_overlooked(db: Database, door: Door) -> None:
    started: list[tuple[UUID, float]] = []

    async def start(job: Job) -> None:
        if len(started) == 1:
            # Until the first, which went back into the queue for a while, is due.
            await asyncio.sleep(2.5)
        started.append((job.id, time.monotonic()))

    async def until_started(count: int) -> None:
        async with asyncio.timeout(30):
            while len(started) < count:
                await asyncio.sleep(0.02)

    dispatching = asyncio.create_task(Dispatcher(db, "w-1", Running(4, 1), start, Breath()).keep_dispatching())
    first = await door.put("one", customer=True)
    await until_started(1)
    async with db.transaction() as tx:
        await jobs.move(tx, first, JobStatus.QUEUED, delay=2)
    second = await door.put("two", customer=True)
    await until_started(3)
    dispatching.cancel()
    await asyncio.gather(dispatching, return_exceptions=True)
    assert [job_id for job_id, _ in started] == [first, second, first]
    # Nobody had to look for it: that is done every ten seconds only.
    assert started[2][1] - started[1][1] < LOOK_ANYWAY_SECONDS / 2


async def test_a_chat_command_does_not_wait_behind_a_running_job(db: Database, door: Door, launch: Launch) -> None:
    gate = asyncio.Event()

    async def runner(run: Run) -> None:
        if "command" not in run.job.payload:
            await gate.wait()
        await finish(db, run)

    async with launch(runner):
        slow = await door.put("one")
        await door.until(slow, JobStatus.RUNNING)
        status = await door.put("one", text="/status")
        await door.ended(status)
        assert (await door.job(slow)).status is JobStatus.RUNNING
        gate.set()
        await door.ended(slow)


async def test_retried_jobs_keep_to_the_slots_and_leave_the_owner_his(db: Database, door: Door, launch: Launch) -> None:
    inside, most = 0, 0
    gate, owner_began = asyncio.Event(), asyncio.Event()

    async def step() -> str:
        return "done"

    async def runner(run: Run) -> None:
        nonlocal inside, most
        await engine.steps.step("one", step)
        if run.job.owner:
            owner_began.set()
        elif run.job.run == 1:
            async with db.transaction() as tx:
                await jobs.move(tx, run.job.id, JobStatus.QUEUED, resume=True)
            return
        else:
            inside += 1
            most = max(most, inside)
            await gate.wait()
            inside -= 1
        await finish(db, run)

    async with launch(runner, slots=3, owner_slots=1) as engine:
        customers = [await door.put(f"c{number}", customer=True) for number in range(12)]
        async with asyncio.timeout(30):
            while inside < 3:
                await asyncio.sleep(0.05)
        await asyncio.sleep(1.5)
        owners = await door.put("owner")
        await asyncio.wait_for(owner_began.wait(), 30)
        gate.set()
        for job_id in [owners, *customers]:
            assert (await door.ended(job_id, seconds=40)).status is JobStatus.DONE
    assert most == 3
