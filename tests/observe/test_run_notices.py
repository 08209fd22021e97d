"""What a supervised run tells people who do not look at its terminal."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from laneway.reactors.audit_logger import entries_in, file_checked
from tests.observe.runs import Desk
from tests.servers.loopback import Loopback
from tests.serving import serving

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")


def test_an_agent_that_is_ended_is_told_of_by_webhook_once(desk: Desk) -> None:
    got: list[dict[str, str]] = []

    async def take(request: Request) -> Response:
        got.append(json.loads(await request.body()))
        return JSONResponse({})

    with Loopback(Starlette(routes=[Route("/hook", take, methods=["POST"])])) as server:
        env = {"LANEWAY_NOTIFY_WEBHOOK": f"{server.url}/hook"}
        words = ("--kill-on", "danger", "--", "claude", "start", "harmless", "danger", "wait")
        desk.run(*words, code=81, env=env)
    [told] = got
    assert (told["severity"], told["provider"]) == ("kill", "claude-code")
    assert told["folder"] == str(desk.folder)
    assert "rm -rf" in told["reason"] or "/etc" in told["reason"]


async def test_the_owner_reads_of_it_where_the_owner_reads(desk: Desk, database_url: str, tmp_path: Path) -> None:
    async with serving(database_url, tmp_path / "served") as served:
        env = {"LANEWAY_URL": served.url, "LANEWAY_KEY": served.key, "LANEWAY_NOTIFY": "channel"}
        words = ("--kill-on", "danger", "--", "claude", "start", "harmless", "danger", "wait")
        headers = {"Authorization": f"Bearer {served.key}"}
        async with httpx.AsyncClient(base_url=served.url, headers=headers, timeout=60) as http:
            (await http.post("/messages", json={"text": "hello"})).raise_for_status()
            await asyncio.to_thread(desk.run, *words, code=81, env=env)
            told = (await http.get("/messages", params={"limit": 50})).json()["items"]
    [notice] = [one for one in told if "claude" in one["text"]]
    assert desk.folder.name in notice["text"]


def test_a_way_that_does_not_answer_keeps_nobody_alive_and_changes_no_exit_code(desk: Desk) -> None:
    env = {"LANEWAY_NOTIFY_WEBHOOK": "http://127.0.0.1:9/hook"}
    ended = desk.run("--kill-on", "danger", "--", "claude", "start", "danger", "wait", code=81, env=env)
    assert "danger" in ended.err


def test_calls_that_can_change_something_are_put_down_in_a_chain_of_hashes(desk: Desk) -> None:
    audit = desk.root / "audit.jsonl"
    words = ("--audit", str(audit), "--kill-on", "danger", "--", "claude", "start", "harmless", "danger", "wait")
    desk.run(*words, code=81)
    [entry] = list(entries_in(audit))
    assert entry.what == "tool.started"
    assert "rm -rf" in entry.body
    assert file_checked(audit).broken is None
