"""However a run ends while somebody stops it, the job's row and its user know."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from laneway.domain.job import Job, JobStatus
from laneway.domain.patience import Patience
from laneway.engine.border import Border
from laneway.engine.running import End, Run
from laneway.errors import LeaseLost
from laneway.store import jobs, questions
from laneway.store.database import Database
from laneway.store.questions import Question
from tests.engine.conftest import Door
from tests.gates import somebody_waits

LOST = LeaseLost("It was stopped, or taken over.")
PATIENCE = Patience(10, 1000, 60, 60, 3, 0.05)


async def stopped(db: Database, door: Door) -> Run:
    """A run of a job that somebody has just told to stop; the run has not heard of it yet."""
    job_id = await door.put()
    async with db.transaction() as tx:
        (job,) = await jobs.claim(tx, "w", limit=1)
        await jobs.request_cancel(tx, job_id)
    return Run(job, "w")


async def said(db: Database, job: Job) -> list[str]:
    async with db.transaction() as tx:
        cursor = await tx.execute(
            "SELECT text FROM messages WHERE thread_id = %s AND author = 'assistant'", (job.thread_id,)
        )
        return [row[0] for row in await cursor.fetchall()]


@pytest.mark.parametrize("error", [LOST, ValueError("broken")])
async def test_a_run_that_ends_by_itself_while_it_is_stopped_says_that_it_was_stopped(
    db: Database, door: Door, database_url: str, error: Exception
) -> None:
    """Even where word of the stop comes while its end is written down."""
    run = await stopped(db, door)

    async def travel(run: Run) -> None:
        raise error

    async with await psycopg.AsyncConnection.connect(database_url) as holder:
        await holder.execute("SELECT 1 FROM jobs WHERE id = %s FOR UPDATE", (run.job.id,))
        run.task = asyncio.create_task(Border(db, PATIENCE, frozenset({"http"})).cross(run, travel))
        await somebody_waits(db)
        run.stop(End.CANCELLED)
        # The task has heard of it before the row is free.
        await asyncio.sleep(0)
        await holder.rollback()
    await asyncio.wait({run.task}, timeout=20)
    assert (await door.job(run.job.id)).status is JobStatus.CANCELLED
    assert await said(db, run.job) == ["Stopped. Nothing had been done."]


async def test_a_job_that_is_stopped_while_it_asks_does_not_ask(db: Database, door: Door) -> None:
    job_id = await door.put()
    async with db.transaction() as tx:
        (job,) = await jobs.claim(tx, "w", limit=1)

    async def travel(run: Run) -> None:
        async with db.transaction() as tx:
            assert await jobs.holds(tx, run.job, "w", run.epoch)
            async with db.transaction() as other:
                await jobs.request_cancel(other, job_id)
            await questions.put(tx, run.job, Question("ask", {"tool": "x"}, "why", "May I?", 60), {"http"})

    await Border(db, PATIENCE, frozenset({"http"})).cross(Run(job, "w"), travel)
    assert (await door.job(job_id)).status is JobStatus.CANCELLED
    assert await said(db, job) == ["Stopped. Nothing had been done."]
