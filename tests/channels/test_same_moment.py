"""What is written at the very moment at which something else ends is taken all the same."""

from __future__ import annotations

import asyncio

import psycopg

from laneway.channels.entry import Welcome
from laneway.domain.job import JobStatus
from laneway.domain.judgement import ApprovalState
from laneway.store import approvals, jobs
from laneway.store.database import Database
from tests.channels.arriving import Gate, gate
from tests.gates import somebody_waits


async def with_owner(db: Database) -> Gate:
    return await gate(db, telegram=Welcome(owners=frozenset({"7"})))


async def test_stop_is_taken_though_a_job_ends_at_that_moment_and_what_waits_behind_it_is_stopped(
    db: Database, database_url: str
) -> None:
    here = await with_owner(db)
    first, second = await here.take("one"), await here.take("two")
    assert first.receipt is not None
    assert second.receipt is not None
    async with db.transaction() as tx:
        (running,) = await jobs.claim(tx, "w", limit=5)
    assert running.id == first.receipt.job_id
    async with await psycopg.AsyncConnection.connect(database_url) as ending:
        await jobs.move(ending, running.id, JobStatus.DONE)
        stopping = asyncio.create_task(here.take("/stop"))
        await somebody_waits(db)
        await ending.commit()
    stopped = await stopping
    async with db.transaction() as tx:
        left = await jobs.get(tx, second.receipt.job_id)
    assert (stopped.outcome, left.status) == ("taken", JobStatus.CANCELLED)


async def test_a_typed_yes_is_taken_though_the_question_is_answered_elsewhere_at_that_moment(
    db: Database, database_url: str
) -> None:
    here = await with_owner(db)
    taken = await here.take("do it")
    assert taken.receipt is not None
    approval = await here.asked(taken.receipt.job_id, taken.receipt.thread_id)
    async with await psycopg.AsyncConnection.connect(database_url) as elsewhere:
        found = (await approvals.page(elsewhere))[0]
        assert str(found.id) == approval
        await approvals.answer(elsewhere, found.id, ApprovalState.REJECTED, here.owner)
        saying = asyncio.create_task(here.take("yes", id="the-yes"))
        await somebody_waits(db)
        await elsewhere.commit()
    said = await saying
    assert said.outcome == "taken"
    assert await here.rows("SELECT text FROM messages WHERE external_id = 'the-yes'") == [("yes",)]


async def test_whoever_stops_a_job_and_whoever_answers_its_question_do_not_block_each_other(
    db: Database, database_url: str
) -> None:
    here = await with_owner(db)
    taken = await here.take("do it")
    assert taken.receipt is not None
    job_id = taken.receipt.job_id
    await here.rows("UPDATE jobs SET status = 'waiting' WHERE id = %s", job_id)
    await here.asked(job_id, taken.receipt.thread_id)

    async def stop() -> JobStatus:
        async with db.transaction() as tx:
            return (await jobs.request_cancel(tx, job_id)).status

    async with await psycopg.AsyncConnection.connect(database_url) as answering:
        (asked,) = await approvals.page(answering)
        # As an answer does: the question first, and then its job.
        await answering.execute("SELECT 1 FROM approvals WHERE id = %s FOR UPDATE", (asked.id,))
        stopping = asyncio.create_task(stop())
        await somebody_waits(db)
        await approvals.answer(answering, asked.id, ApprovalState.APPROVED, here.owner)
        await answering.commit()
    assert await stopping is JobStatus.CANCELLED
    async with db.transaction() as tx:
        assert (await approvals.get(tx, asked.id)).state is ApprovalState.APPROVED
