"""Order within a thread, parallel across threads, and slots kept for the owner."""

from __future__ import annotations

import asyncio

from laneway.domain.job import JobStatus
from laneway.engine.running import Run
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
        await asyncio.sleep(0.1)
        gate.set()
        for job_id in ids:
            await door.ended(job_id)
    assert most == 5


async def test_the_owners_message_starts_at_once_while_two_hundred_customers_wait(
    db: Database, door: Door, launch: Launch
) -> None:
    gate, owner_began = asyncio.Event(), asyncio.Event()

    async def runner(run: Run) -> None:
        if run.job.owner:
            owner_began.set()
        else:
            await gate.wait()
        await finish(db, run)

    async def counts() -> dict[str, int]:
        async with db.transaction() as tx:
            return await jobs.counts(tx)

    async with launch(runner):
        for number in range(200):
            await door.put(f"c{number}", customer=True)
        await door.put("owner")
        # The customers leave no slot before the owner has begun, so it is theirs or none.
        await asyncio.wait_for(owner_began.wait(), 30)
        assert (await counts())["queued"] >= 180
        gate.set()
        async with asyncio.timeout(60):
            while (await counts()).get("done") != 201:
                await asyncio.sleep(0.05)


async def test_a_delayed_job_starts_when_it_is_due_and_holds_its_thread_until_then(
    db: Database, door: Door, launch: Launch
) -> None:
    began: list[tuple[str, int]] = []

    async def runner(run: Run) -> None:
        began.append((str(run.job.id), run.job.run))
        async with db.transaction() as tx:
            if run.job.run == 1 and len(began) == 1:
                await jobs.move(tx, run.job.id, JobStatus.QUEUED, delay=0.2)
            else:
                await jobs.move(tx, run.job.id, JobStatus.DONE)

    async with launch(runner):
        first = await door.put("one")
        second = await door.put("one")
        await door.ended(second)
    assert began == [(str(first), 1), (str(first), 2), (str(second), 1)]


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
        customers = [await door.put(f"c{number}", customer=True) for number in range(5)]
        async with asyncio.timeout(30):
            while inside < 3:
                await asyncio.sleep(0.05)
        # Time enough for a fourth to begin, if it were to.
        await asyncio.sleep(0.1)
        owners = await door.put("owner")
        await asyncio.wait_for(owner_began.wait(), 30)
        gate.set()
        for job_id in [owners, *customers]:
            assert (await door.ended(job_id, seconds=40)).status is JobStatus.DONE
    assert most == 3
