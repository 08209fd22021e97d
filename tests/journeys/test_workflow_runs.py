"""Workflows that really run, through the HTTP door: executed, listed, looked into, retried, tested, and by webhook."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from pathlib import Path
from typing import Any

import httpx
import psycopg
from starlette.responses import PlainTextResponse

from laneway.settings.sources import keep_secrets
from laneway.web.routes import workflow_hooks
from tests.lanes.workflow.running_workflows import node
from tests.servers.pages import Pages
from tests.web.conftest import Door, Open
from tests.web.test_workflows import an_operator

SELDOM = "0 0 29 2 *"
"""A time that does not come while a test runs."""
LOCAL = {"allowed_hosts": ("127.0.0.1",)}


async def make(door: Door, tag: str, nodes: list[dict[str, Any]], edges: list[Any], **more: Any) -> Any:
    drawn = [dict(zip(("from", "to"), one.split(), strict=True)) if isinstance(one, str) else one for one in edges]
    return await door.post("/workflows", 201, json={"tag": tag, "document": {"nodes": nodes, "edges": drawn, **more}})


async def ended(door: Door, run_id: str, *statuses: str, seconds: float = 40) -> Any:
    async with asyncio.timeout(seconds):
        while (run := await door.get(f"/runs/{run_id}"))["status"] not in (statuses or ("done", "failed", "cancelled")):
            await asyncio.sleep(0.05)
    return run


async def listening(database_url: str) -> None:
    """Some workflow's triggers are known, and from now on no event passes unheard."""
    async with asyncio.timeout(30), await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        query = "SELECT 1 FROM workflow_triggers, workflow_event_place"
        while await (await connection.execute(query)).fetchone() is None:
            await asyncio.sleep(0.05)


async def test_a_run_is_started_listed_looked_into_retried_and_cancelled(opened: Open) -> None:
    with Pages(pages={"/a": PlainTextResponse("a"), "/b": PlainTextResponse("no", 500)}) as shop:
        async with opened(**LOCAL) as door:
            nodes = [
                node("a", "http", {"url": f"{shop.url}/a", "headers": {"X-Api-Key": "$secrets.SHOP_KEY"}}),
                node("b", "http", {"url": f"{shop.url}/b"}),
                node("ask", "hitl", {"message": "Go on?"}),
            ]
            keep_secrets(door.home, {"SHOP_KEY": "abc-secret-1"})
            await make(door, "flow", nodes, ["a b", "b ask"])
            order = {"inputs": {"n": 1}, "id": "my-own-id", "thread": "desk"}
            started = await door.post("/workflows/flow/execute", 202, json=order)
            again = await door.post("/workflows/flow/execute", 202, json=order)
            assert (again["run_id"], again["duplicate"]) == (started["run_id"], True)
            failed = await ended(door, started["run_id"])
            assert (failed["status"], failed["ended_at"], failed["input"]) == ("failed", ["b"], {"n": 1})
            listed = await door.get(f"/runs/{failed['id']}/nodes", limit=1)
            assert [one["node"] for one in listed["items"]] == ["a"]
            assert "abc-secret-1" not in json.dumps(listed)
            rest = await door.get(f"/runs/{failed['id']}/nodes", limit=5, before=listed["next"])
            assert [(one["node"], one["status"]) for one in rest["items"]] == [("b", "failed")]
            kinds = {event["kind"] for event in (await door.get(f"/jobs/{failed['job_id']}"))["events"]}
            assert kinds >= {"workflow.node.failed", "workflow.run.failed"}
            shop.pages["/b"] = PlainTextResponse("b")
            await door.post(f"/runs/{failed['id']}/retry")
            waiting = await ended(door, failed["id"], "waiting")
            assert [visit.path for visit in shop.visits] == ["/a", "/b", "/b"]
            [asked] = (await door.get("/approvals", state="pending"))["items"]
            assert asked["job_id"] == waiting["job_id"]
            assert (await door.post(f"/runs/{failed['id']}/cancel"))["status"] == "cancelled"
            shown = (await door.get(f"/runs/{failed['id']}/nodes"))["items"]
            assert [one["status"] for one in shown] == ["done", "done", "cancelled"]
            await door.post(f"/runs/{failed['id']}/retry", 409)
            page = await door.get("/workflows/flow/runs", status="cancelled")
            assert [one["id"] for one in page["items"]] == [failed["id"]]
            await door.get("/workflows/none/runs", 404)


def signed(secret: str, body: bytes, at: int | None = None) -> dict[str, str]:
    stamp = str(int(time.time()) if at is None else at)
    digest = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    return {"X-Laneway-Timestamp": stamp, "X-Laneway-Signature": f"sha256={digest}", "Content-Type": "application/json"}


