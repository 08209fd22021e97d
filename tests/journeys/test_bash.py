"""Commands a model wants run: in the sandbox, behind the guard, undone if need be, seen through the HTTP door."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import psutil
import pytest

from laneway.llm.scripted import Call
from laneway.sandbox.contract import Boundary
from tests.journeys.tooling import calls, door

SLEEPS = [f"{seconds}.{os.getpid()}" for seconds in (611, 612, 613)]
"""Seconds that nobody else on this machine sleeps, another run of these tests included."""


def bash(command: str, **more: object) -> Call:
    return Call("bash", {"command": command, **more})


async def test_a_harmless_command_runs_in_the_workspace_and_names_its_boundary(
    database_url: str, tmp_path: Path, boundary: Boundary
) -> None:
    script = calls(bash("pwd; echo hi > made.txt; cat made.txt"))
    async with door(database_url, tmp_path, script, sandbox=boundary.name) as here:
        receipt = await here.send("what is here?")
        if boundary.weaker:
            await here.answer((await here.approval(receipt["job_id"]))["id"])
        job = await here.until(receipt["job_id"])
    assert len(job["approvals"]) == boundary.weaker
    [tool] = job["tools"]
    assert tool["outcome"]["status"] == "success", tool
    assert tool["outcome"]["stdout"].splitlines()[-1] == "hi"
    assert tool["outcome"]["exit_code"] == 0
    assert tool["outcome"]["boundary"] == boundary.name
    assert (tmp_path / "workspaces" / receipt["thread_id"] / "made.txt").read_text() == "hi\n"
    assert {"status", "stdout", "stderr", "exit_code", "result", "error"} <= set(tool["outcome"])


@pytest.mark.usefixtures("strongest")
async def test_a_dangerous_command_is_asked_for_approved_and_run_once(database_url: str, tmp_path: Path) -> None:
    async with door(database_url, tmp_path, calls(bash("git push --force origin main; echo pushed >> log"))) as here:
        receipt = await here.send("what about the branch?")
        asked = await here.approval(receipt["job_id"])
        assert asked["action"]["arguments"]["command"] == "git push --force origin main; echo pushed >> log"
        log = tmp_path / "workspaces" / receipt["thread_id"] / "log"
        assert not log.exists()
        await here.answer(asked["id"])
        await here.until(receipt["job_id"])
    assert log.read_text() == "pushed\n"


async def test_what_the_guard_denies_is_never_asked_and_the_model_is_told(database_url: str, tmp_path: Path) -> None:
    async with door(database_url, tmp_path, calls(bash("mkfs.ext4 /dev/sda1"))) as here:
        job = await here.until((await here.send("make room"))["job_id"])
    assert job["status"] == "done"
    assert job["tools"] == []
    assert job["approvals"] == []


@pytest.mark.alone
@pytest.mark.usefixtures("strong")
async def test_stop_ends_the_whole_process_tree_within_a_second_and_tells_what_was_done(
    database_url: str, tmp_path: Path
) -> None:
    first, second, third = SLEEPS
    stubborn = f"(trap '' TERM; sleep {first}) & setsid sleep {second} & sleep {third}"
    async with door(database_url, tmp_path, calls(bash("echo one > a.txt"), bash(stubborn))) as here:
        receipt = await here.send("what now?")
        while len(sleepers()) < 3:
            await asyncio.sleep(0.05)
        began = time.monotonic()
        assert await here.ask("/stop") == "Stopped 1 job."
        await here.until(receipt["job_id"], "cancelled")
        while sleepers() and time.monotonic() - began < 5:
            await asyncio.sleep(0.02)
        took = time.monotonic() - began
        [told] = await here.replies(receipt["message_id"])
    assert sleepers() == []
    assert took < 2.5, took
    assert told.startswith("Stopped. Done before: bash: echo one > a.txt. Cut off")


def sleepers() -> list[int]:
    """The sleeping processes this test started, wherever they hide."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = process.info["cmdline"] or []
        if line[:1] == ["sleep"] and line[1:] in [[one] for one in SLEEPS] and process.info["status"] != "zombie":
            found.append(process.pid)
    return found


@pytest.mark.usefixtures("strong")
async def test_a_command_that_takes_too_long_is_ended(database_url: str, tmp_path: Path) -> None:
    async with door(database_url, tmp_path, calls(bash("sleep 30", timeout=1))) as here:
        job = await here.until((await here.send("wait"))["job_id"])
    outcome = job["tools"][0]["outcome"]
    assert outcome["status"] == "error"
    assert "ended after 1 s" in outcome["error"]


@pytest.mark.usefixtures("strongest")
async def test_what_a_command_did_to_the_workspace_is_undone(database_url: str, tmp_path: Path) -> None:
    script = calls(bash("echo changed > a.txt; rm b.txt; echo new > c.txt"))
    async with door(database_url, tmp_path, script) as here:
        hello = await here.send("hello")
        await here.until(hello["job_id"])
        folder = tmp_path / "workspaces" / hello["thread_id"]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "a.txt").write_text("before\n")
        (folder / "b.txt").write_text("there\n")
        receipt = await here.send("what is in the files?")
        asked = (await here.until(receipt["job_id"], "waiting", "done"))["status"] == "waiting"
        if asked:
            await here.answer((await here.approval(receipt["job_id"]))["id"])
            await here.until(receipt["job_id"])
        assert (folder / "a.txt").read_text() == "changed\n"
        undone = (await here.http.post(f"/jobs/{receipt['job_id']}/undo")).json()
        assert undone["refused"] == []
        assert (folder / "a.txt").read_text() == "before\n"
        assert (folder / "b.txt").read_text() == "there\n"
        assert not (folder / "c.txt").exists()


async def test_a_command_in_host_mode_that_writes_always_asks(database_url: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    async with door(database_url, tmp_path / "home", calls(bash(f"echo x > {outside}"), bash("uptime"))) as here:
        [owner] = (await here.http.get("/principals")).json()["items"]
        await here.http.put(f"/principals/{owner['id']}/host-mode", json={"on": True})
        receipt = await here.send("what is up?")
        asked = await here.approval(receipt["job_id"])
        assert not outside.exists()
        await here.answer(asked["id"], always=True)
        job = await here.until(receipt["job_id"])
        assert outside.read_text() == "x\n"
        assert [tool["outcome"]["boundary"] for tool in job["tools"]] == ["host", "host"]
        again = await here.send("what is up now?")
        assert (await here.approval(again["job_id"]))["action"]["tool"] == "bash", "always does not hold in host mode"


@pytest.mark.usefixtures("strong")
async def test_characters_no_store_can_hold_hurt_nobody(database_url: str, tmp_path: Path) -> None:
    script = calls(bash("printf 'a\\0b'"), Call("write_file", {"path": "x.txt", "content": "a\0b"}))
    async with door(database_url, tmp_path, script) as here:
        receipt = await here.send("what is in it?")
        await here.answer((await here.approval(receipt["job_id"]))["id"])
        job = await here.until(receipt["job_id"])
    assert job["status"] == "done"
    assert [tool["outcome"]["status"] for tool in job["tools"]] == ["success", "success"]
    assert job["tools"][0]["outcome"]["stdout"] == "a\ufffdb"
