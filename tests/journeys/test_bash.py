"""Commands a model wants run: in the sandbox, behind the guard, undone if need be, seen through the HTTP door."""

from __future__ import annotations

from pathlib import Path

import pytest

from laneway.llm.scripted import Call
from laneway.sandbox.contract import Boundary
from tests.journeys.tooling import Door, Start, calls, door


def bash(command: str, **more: object) -> Call:
    return Call("bash", {"command": command, **more})


async def test_a_harmless_command_runs_in_the_workspace_and_names_its_boundary(
    serve: Start[Door], tmp_path: Path, boundary: Boundary
) -> None:
    script = calls(bash("pwd; echo hi > made.txt; cat made.txt"))
    async with serve(script, sandbox=boundary.name) as here:
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
async def test_a_dangerous_command_is_asked_for_approved_and_run_once(serve: Start[Door], tmp_path: Path) -> None:
    async with serve(calls(bash("git push --force origin main; echo pushed >> log"))) as here:
        receipt = await here.send("what about the branch?")
        asked = await here.approval(receipt["job_id"])
        assert asked["action"]["arguments"]["command"] == "git push --force origin main; echo pushed >> log"
        log = tmp_path / "workspaces" / receipt["thread_id"] / "log"
        assert not log.exists()
        await here.answer(asked["id"])
        await here.until(receipt["job_id"])
    assert log.read_text() == "pushed\n"


async def test_what_the_guard_denies_is_never_asked_and_the_model_is_told(serve: Start[Door]) -> None:
    async with serve(calls(bash("mkfs.ext4 /dev/sda1"))) as here:
        job = await here.until((await here.send("make room"))["job_id"])
    assert job["status"] == "done"
    assert job["tools"] == []
    assert job["approvals"] == []


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
async def test_characters_no_store_can_hold_hurt_nobody(serve: Start[Door]) -> None:
    script = calls(bash("printf 'a\\0b'"), Call("write_file", {"path": "x.txt", "content": "a\0b"}))
    async with serve(script) as here:
        receipt = await here.send("what is in it?")
        await here.answer((await here.approval(receipt["job_id"]))["id"])
        job = await here.until(receipt["job_id"])
    assert job["status"] == "done"
    assert [tool["outcome"]["status"] for tool in job["tools"]] == ["success", "success"]
    assert job["tools"][0]["outcome"]["stdout"] == "a\ufffdb"
