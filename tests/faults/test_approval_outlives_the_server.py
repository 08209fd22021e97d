"""An approval is a row: the server is killed while it waits, started again, and the yes still does exactly that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.server import Server


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_was_asked_before_the_server_was_killed_is_done_once_after_its_restart(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        receipt = server.call("POST", "/messages", json={"text": "delete the file notes.txt"})
        job = f"/jobs/{receipt['job_id']}"
        notes = server.home / "workspaces" / receipt["thread_id"] / "notes.txt"
        server.until(job, "waiting")
        notes.write_text("to be deleted")
        [asked] = server.call("GET", "/approvals?state=pending")["items"]
        assert asked["action"]["tool"] == "delete_file"
        server.kill()
        server.start()
        assert server.call("GET", "/approvals?state=pending")["items"] == [asked]
        assert notes.exists()
        server.call("POST", f"/approvals/{asked['id']}", json={"answer": "approve"})
        ended = server.until(job, "done", "failed")
        assert ended["status"] == "done"
        assert not notes.exists()
        done = [tool["about"] for tool in ended["tools"] if tool["tool"] == "delete_file"]
        assert done == ["delete_file: notes.txt"]
