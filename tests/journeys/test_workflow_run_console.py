"""Runs of workflows by the console: run, runs, retry, cancel, test, hook and event, each with what it really does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import psycopg
from starlette.responses import JSONResponse, PlainTextResponse

from tests.journeys.console import console
from tests.journeys.test_workflow_runs import LOCAL, SELDOM, ended, listening, make, signed
from tests.lanes.workflow.running_workflows import node
from tests.servers.pages import Pages
from tests.web.conftest import Door, Open


async def runs_of(door: Door, tag: str) -> list[Any]:
    return list((await door.get(f"/workflows/{tag}/runs"))["items"])


async def test_a_run_is_started_fails_is_retried_asks_and_is_cancelled(
    opened: Open, tmp_path: Path, database_url: str
) -> None:
    with Pages(pages={"/b": PlainTextResponse("no", 404)}) as shop:
        async with opened(**LOCAL) as door:
            laneway = console(door, tmp_path)
            nodes = [
                {"id": "get", "type": "http", "config": {"url": f"{shop.url}/b", "params": {"n": "$input.n"}}},
                node("ask", "hitl", {"message": "Go on?"}),
            ]
            await make(door, "flow", nodes, ["get ask"], triggers=[{"type": "cron", "schedule": SELDOM}])
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
            async with await psycopg.AsyncConnection.connect(database_url) as connection:
                # As it is when its runs failed again and again.
                await connection.execute("UPDATE workflow_triggers SET next_at = NULL")
            listed = await laneway("runs", "flow")
            assert "Its schedule is paused: its runs failed again and again." in listed
            assert "`laneway workflow run flow`" in listed
            await make(door, "half", [{"id": "get", "type": "http", "config": {}}], [])
            refused = await laneway("run", "half", code=2)
            assert "The node 'get' (http) cannot run yet" in refused
            assert "Add 'url'." in refused


async def test_a_test_does_nothing_outside_and_a_run_in_line_says_behind_whom(opened: Open, tmp_path: Path) -> None:
    with Pages() as shop:
        async with opened(**LOCAL) as door:
            laneway = console(door, tmp_path)
            post = {"url": f"{shop.url}/order", "method": "POST", "body": {"price": "$nodes.get.price"}}
            nodes = [
                {"id": "get", "type": "http", "config": {"url": f"{shop.url}/price"}},
                {"id": "post", "type": "http", "config": post},
            ]
            await make(door, "flow", nodes, ["get post"])
            tested = json.loads(await laneway("test", "flow", "--pinned", '{"get": {"price": 95}}', "--json"))
            assert (tested["status"], tested["test"]) == ("done", True)
            assert tested["output"]["would"]["body"] == {"price": 95}
            assert shop.visits == []
            assert "There is no node `nope` to pin" in await laneway("test", "flow", "--pinned", '{"nope": 1}', code=2)
            nodes = [
                node("ask", "hitl", {"message": "Go on?"}),
                {"id": "say", "type": "transform", "config": {"set": "$previous.say"}},
            ]
            await make(door, "line", nodes, ["ask say"])
            for _ in range(2):
                await laneway("run", "line", "--wait", "0")
            second, first = await runs_of(door, "line")
            await ended(door, second["id"], "waiting")
            shown = await laneway("runs", second["id"])
            assert f"It begins when the run before it, {first['id']}, has ended." in shown


async def test_a_hook_and_an_event_start_what_listens_to_them(opened: Open, tmp_path: Path, database_url: str) -> None:
    async with opened(**LOCAL) as door:
        laneway = console(door, tmp_path)
        listens = [{"type": "webhook"}, {"type": "event", "event": "price.changed", "condition": "output.price < 100"}]
        await make(door, "flow", [node("a", "transform", {"set": "$input"})], [], triggers=listens)
        await listening(database_url)
        made = json.loads(await laneway("hook", "flow", "--json"))
        plain = await laneway("hook", "flow")
        assert made["url"] in plain
        assert made["secret"] not in plain, "a new secret takes the place of the old one"
        secrets, body = (made["secret"], plain.split("Secret:")[1].split()[0]), b'{"order": 7}'
        async with httpx.AsyncClient(timeout=30) as stranger:
            told = [await stranger.post(made["url"], content=body, headers=signed(one, body)) for one in secrets]
        assert [one.status_code for one in told] == [401, 202]
        for price in (120, 95, 95, 90):
            said = await laneway("event", "price.changed", "--data", f'{{"price": {price}}}', "--id", f"p{price}")
            assert said == "Told: price.changed.\n"
        async with asyncio.timeout(40):
            while len(runs := await runs_of(door, "flow")) < 3:
                await asyncio.sleep(0.05)
        inputs = [(await ended(door, one["id"]))["output"] for one in runs]
        assert [one["event"]["price"] for one in inputs[:2]] == [90, 95]
        assert inputs[2]["body"] == {"order": 7}
        assert "ours to tell" in await laneway("event", "job.done", code=2)
