"""The server is killed in the middle of a run of a workflow: after the restart no node is lost and none is repeated."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.cli.processes import Running, Shell, free_port
from tests.servers.pages import Pages
from tests.servers.smtp_server import SmtpServer


class Owner:
    """The owner at the HTTP door, before and after a restart."""

    def __init__(self, port: int, home: Path) -> None:
        self.port, self._home = port, home

    def call(self, method: str, path: str, **more: Any) -> Any:
        key = (self._home / "key").read_text().strip()
        headers = {"Authorization": f"Bearer {key}"}
        response = httpx.request(method, f"http://127.0.0.1:{self.port}{path}", headers=headers, timeout=30, **more)
        response.raise_for_status()
        return response.json()

    def until(self, run: str, *statuses: str, seconds: float = 90) -> Any:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = self.call("GET", f"/runs/{run}")
            if found["status"] in statuses:
                return found
            time.sleep(0.2)
        raise AssertionError(f"run {run} never became {statuses}: {found}")


class Gate(Pages):
    """A web server that counts, and that holds answers back until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.open = threading.Event(), threading.Event()

        async def held(request: Request) -> Response:
            self.reached.set()
            while not self.open.is_set():
                await _moment()
            return JSONResponse({"ok": True})

        async def at_once(request: Request) -> Response:
            return JSONResponse({"ok": True})

        self.pages |= {"/held": held, "/order": at_once}

    def count(self, path: str) -> int:
        return sum(visit.path == path for visit in self.visits)


async def _moment() -> None:
    import asyncio

    await asyncio.sleep(0.05)


def workflow(url: str, held_method: str) -> dict[str, Any]:
    nodes = [
        {"id": "start", "type": "parallel", "config": {}},
        {"id": "order", "type": "http", "config": {"url": f"{url}/order", "method": "POST", "body": {"n": 1}}},
        {"id": "mail", "type": "notify", "config": {"channel": "email", "message": "ordered"}},
        {"id": "held", "type": "http", "config": {"url": f"{url}/held", "method": held_method, "body": {"n": 2}},
         "timeout_ms": 60000},
        {"id": "done", "type": "notify", "config": {"channel": "email", "message": "all done"}},
    ]  # fmt: skip
    edges = [("start", "order"), ("order", "mail"), ("mail", "held"), ("held", "done")]
    return {"nodes": nodes, "edges": [{"from": one, "to": two} for one, two in edges]}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("held_method", ["GET", "POST"])
def test_a_killed_run_goes_on_where_it_was_and_repeats_nothing(tmp_path: Path, held_method: str) -> None:
    home, port = tmp_path / "home", free_port()
    with Gate() as gate, SmtpServer() as smtp:
        shell = Shell(tmp_path, {
            "LANEWAY_HOME": str(home), "LANEWAY_ALLOWED_HOSTS": "127.0.0.1", "LANEWAY_SMTP_URL": smtp.url,
            "LANEWAY_MAIL_FROM": "laneway@example.org", "LANEWAY_MAIL_TO": "owner@example.org",
        })  # fmt: skip
        server = Running(shell.start("up", "--port", str(port)), "Key:")
        owner = Owner(port, home)
        owner.call("POST", "/workflows", json={"tag": "orders", "document": workflow(gate.url, held_method)})
        run = owner.call("POST", "/workflows/orders/execute", json={"inputs": {}})["run_id"]
        assert gate.reached.wait(60), "the run never came to the node that is held"
        os.kill(server.process.pid, signal.SIGKILL)
        server.ended()
        gate.open.set()
        server = Running(shell.start("up", "--port", str(port)), "Model:")
        try:
            ended = owner.until(run, "done", "failed")
            nodes = {one["node"]: one for one in owner.call("GET", f"/runs/{run}/nodes")["items"]}
            assert gate.count("/order") == 1
            if held_method == "GET":
                assert ended["status"] == "done", ended
                assert (gate.count("/held"), [mail.text for mail in smtp.mails]) == (2, ["ordered", "all done"])
            else:
                # Nobody can know whether it arrived, so it is said and not repeated; a person may.
                assert ended["status"] == "failed"
                assert "may or may not have happened" in nodes["held"]["error"]["message"]
                assert (gate.count("/held"), [mail.text for mail in smtp.mails]) == (1, ["ordered"])
                owner.call("POST", f"/runs/{run}/retry")
                owner.until(run, "done")
                assert (gate.count("/order"), gate.count("/held")) == (1, 2)
                assert [mail.text for mail in smtp.mails] == ["ordered", "all done"]
        finally:
            server.stop()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_schedule_that_came_while_the_server_was_down_starts_one_run_after_it(tmp_path: Path) -> None:
    home, port = tmp_path / "home", free_port()
    shell = Shell(tmp_path, {"LANEWAY_HOME": str(home)})
    server = Running(shell.start("up", "--port", str(port)), "Key:")
    owner = Owner(port, home)
    waits = {"nodes": [{"id": "wait", "type": "wait", "config": {"seconds": 8}},
                       {"id": "end", "type": "transform", "config": {"set": "woke"}}],
             "edges": [{"from": "wait", "to": "end"}]}  # fmt: skip
    owner.call("POST", "/workflows", json={"tag": "waits", "document": waits})
    run = owner.call("POST", "/workflows/waits/execute", json={})["run_id"]
    owner.until(run, "waiting")
    os.kill(server.process.pid, signal.SIGKILL)
    server.ended()
    time.sleep(3)
    server = Running(shell.start("up", "--port", str(port)), "Model:")
    try:
        ended = owner.until(run, "done")
        assert ended["output"] == "woke"
        assert len(owner.call("GET", f"/runs/{run}/nodes")["items"]) == 2
    finally:
        server.stop()