async def test_a_signed_webhook_starts_one_run_and_everything_else_none(opened: Open) -> None:
    async with opened(**LOCAL) as door:
        nodes = [{"id": "a", "type": "transform", "config": {"set": "${$input.shop} ${$input.body.order}"}}]
        await make(door, "plain", nodes, [])
        await door.post("/workflows/plain/hook", 409)
        unused = {"type": "webhook", "enabled": False, "input": {"shop": "closed"}}
        await make(door, "hooked", nodes, [], triggers=[unused, {"type": "webhook", "input": {"shop": "north"}}])
        hook = await door.post("/workflows/hooked/hook", 201)
        assert hook["secret"].startswith("whsec_")
        body = b'{"order": 7}'
        async with httpx.AsyncClient(base_url=door.url, timeout=30) as stranger:
            headers = signed(hook["secret"], body)
            taken = await stranger.post(hook["path"], content=body, headers=headers)
            assert taken.status_code == 202, taken.text
            again = await stranger.post(hook["path"], content=body, headers=headers)
            assert (again.status_code, again.json()["duplicate"]) == (202, True)
            assert again.json()["run_id"] == taken.json()["run_id"]
            bad = [
                (body, {**headers, "X-Laneway-Signature": "sha256=" + "0" * 64}),
                (body, {**headers, "X-Laneway-Signature": "sha256=é"}),
                (b'{"order": 8}', headers),
                (body, {**headers, "X-Laneway-Timestamp": str(int(headers["X-Laneway-Timestamp"]) + 1)}),
                (body, signed(hook["secret"], body, int(time.time()) - 3600)),
                (body, signed(hook["secret"], body, int(time.time()) + 3600)),
                (body, signed("whsec_other", body)),
                (body, {}),
            ]  # fmt: skip
            for content, wrong in bad:
                encoded = {key.encode(): value.encode() for key, value in wrong.items()}
                refused = await stranger.post(hook["path"], content=content, headers=encoded)
                assert refused.status_code == 401, wrong
            unknown = await stranger.post(
                "/workflow-hooks/0199a1b2-0000-7000-8000-000000000000", content=body, headers=headers
            )
            assert unknown.status_code == 401
            assert (await stranger.get("/workflows/hooked/runs")).status_code == 401
        run = await ended(door, taken.json()["run_id"])
        assert (run["output"], run["cause"]["type"]) == ("north 7", "webhook")
        assert (await door.get(f"/jobs/{run['job_id']}"))["program"] is True
        assert len((await door.get("/workflows/hooked/runs"))["items"]) == 1
        renewed = await door.post("/workflows/hooked/hook", 201)
        assert (renewed["id"], renewed["secret"] == hook["secret"]) == (hook["id"], False)


async def test_a_webhook_may_be_signed_with_a_secret_of_the_owners_own_but_an_empty_one_opens_nothing(
    opened: Open, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("SHOP_HOOK=chosen-by-the-owner\nEMPTY_HOOK=\n")
    async with opened(**LOCAL) as door, httpx.AsyncClient(base_url=door.url, timeout=30) as stranger:
        for name, secret, status in (
            ("SHOP_HOOK", "chosen-by-the-owner", 202),
            ("SHOP_HOOK", "$secrets.SHOP_HOOK", 401),
            ("EMPTY_HOOK", "", 401),
            ("EMPTY_HOOK", workflow_hooks.NOBODY, 401),
        ):
            tag = f"own{status}{len(secret)}"
            hooked = {"type": "webhook", "secret": f"$secrets.{name}"}
            await make(door, tag, [{"id": "a", "type": "transform", "config": {"set": 1}}], [], triggers=[hooked])
            hook = await door.post(f"/workflows/{tag}/hook", 201)
            assert hook["secret"] == f"$secrets.{name}"
            taken = await stranger.post(hook["path"], content=b"{}", headers=signed(secret, b"{}"))
            assert taken.status_code == status, (name, secret)


async def test_an_event_sent_from_elsewhere_starts_what_listens_for_it_once_for_each_id(
    opened: Open, database_url: str
) -> None:
    async with opened(**LOCAL) as door:
        nodes = [
            {"id": "check", "type": "conditional", "config": {"input": "$input.event"}},
            {"id": "tell", "type": "notify", "config": {"channel": "owner", "message": "Only ${$input.event.price}."}},
        ]
        below = {"from": "check", "to": "tell", "condition": "has(output.price) && output.price < 100"}
        await make(door, "listens", nodes, [below], triggers=[{"type": "event", "event": "price.changed"}])
        await door.send("/help", thread="desk")
        await listening(database_url)
        for price, id in ((95, "e1"), (95, "e1"), (130, "e2")):
            await door.post(
                "/workflow-events", 202, json={"event": "price.changed", "data": {"price": price}, "id": id}
            )
        async with asyncio.timeout(30):
            while True:
                runs = (await door.get("/workflows/listens/runs", status="done"))["items"]
                if len(runs) == 2:
                    break
                await asyncio.sleep(0.1)
        assert [run["ended_at"] for run in runs[::-1]] == [["tell"], ["check"]]
        said = [one["text"] for one in (await door.get("/messages"))["items"] if one["author"] == "assistant"]
        assert said.count("Only 95.") == 1
        await door.post("/workflow-events", 400, json={"event": "job.failed"})


async def test_an_operator_runs_nothing_in_a_conversation_of_the_owners(opened: Open, database_url: str) -> None:
    async with opened(**LOCAL) as door:
        await an_operator(database_url, "lw_ops")
        await door.send("/help", thread="private")
        nodes = [{"id": "a", "type": "transform", "config": {"set": "hello from ops"}}]
        document = {"tag": "own", "document": {"nodes": nodes, "edges": []}}
        assert (await door.http.post("/workflows", params={"owner": "ops"}, json=document)).status_code == 201
        async with httpx.AsyncClient(base_url=door.url, headers={"Authorization": "Bearer lw_ops"}, timeout=30) as ops:
            refused = await ops.post("/workflows/own/execute", json={"thread": "private"})
            assert refused.status_code == 400, refused.text
            own = await ops.post("/workflows/own/execute", json={"thread": "ops-desk"})
            assert own.status_code == 202, own.text
            again = await ops.post("/workflows/own/execute", json={"thread": "ops-desk"})
            assert again.status_code == 202, again.text
