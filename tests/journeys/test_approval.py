"""A confirmation is a row: the run ends, the answer starts the next one, restarts included."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest

from laneway.domain.job import JobStatus
from laneway.domain.judgement import Approval, ApprovalState
from laneway.errors import Conflict
from laneway.llm.scripted import Call, ScriptedModel
from laneway.store import approvals
from tests.journeys.tooling import Counter, Start, calls
from tests.running import Laneway

FLIP = calls(Call("press", {"button": "lights"}), then="It is on.")


async def asked(here: Laneway, job_id: UUID) -> Approval:
    await here.until(job_id, JobStatus.WAITING)
    return await question_of(here, job_id)


async def question_of(here: Laneway, job_id: UUID) -> Approval:
    """What was asked for the job, whatever has become of it."""
    async with here.app.db.transaction() as tx:
        return next(a for a in await approvals.page(tx) if a.job_id == job_id)


async def answer(here: Laneway, approval: Approval, state: ApprovalState) -> Approval:
    async with here.app.db.transaction() as tx:
        return await approvals.answer(tx, approval.id, state, here.owner)


async def test_an_approved_action_runs_once(start: Start[Laneway]) -> None:
    switch = Counter()
    async with start(ScriptedModel(FLIP), tools=[switch.entry()]) as here:
        receipt = await here.send("restart the lights")
        approval = await asked(here, receipt.job_id)
        assert switch.done == []
        async with asyncio.timeout(30):
            # Nothing waits in memory for the answer; the run itself needs a moment to let go.
            while len(here.app.engine.running):
                await asyncio.sleep(0.01)
        assert str(approval.id) in (await here.replies(receipt.message_id))[0].text
        await answer(here, approval, ApprovalState.APPROVED)
        assert (await here.until(receipt.job_id)).status is JobStatus.DONE
        with pytest.raises(Conflict, match="already approved"):
            await answer(here, approval, ApprovalState.REJECTED)
    assert switch.done == ["lights"]


async def test_a_rejected_action_does_not_run_and_the_user_is_told(start: Start[Laneway]) -> None:
    switch = Counter()
    async with start(ScriptedModel(FLIP), tools=[switch.entry()]) as here:
        receipt = await here.send("restart the lights")
        await answer(here, await asked(here, receipt.job_id), ApprovalState.REJECTED)
        await here.until(receipt.job_id)
        assert (await here.replies(receipt.message_id))[-1].text == "Not done: you said no."
    assert switch.done == []


async def test_an_approval_nobody_answers_expires(start: Start[Laneway]) -> None:
    switch = Counter()
    async with start(ScriptedModel(FLIP), tools=[switch.entry()], approval_timeout_seconds=1) as here:
        receipt = await here.send("restart the lights")
        await here.until(receipt.job_id)
        # Not before: the moment in which the question is open may be over before anybody looks.
        approval = await question_of(here, receipt.job_id)
        assert "nobody answered in time" in (await here.replies(receipt.message_id))[-1].text
        with pytest.raises(Conflict, match="already expired"):
            await answer(here, approval, ApprovalState.APPROVED)
    assert switch.done == []


async def test_a_newer_request_in_the_thread_supersedes_the_open_question(start: Start[Laneway]) -> None:
    switch = Counter()
    async with start(ScriptedModel(FLIP), tools=[switch.entry()]) as here:
        first = await here.send("restart the lights")
        await asked(here, first.job_id)
        second = await here.send("stop the lights")
        await asked(here, second.job_id)
        await here.until(first.job_id)
        assert "a newer request took its place" in (await here.replies(first.message_id))[-1].text


async def test_queued_running_and_waiting_jobs_of_one_version_finish_under_the_next(start: Start[Laneway]) -> None:
    switch = Counter()
    async with start(ScriptedModel(FLIP), tools=[switch.entry()], shape="A") as here:
        waiting = await here.send("restart the lights", "one")
        approval = await asked(here, waiting.job_id)
        here.app.engine.running.draining = True
        running = await here.send("what is new?", "two", payload={"note": "claimed and not begun"})
        queued = await here.send("what else?", "three")
        async with here.app.db.transaction() as tx:
            # A worker of version A that claimed a job and died before its first step.
            await tx.execute("UPDATE jobs SET status = 'running', run = 1, worker = %s WHERE id = %s",
                             (here.app.engine.worker, running.job_id))  # fmt: skip
    async with start(ScriptedModel(FLIP), tools=[switch.entry()], shape="B") as here:
        await answer(here, approval, ApprovalState.APPROVED)
        for receipt in (waiting, running, queued):
            assert (await here.until(receipt.job_id)).status is JobStatus.DONE
    assert switch.done.count("lights") == 3
