"""The server is killed in the middle of a run of a workflow: after the restart no node is lost and none is repeated."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.faults.server import Server
from tests.servers.pages import Pages
from tests.servers.smtp_server import SmtpServer


class Gate(Pages):
    """A web server that counts, and that holds answers back until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.open = threading.Event(), threading.Event()

        async def held(request: Request) -> Response:
            self.reached.set()
            while not self.open.is_set():
                await asyncio.sleep(0.05)
            return JSONResponse({"ok": True})

        async def at_once(request: Request) -> Response:
            return JSONResponse({"ok": True})

        self.pages |= {"/held": held, "/order": at_once}

    def count(self, path: str) -> int:
        return sum(visit.path == path for visit in self.visits)


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
    environ = {"LANEWAY_ALLOWED_HOSTS": "127.0.0.1", "LANEWAY_MAIL_FROM": "laneway@example.org"}
    environ |= {"LANEWAY_MAIL_TO": "owner@example.org"}
    with Gate() as gate, SmtpServer() as smtp, Server(tmp_path, LANEWAY_SMTP_URL=smtp.url, **environ) as server:
        server.call("POST", "/workflows", json={"tag": "orders", "document": workflow(gate.url, held_method)})
        run = server.call("POST", "/workflows/orders/execute", json={"inputs": {}})["run_id"]
        assert gate.reached.wait(60), "the run never came to the node that is held"
        server.kill()
        gate.open.set()
        server.start()
        ended = server.until(f"/runs/{run}", "done", "failed")
        nodes = {one["node"]: one for one in server.call("GET", f"/runs/{run}/nodes")["items"]}
        assert gate.count("/order") == 1
        if held_method == "GET":
            assert ended["status"] == "done", ended
            assert (gate.count("/held"), [mail.text for mail in smtp.mails]) == (2, ["ordered", "all done"])
        else:
            # Nobody can know whether it arrived, so it is said and not repeated; a person may.
            assert ended["status"] == "failed"
            assert "may or may not have happened" in nodes["held"]["error"]["message"]
            assert (gate.count("/held"), [mail.text for mail in smtp.mails]) == (1, ["ordered"])
            server.call("POST", f"/runs/{run}/retry")
            server.until(f"/runs/{run}", "done")
            assert (gate.count("/order"), gate.count("/held")) == (1, 2)
            assert [mail.text for mail in smtp.mails] == ["ordered", "all done"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_run_that_was_to_wake_while_the_server_was_down_wakes_after_it(tmp_path: Path) -> None:
    waits = {"nodes": [{"id": "wait", "type": "wait", "config": {"seconds": 2}},
                       {"id": "end", "type": "transform", "config": {"set": "woke"}}],
             "edges": [{"from": "wait", "to": "end"}]}  # fmt: skip
    with Server(tmp_path) as server:
        server.call("POST", "/workflows", json={"tag": "waits", "document": waits})
        run = server.call("POST", "/workflows/waits/execute", json={})["run_id"]
        server.until(f"/runs/{run}", "waiting")
        server.kill()
        server.start()
        assert server.until(f"/runs/{run}", "done")["output"] == "woke"
        assert len(server.call("GET", f"/runs/{run}/nodes")["items"]) == 2
