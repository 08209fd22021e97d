"""What a job did to files is taken back, seen through the HTTP door."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from laneway.lanes.tools import ToolEntry
from laneway.lanes.tools.entry import success
from laneway.llm import scripted
from laneway.llm.scripted import Asked, Say, Turn
from tests.journeys.tooling import Door, Start, calls
from tests.web.test_workflows import an_operator

WORK = (
    scripted.Call("write_file", {"path": "plan/today.md", "content": "- buy milk\n"}),
    scripted.Call("edit_file", {"path": "plan/today.md", "old": "milk", "new": "oat milk"}),
    scripted.Call("delete_file", {"path": "old.txt"}),
    scripted.Call("move_file", {"path": "notes.txt", "to": "archive/notes.txt"}),
)


async def workspace_with(here: Door, home: Path, **files: str) -> Path:
    """The workspace of the main thread, with these files in it."""
    thread = str((await here.send("hello"))["thread_id"])
    folder = home / "workspaces" / thread
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.txt").write_text(content)
    return folder


def files_of(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


async def undo(here: Door, job_id: str, expected: int = 200) -> dict[str, Any]:
    answer = await here.http.post(f"/jobs/{job_id}/undo")
    assert answer.status_code == expected, answer.text
    return dict(answer.json())


async def run(here: Door, text: str = "what is to be done?") -> str:
    receipt = await here.send(text)
    assert (await here.until(receipt["job_id"]))["status"] == "done"
    return str(receipt["job_id"])


async def test_what_the_file_tools_did_is_undone_once_and_on_record(serve: Start[Door], tmp_path: Path) -> None:
    async with serve(calls(*WORK)) as here:
        folder = await workspace_with(here, tmp_path, old="old", notes="notes")
        job_id = await run(here)
        assert files_of(folder) == {"archive/notes.txt": "notes", "plan/today.md": "- buy oat milk\n"}
        told = await undo(here, job_id)
        assert files_of(folder) == {"notes.txt": "notes", "old.txt": "old"}
        assert len(list(folder.iterdir())) == 2, "the folders it made are gone"
        assert told["refused"] == []
        assert {one["path"]: one["what"] for one in told["restored"]} == {
            **dict.fromkeys(("archive", "archive/notes.txt", "plan", "plan/today.md"), "removed"),
            **dict.fromkeys(("notes.txt", "old.txt"), "put back"),
        }
        again = await undo(here, job_id, 409)
        assert "was undone already" in again["detail"]
        job = await here.job(job_id)
        (event,) = [event for event in job["events"] if event["kind"] == "job.undone"]
        assert (event["body"]["restored"], event["body"]["refused"]) == (6, 0)


@pytest.mark.usefixtures("strongest")
async def test_a_command_is_undone_like_a_file_tool(serve: Start[Door], tmp_path: Path) -> None:
    command = "rm old.txt && echo more >> new.txt && mkdir -p a/b && echo x > a/b/c && chmod 700 a/b/c"
    script = calls(
        scripted.Call("write_file", {"path": "new.txt", "content": "new"}),
        scripted.Call("bash", {"command": command}),
    )
    async with serve(script) as here:
        folder = await workspace_with(here, tmp_path, old="old")
        receipt = await here.send("what is to be done?")
        # The guard may want a word first; who runs the command is not what is shown here.
        if (await here.until(receipt["job_id"], "waiting", "done"))["status"] == "waiting":
            await here.answer((await here.approval(receipt["job_id"]))["id"])
        job = await here.until(receipt["job_id"])
        assert job["status"] == "done"
        assert files_of(folder) == {"a/b/c": "x\n", "new.txt": "newmore\n"}
        assert (await undo(here, receipt["job_id"]))["refused"] == []
        assert files_of(folder) == {"old.txt": "old"}
        assert not (folder / "a").exists()


async def test_only_an_ended_job_with_changes_can_be_undone_and_only_by_the_owner(
    serve: Start[Door], database_url: str
) -> None:
    release = asyncio.Event()

    async def wait() -> dict[str, Any]:
        """Waits."""
        await release.wait()
        return success()

    working = calls(scripted.Call("write_file", {"path": "a.txt", "content": "a"}), scripted.Call("wait"))

    def script(asked: Asked) -> Turn:
        return Say("Nothing.") if "nothing" in asked.text else working(asked)

    async with serve(script, ToolEntry(wait)) as here:
        receipt = await here.send("what now?")
        await here.until(receipt["job_id"], "running")
        assert "is running" in (await undo(here, receipt["job_id"], 409))["detail"]
        release.set()
        await here.until(receipt["job_id"])
        nothing = await run(here, "what of nothing?")
        assert "changed no file" in (await undo(here, nothing, 409))["detail"]
        await an_operator(database_url, "lw_operator")
        async with httpx.AsyncClient(base_url=here.served.url, timeout=30) as other:
            for key, status in (("lw_operator", 403), ("lw_nobody", 401)):
                headers = {"Authorization": f"Bearer {key}"}
                assert (await other.post(f"/jobs/{receipt['job_id']}/undo", headers=headers)).status_code == status
        assert (await undo(here, receipt["job_id"]))["restored"] == [{"path": "a.txt", "what": "removed"}]
