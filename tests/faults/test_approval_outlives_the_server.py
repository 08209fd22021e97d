"""An approval is a row: the server is killed while it waits, started again, and the yes still does exactly that."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.processes import Running, Shell, free_port


class Owner:
    """The owner at the HTTP door."""

    def __init__(self, port: int, home: Path) -> None:
        key = (home / "key").read_text().strip()
        self._http = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {key}"}, timeout=30
        )

    def send(self, text: str) -> dict[str, Any]:
        return dict(self._http.post("/messages", json={"text": text}).raise_for_status().json())

    def until(self, job_id: str, *statuses: str) -> dict[str, Any]:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            job = dict(self._http.get(f"/jobs/{job_id}").json())
            if job["status"] in statuses:
                return job
            time.sleep(0.1)
        raise AssertionError(f"job {job_id} never became {statuses}: {job['status']}")

    def pending(self) -> dict[str, Any]:
        [one] = self._http.get("/approvals", params={"state": "pending"}).json()["items"]
        return dict(one)

    def approve(self, approval: str) -> None:
        self._http.post(f"/approvals/{approval}", json={"answer": "approve"}).raise_for_status()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_was_asked_before_the_server_was_killed_is_done_once_after_its_restart(tmp_path: Path) -> None:
    home, port = tmp_path / "home", free_port()
    environ = {"LANEWAY_HOME": str(home), "LANEWAY_LOCAL_CLASSIFIER": "false"}
    shell = Shell(tmp_path, environ)
    server = Running(shell.start("up", "--port", str(port)), "Key:")
    owner = Owner(port, home)
    receipt = owner.send("delete the file notes.txt")
    notes = home / "workspaces" / receipt["thread_id"] / "notes.txt"
    owner.until(receipt["job_id"], "waiting")
    notes.write_text("to be deleted")
    asked = owner.pending()
    assert asked["action"]["tool"] == "delete_file"
    os.kill(server.process.pid, signal.SIGKILL)
    server.ended()
    server = Running(shell.start("up", "--port", str(port)), "Model:")
    assert owner.pending() == asked
    assert notes.exists()
    owner.approve(asked["id"])
    job = owner.until(receipt["job_id"], "done", "failed")
    assert job["status"] == "done"
    assert not notes.exists()
    done = [tool["about"] for tool in job["tools"] if tool["tool"] == "delete_file"]
    assert done == ["delete_file: notes.txt"]
    os.kill(server.process.pid, signal.SIGTERM)
    server.ended()
