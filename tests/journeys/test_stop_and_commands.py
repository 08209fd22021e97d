"""Chat commands answer at once; /stop ends what runs, its child processes included."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from laneway.domain.job import JobStatus
from laneway.engine.running import current_run
from laneway.errors import BadInput
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Call, Delay, Say, ScriptedModel, Turn
from laneway.store import jobs
from tests.running import Laneway, laneway

SLEEP = ("sleep", "60.125")
"""No other test sleeps as long, so that nothing that one of them left is taken for it."""


async def sleep_in_a_child() -> dict[str, str]:
    """Waits in a process of its own."""
    child = await asyncio.create_subprocess_exec(*SLEEP, start_new_session=True)
    current_run().on_end.append(lambda: os.killpg(child.pid, signal.SIGKILL))
    await child.wait()
    return {"status": "success"}


def call_it(asked: Asked) -> Turn:
    return Say("It ended.") if asked.turn else Call("sleep_in_a_child")


async def sleeping() -> psutil.Process:
    """The child, once it sleeps."""
    async with asyncio.timeout(30):
        while True:
            for child in psutil.Process().children():
                # One that has just ended has no words any more, and one that is dead is none of this test's.
                with suppress(psutil.NoSuchProcess):
                    if tuple(child.cmdline()) == SLEEP:
                        return child
            await asyncio.sleep(0.02)


def is_gone(child: psutil.Process) -> bool:
    try:
        return not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def gone(child: psutil.Process) -> None:
    """The child is gone: between the signal and the end of a process there is a moment."""
    async with asyncio.timeout(30):
        while not is_gone(child):
            await asyncio.sleep(0.01)


@pytest.mark.alone
async def test_stop_ends_a_running_tool_with_its_child_process_within_a_second(
    database_url: str, tmp_path: Path
) -> None:
    tool = ToolEntry(sleep_in_a_child)
    async with laneway(database_url, tmp_path, ScriptedModel(call_it), tools=[tool]) as here:
        receipt = await here.send("what does it say?")
        child = await sleeping()
        began = time.monotonic()
        stopped = await here.ask("/stop")
        job = await here.until(receipt.job_id)
        await gone(child)
        assert time.monotonic() - began < 2.5
        assert stopped == "Stopped 1 job."
        assert job.status is JobStatus.CANCELLED
        told = "Stopped. Cut off, so it may or may not have happened: sleep_in_a_child."
        assert [reply.text for reply in await here.replies(receipt.message_id)] == [told]
        assert await here.ask("/stop") == "Nothing was running or waiting here."


@pytest.mark.alone
async def test_a_model_that_is_writing_is_cut_off_by_cancelling_its_job(database_url: str, tmp_path: Path) -> None:
    slow = ScriptedModel([Delay(Say("one two three four five six seven eight nine ten"), per_piece=0.5)])
    async with laneway(database_url, tmp_path, slow) as here:
        receipt = await here.send("what is new?")
        await here.until(receipt.job_id, JobStatus.RUNNING)
        await asyncio.sleep(0.5)
        began = time.monotonic()
        async with here.app.db.transaction() as tx:
            await jobs.request_cancel(tx, receipt.job_id)
        job = await here.until(receipt.job_id)
        assert time.monotonic() - began < 2.5
        assert job.status is JobStatus.CANCELLED
        assert [reply.text for reply in await here.replies(receipt.message_id)] == ["Stopped. Nothing had been done."]


async def test_the_jobs_waiting_behind_a_stopped_one_never_start(database_url: str, tmp_path: Path) -> None:
    tool = ToolEntry(sleep_in_a_child)
    async with laneway(database_url, tmp_path, ScriptedModel(call_it), tools=[tool]) as here:
        first = await here.send("what does it say?")
        behind = [await here.send("and now?") for _ in range(3)]
        await sleeping()
        assert await here.ask("/stop") == "Stopped 4 jobs."
        for receipt in [first, *behind]:
            assert (await here.until(receipt.job_id)).status is JobStatus.CANCELLED
        assert [(await here.job(receipt.job_id)).run for receipt in behind] == [0, 0, 0]


async def commands(here: Laneway) -> dict[str, str]:
    return {name: await here.ask(name) for name in ("/help", "/status", "/budget", "/new")}


async def test_the_commands_answer_without_a_model(database_url: str, tmp_path: Path) -> None:
    async with laneway(database_url, tmp_path, ScriptedModel([])) as here:
        said = await commands(here)
    assert "/plan" in said["/help"]
    assert said["/status"].startswith("In this conversation: 0 running, 0 queued, 0 waiting")
    assert "Model: scripted." in said["/status"]
    assert said["/budget"] == "Spent today (UTC): $0.0000; the cap is $5.00."
    assert said["/new"].startswith("A fresh start")


async def test_a_stop_that_is_delivered_twice_stops_nothing_newer(database_url: str, tmp_path: Path) -> None:
    tool = ToolEntry(sleep_in_a_child)
    async with laneway(database_url, tmp_path, ScriptedModel(call_it), tools=[tool]) as here:
        await here.ask("/stop", id="stop-1")
        newer = await here.send("what does it say?")
        await sleeping()
        copy = await here.send("/stop", id="stop-1")
        assert copy.duplicate
        await asyncio.sleep(0.3)
        assert (await here.job(newer.job_id)).status is JobStatus.RUNNING
        await here.ask("/stop now")
        assert (await here.until(newer.job_id)).status is JobStatus.CANCELLED


async def test_a_command_nobody_knows_is_named_and_the_known_ones_are_shown(database_url: str, tmp_path: Path) -> None:
    async with laneway(database_url, tmp_path, ScriptedModel([])) as here:
        said = await here.ask("/dance")
    assert said.startswith("I do not know the command /dance.")
    assert "/status" in said


async def test_only_text_can_command(database_url: str, tmp_path: Path) -> None:
    async with laneway(database_url, tmp_path) as here:
        with pytest.raises(BadInput, match=r"payload\.command"):
            await here.send("hello", payload={"command": "stop"})
        with pytest.raises(BadInput, match="intent"):
            await here.send("hello", payload={"classification": "x"})
        with pytest.raises(BadInput, match="needs_confirmation"):
            await here.send("hello", payload={"classification": {"intent": "command", "needs_confirmation": "no"}})
