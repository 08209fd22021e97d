"""Runs of workflows by the console: run, runs, retry, cancel, test, hook and event, each with what it really does."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from starlette.responses import JSONResponse, PlainTextResponse

from tests.journeys.test_workflow_runs import LOCAL, comes_due, ended, listening, make, signed
from tests.servers.pages import Pages
from tests.web.conftest import Door, Open

Console = Callable[..., Awaitable[str]]


def console(door: Door, home: Path) -> Console:
    """`laneway workflow …` in a process of its own, and what it prints."""

    async def laneway(*words: str, given: str = "", code: int = 0) -> str:
        environ = {"LANEWAY_URL": door.url, "LANEWAY_KEY": door.key, "PATH": "/usr/bin:/bin", "LANEWAY_HOME": str(home)}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "laneway", "workflow", *words, env=environ, cwd=home,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, error = await process.communicate(given.encode())
        assert process.returncode == code, (out, error)
        return out.decode() + (error.decode() if code else "")

    return laneway


async def runs_of(door: Door, tag: str) -> list[Any]:
    return list((await door.get(f"/workflows/{tag}/runs"))["items"])


@pytest.mark.timeout(300)  # Ten processes begin one after the other.
async def test_a_run_is_started_fails_is_retried_asks_and_is_cancelled(opened: Open, tmp_path: Path) -> None:
    with Pages(pages={"/b": PlainTextResponse("no", 404)}) as shop:
        async with opened(**LOCAL) as door:
            laneway = console(door, tmp_path)
            nodes = [
                {"id": "get", "type": "http", "config": {"url": f"{shop.url}/b", "params": {"n": "$input.n"}}},
                {"id": "ask", "type": "hitl", "config": {"message": "Go on?"}},
            ]
            await make(door, "flow", nodes, ["get ask"])
            failed = await laneway("run", "flow", "--input", "-", given='{"n": 7}', code=1)
            assert ": failed" in failed
            assert "The node `get` failed" in failed
            assert shop.visits[0].query == "n=7"
            [run] = await runs_of(door, "flow")
            listed = await laneway("runs", "flow")
            assert all(word in listed for word in (run["id"], "failed", "manual"))
            assert "paused" not in listed
            assert await laneway("runs", "flow", "--status", "done") == "There are no such runs.\n"
            looked = json.loads(await laneway("runs", run["id"], "--json"))
            assert [(one["node"], one["status"]) for one in looked["nodes"]] == [("get", "failed")]
            shop.pages["/b"] = JSONResponse({"ok": True})
            assert f"Run {run['id']} is running." in await laneway("retry", run["id"])
            await ended(door, run["id"], "waiting")
            shown = await laneway("runs", run["id"])
            assert all(word in shown for word in ("waiting", "ask", "hitl"))
            assert f"Run {run['id']} is cancelled." in await laneway("cancel", run["id"])
            refused = await laneway("retry", run["id"], code=1)
            assert "only a failed one can be retried" in refused
            assert "This is not JSON" in await laneway("run", "flow", "--input", "{", code=2)


async def test_a_run_that_stands_in_line_says_behind_whom(opened: Open, tmp_path: Path) -> None:
    async with opened(**LOCAL) as door:
        laneway = console(door, tmp_path)
        nodes = [
            {"id": "ask", "type": "hitl", "config": {"message": "Go on?"}},
            {"id": "say", "type": "transform", "config": {"set": "$previous.say"}},
        ]
        await make(door, "flow", nodes, ["ask say"])
        for _ in range(2):
            await laneway("run", "flow", "--wait", "0")
        second, first = await runs_of(door, "flow")
        await ended(door, second["id"], "waiting")
        assert f"It begins when the run before it, {first['id']}, has ended." in await laneway("runs", second["id"])


async def test_a_workflow_that_cannot_run_is_refused_with_node_and_repair(opened: Open, tmp_path: Path) -> None:
    async with opened(**LOCAL) as door:
        laneway = console(door, tmp_path)
        await make(door, "half", [{"id": "get", "type": "http", "config": {}}], [])
        refused = await laneway("run", "half", code=2)
        assert "The node 'get' (http) cannot run yet" in refused
        assert "Add 'url'." in refused
        problem = await door.post("/workflows/half/execute", 400, json={})
        assert (problem["node"], problem["path"], problem["repair"]) == ("get", "/nodes/0/config", "Add 'url'.")
        assert await runs_of(door, "half") == []


async def test_a_test_does_nothing_outside_and_a_run_without_waiting_only_starts(opened: Open, tmp_path: Path) -> None:
    with Pages() as shop:
        async with opened(**LOCAL) as door:
            laneway = console(door, tmp_path)
            nodes = [
                {"id": "get", "type": "http", "config": {"url": f"{shop.url}/price"}},
                {"id": "post", "type": "http",
                 "config": {"url": f"{shop.url}/order", "method": "POST", "body": {"price": "$nodes.get.price"}}},
            ]  # fmt: skip
            await make(door, "flow", nodes, ["get post"])
            tested = json.loads(await laneway("test", "flow", "--pinned", '{"get": {"price": 95}}', "--json"))
            assert (tested["status"], tested["test"]) == ("done", True)
            assert tested["output"]["would"]["body"] == {"price": 95}
            assert shop.visits == []
            assert "There is no node `nope` to pin" in await laneway("test", "flow", "--pinned", '{"nope": 1}', code=2)
            await laneway("run", "flow", "--wait", "0")
            assert len(await runs_of(door, "flow")) == 2


async def test_a_hook_and_an_event_start_what_listens_to_them(opened: Open, tmp_path: Path, database_url: str) -> None:
    async with opened(**LOCAL) as door:
        laneway = console(door, tmp_path)
        nodes = [{"id": "a", "type": "transform", "config": {"set": "$input"}}]
        listens = [{"type": "webhook"}, {"type": "event", "event": "price.changed", "condition": "output.price < 100"}]
        await make(door, "flow", nodes, [], triggers=listens)
        await listening(database_url)
        made = json.loads(await laneway("hook", "flow", "--json"))
        plain = await laneway("hook", "flow")
        assert made["url"] in plain
        assert made["secret"] not in plain, "a new secret takes the place of the old one"
        secret = plain.split("Secret:")[1].split()[0]
        body = b'{"order": 7}'
        async with httpx.AsyncClient(timeout=30) as stranger:
            old = await stranger.post(made["url"], content=body, headers=signed(made["secret"], body))
            assert old.status_code == 401
            taken = await stranger.post(made["url"], content=body, headers=signed(secret, body))
        run = await ended(door, taken.json()["run_id"])
        assert run["output"]["body"] == {"order": 7}
        for price in (120, 95):
            told = await laneway("event", "price.changed", "--data", json.dumps({"price": price}), "--id", f"p{price}")
            assert told == "Told: price.changed.\n"
        await laneway("event", "price.changed", "--data", '{"price": 95}', "--id", "p95")
        async with asyncio.timeout(40):
            while len(await runs_of(door, "flow")) < 2:
                await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)
        runs = await runs_of(door, "flow")
        assert [one["cause"]["type"] for one in runs] == ["event", "webhook"]
        assert (await ended(door, runs[0]["id"]))["output"]["event"]["price"] == 95
        assert "ours to tell" in await laneway("event", "job.done", code=2)


async def test_runs_says_that_a_schedule_is_paused(opened: Open, tmp_path: Path, database_url: str) -> None:
    with Pages(pages={"/b": PlainTextResponse("no", 404)}) as shop:
        async with opened(**LOCAL) as door:
            laneway = console(door, tmp_path)
            nodes = [{"id": "get", "type": "http", "config": {"url": f"{shop.url}/b"}}]
            await make(door, "flow", nodes, [], triggers=[{"type": "cron", "schedule": "0 9 * * *"}])
            async with asyncio.timeout(90):
                while not await _paused(database_url):
                    await comes_due(database_url)
                    await asyncio.sleep(0.3)
            assert [one["paused"] for one in (await door.get("/workflows/flow/triggers"))["items"]] == [True]
            listed = await laneway("runs", "flow")
            assert "Its schedule is paused: its runs failed again and again." in listed
            assert "`laneway workflow run flow`" in listed


async def _paused(database_url: str) -> bool:
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        row = await (await connection.execute("SELECT 1 FROM workflow_triggers WHERE next_at IS NULL")).fetchone()
    return row is not None
