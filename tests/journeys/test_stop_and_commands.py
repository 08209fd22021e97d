"""Chat commands answer at once; /stop ends what runs, its child processes included."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress

import psutil

from laneway.domain.job import JobStatus
from laneway.engine.running import current_run
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Call, Say, ScriptedModel, Turn
from tests.journeys.tooling import Start
from tests.running import Laneway

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


async def test_stop_ends_a_running_tool_with_its_child_process_within_a_second(start: Start[Laneway]) -> None:
    async with start(ScriptedModel(call_it), tools=[ToolEntry(sleep_in_a_child)]) as here:
        receipt = await here.send("what does it say?")
        behind = [await here.send("and now?") for _ in range(3)]
        child = await sleeping()
        assert await here.ask("/stop") == "Stopped 4 jobs."
        job = await here.until(receipt.job_id)
        await gone(child)
        assert job.status is JobStatus.CANCELLED
        told = "Stopped. Cut off, so it may or may not have happened: sleep_in_a_child."
        assert [reply.text for reply in await here.replies(receipt.message_id)] == [told]
        ends = [await here.until(one.job_id) for one in behind]
        assert [(one.status, one.run) for one in ends] == [(JobStatus.CANCELLED, 0)] * 3, "they never began"
        assert await here.ask("/stop") == "Nothing was running or waiting here."


async def test_the_commands_answer_without_a_model(start: Start[Laneway]) -> None:
    async with start(ScriptedModel([])) as here:
        said = {name: await here.ask(name) for name in ("/help", "/status", "/budget", "/new", "/dance")}
    assert "/plan" in said["/help"]
    assert said["/status"].startswith("In this conversation: 0 running, 0 queued, 0 waiting")
    assert "Model: scripted." in said["/status"]
    assert said["/budget"] == "Spent today (UTC): $0.0000; the cap is $5.00."
    assert said["/new"].startswith("A fresh start")
    assert said["/dance"].startswith("I do not know the command /dance.")
    assert "/status" in said["/dance"]


async def test_a_stop_that_is_delivered_twice_stops_nothing_newer(start: Start[Laneway]) -> None:
    tool = ToolEntry(sleep_in_a_child)
    async with start(ScriptedModel(call_it), tools=[tool]) as here:
        await here.ask("/stop", id="stop-1")
        newer = await here.send("what does it say?")
        await sleeping()
        copy = await here.send("/stop", id="stop-1")
        assert copy.duplicate
        await here.ask("/status")
        assert (await here.job(newer.job_id)).status is JobStatus.RUNNING
        await here.ask("/stop now")
        assert (await here.until(newer.job_id)).status is JobStatus.CANCELLED
