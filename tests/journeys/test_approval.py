"""A confirmation is a row: the run ends, the answer starts the next one, restarts included."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import UUID

import pytest

from laneway.domain.conversation import Role
from laneway.domain.job import JobStatus
from laneway.domain.judgement import Approval, ApprovalState
from laneway.engine.running import End
from laneway.errors import Conflict, Forbidden
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Call, Say, ScriptedModel, Turn
from laneway.store import approvals, jobs, principals
from tests.running import Laneway, laneway


class Switch:
    """A tool that changes the world, and a script that uses it."""

    def __init__(self) -> None:
        self.flipped: list[str] = []

        async def flip(name: str) -> dict[str, str]:
            """Flips a switch."""
            self.flipped.append(name)
            return {"status": "success", "result": "flipped"}

        self.entry = ToolEntry(flip, changes=True, idempotent=False)

    def script(self, asked: Asked) -> Turn:
        return Say("It is flipped.") if asked.turn else Call("flip", {"name": "lights"})


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


async def test_an_approved_action_runs_once(database_url: str, tmp_path: Path) -> None:
    switch = Switch()
    async with laneway(database_url, tmp_path, ScriptedModel(switch.script), tools=[switch.entry]) as here:
        receipt = await here.send("restart the lights")
        approval = await asked(here, receipt.job_id)
        assert switch.flipped == []
        async with asyncio.timeout(30):
            # Nothing waits in memory for the answer; the run itself needs a moment to let go.
            while len(here.app.engine.running):
                await asyncio.sleep(0.01)
        assert str(approval.id) in (await here.replies(receipt.message_id))[0].text
        await answer(here, approval, ApprovalState.APPROVED)
        assert (await here.until(receipt.job_id)).status is JobStatus.DONE
        with pytest.raises(Conflict, match="already approved"):
            await answer(here, approval, ApprovalState.REJECTED)
    assert switch.flipped == ["lights"]


async def test_a_rejected_action_does_not_run_and_the_user_is_told(database_url: str, tmp_path: Path) -> None:
    switch = Switch()
    async with laneway(database_url, tmp_path, ScriptedModel(switch.script), tools=[switch.entry]) as here:
        receipt = await here.send("restart the lights")
        await answer(here, await asked(here, receipt.job_id), ApprovalState.REJECTED)
        await here.until(receipt.job_id)
        assert (await here.replies(receipt.message_id))[-1].text == "Not done: you said no."
    assert switch.flipped == []


async def test_an_approval_nobody_answers_expires(database_url: str, tmp_path: Path) -> None:
    switch = Switch()
    async with laneway(
        database_url, tmp_path, ScriptedModel(switch.script), tools=[switch.entry], approval_timeout_seconds=1
    ) as here:
        receipt = await here.send("restart the lights")
        await here.until(receipt.job_id)
        # Not before: the moment in which the question is open may be over before anybody looks.
        approval = await question_of(here, receipt.job_id)
        assert "nobody answered in time" in (await here.replies(receipt.message_id))[-1].text
        with pytest.raises(Conflict, match="already expired"):
            await answer(here, approval, ApprovalState.APPROVED)
    assert switch.flipped == []


async def test_a_newer_request_in_the_thread_supersedes_the_open_question(database_url: str, tmp_path: Path) -> None:
    switch = Switch()
    async with laneway(database_url, tmp_path, ScriptedModel(switch.script), tools=[switch.entry]) as here:
        first = await here.send("restart the lights")
        await asked(here, first.job_id)
        second = await here.send("stop the lights")
        await asked(here, second.job_id)
        await here.until(first.job_id)
        assert "a newer request took its place" in (await here.replies(first.message_id))[-1].text


async def test_a_customer_cannot_answer_the_owners_approval(database_url: str, tmp_path: Path) -> None:
    switch = Switch()
    async with laneway(database_url, tmp_path, ScriptedModel(switch.script), tools=[switch.entry]) as here:
        receipt = await here.send("restart the lights")
        approval = await asked(here, receipt.job_id)
        async with here.app.db.transaction() as tx:
            customer = await principals.by_address(tx, "http:ann", Role.CUSTOMER, "a customer")
        with pytest.raises(Forbidden):
            async with here.app.db.transaction() as tx:
                await approvals.answer(tx, approval.id, ApprovalState.APPROVED, customer)
        assert (await here.job(receipt.job_id)).status is JobStatus.WAITING


async def test_queued_running_and_waiting_jobs_of_one_version_finish_under_the_next(
    database_url: str, tmp_path: Path
) -> None:
    switch = Switch()
    async with laneway(database_url, tmp_path, ScriptedModel(switch.script), tools=[switch.entry], shape="A") as here:
        waiting = await here.send("restart the lights", "one")
        approval = await asked(here, waiting.job_id)
        here.app.engine.running.draining = True
        running = await here.send("what is new?", "two", payload={"note": "claimed and not begun"})
        queued = await here.send("what else?", "three")
        async with here.app.db.transaction() as tx:
            # A worker of version A that claimed a job and died before its first step.
            await tx.execute("UPDATE jobs SET status = 'running', run = 1, worker = %s WHERE id = %s",
                             (here.app.engine.worker, running.job_id))  # fmt: skip
    async with laneway(database_url, tmp_path, ScriptedModel(switch.script), tools=[switch.entry], shape="B") as here:
        await answer(here, approval, ApprovalState.APPROVED)
        for receipt in (waiting, running, queued):
            assert (await here.until(receipt.job_id)).status is JobStatus.DONE
    assert switch.flipped.count("lights") == 3


async def test_a_waiting_job_that_is_stopped_takes_its_question_with_it(database_url: str, tmp_path: Path) -> None:
    switch = Switch()
    async with laneway(database_url, tmp_path, ScriptedModel(switch.script), tools=[switch.entry]) as here:
        receipt = await here.send("restart the lights")
        approval = await asked(here, receipt.job_id)
        async with here.app.db.transaction() as tx:
            await jobs.request_cancel(tx, receipt.job_id)
        with pytest.raises(Conflict, match="already superseded"):
            await answer(here, approval, ApprovalState.APPROVED)


async def test_a_journey_cut_off_after_a_model_call_goes_on_under_the_next_version(
    database_url: str, tmp_path: Path
) -> None:
    asked: list[int] = []
    held = asyncio.Event()
    release = [False]

    async def look(name: str) -> dict[str, str]:
        """Looks at something."""
        held.set()
        while not release[0]:
            await asyncio.sleep(0.05)
        return {"status": "success", "result": "seen"}

    def script(question: Asked) -> Turn:
        asked.append(question.turn)
        return Say("Seen.") if question.turn else Call("look", {"name": "it"})

    tools = [ToolEntry(look)]
    async with laneway(database_url, tmp_path, ScriptedModel(script), tools=tools, shape="A") as here:
        receipt = await here.send("what do you see?")
        await asyncio.wait_for(held.wait(), 30)
        here.app.engine.running.stop_all(End.DRAINED)
    release[0] = True
    async with laneway(database_url, tmp_path, ScriptedModel(script), tools=tools, shape="B") as here:
        job = await here.until(receipt.job_id)
        assert job.status is JobStatus.DONE
        assert job.run == 2
    assert asked == [0, 1], "the model call that was stored under A is not made again under B"
