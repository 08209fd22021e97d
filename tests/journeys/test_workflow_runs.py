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
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from laneway.app import Parts
from laneway.llm.offline import OfflineModel
from laneway.llm.single import only
from laneway.web.routes import workflow_hooks
from tests.servers.pages import Pages
from tests.servers.smtp_server import SmtpServer
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


def price_watch(url: str) -> tuple[list[dict[str, Any]], list[Any]]:
    """What "always e-mail me when the price drops below 100" becomes: look, compare with the last time, tell."""
    drops = "output.body.price < 100 && (!has(ctx.previous.price) || ctx.previous.price.body.price >= 100)"
    nodes: list[dict[str, Any]] = [
        {"id": "price", "type": "http", "config": {"url": url}, "retry": {"max_attempts": 3, "backoff_ms": 20}},
        {"id": "below", "type": "conditional"},
        {"id": "mail", "type": "notify", "config": {"channel": "email", "subject": "The price dropped",
                                                    "message": "It is ${$nodes.price.body.price} now."}},
    ]  # fmt: skip
    return nodes, ["price below", {"from": "below", "to": "mail", "condition": drops}]


async def comes_due(database_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        await connection.execute("UPDATE workflow_triggers SET next_at = now() WHERE next_at IS NOT NULL")
        await connection.execute("SELECT pg_notify('laneway_due', '')")


async def test_when_the_price_drops_below_100_its_owner_is_mailed_once_for_every_drop(
    opened: Open, database_url: str
) -> None:
    prices = [120.0, 95.5, 94.0, 130.0, 99.0]

    async def price(request: Request) -> Response:
        return JSONResponse({"price": prices[0]})

    with Pages(pages={"/price": price}) as shop, SmtpServer("ann", "s3cret-word") as smtp:
        mail = {"smtp_url": smtp.url, "mail_from": "laneway@example.org", "mail_to": "owner@example.org"}
        async with opened(**LOCAL, **mail) as door:
            nodes, edges = price_watch(f"{shop.url}/price")
            await make(door, "price", nodes, edges, triggers=[{"type": "cron", "schedule": SELDOM}])
            await listening(database_url)
            for number in range(1, len(prices) + 1):
                await comes_due(database_url)
                async with asyncio.timeout(40):
                    while True:
                        page = await door.get("/workflows/price/runs")
                        if len(page["items"]) == number and page["items"][0]["status"] == "done":
                            break
                        await asyncio.sleep(0.05)
                prices.append(prices.pop(0))
            ends = [run["ended_at"] for run in page["items"][::-1]]
            assert ends == [["below"], ["mail"], ["below"], ["below"], ["mail"]]
            assert {run["cause"]["type"] for run in page["items"]} == {"cron"}
            said = [one["text"] for one in (await door.get("/messages"))["items"] if one["author"] == "assistant"]
            assert said == [], "it speaks by its mail, not by every look at the price"
    assert [(one.to, one.subject, one.text) for one in smtp.mails] == [
        (("owner@example.org",), "The price dropped", "It is 95.5 now."),
        (("owner@example.org",), "The price dropped", "It is 99.0 now."),
    ]


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
                {"id": "a", "type": "http",
                 "config": {"url": f"{shop.url}/a", "headers": {"X-Api-Key": "abc-secret-1"}}},
                {"id": "b", "type": "http", "config": {"url": f"{shop.url}/b"}},
                {"id": "ask", "type": "hitl", "config": {"message": "Go on?"}},
            ]  # fmt: skip
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
            job = await door.get(f"/jobs/{failed['job_id']}")
            kinds = [event["kind"] for event in job["events"]]
            assert "workflow.node.failed" in kinds
            assert "workflow.run.failed" in kinds

            shop.pages["/b"] = PlainTextResponse("b")
            await door.post(f"/runs/{failed['id']}/retry")
            waiting = await ended(door, failed["id"], "waiting")
            assert [visit.path for visit in shop.visits] == ["/a", "/b", "/b"]
            [asked] = (await door.get("/approvals", state="pending"))["items"]
            assert asked["job_id"] == waiting["job_id"]
            cancelled = await door.post(f"/runs/{failed['id']}/cancel")
            assert cancelled["status"] == "cancelled"
            shown = (await door.get(f"/runs/{failed['id']}/nodes"))["items"]
            assert [one["status"] for one in shown] == ["done", "done", "cancelled"]
            await door.post(f"/runs/{failed['id']}/retry", 409)
            page = await door.get("/workflows/flow/runs", status="cancelled")
            assert [one["id"] for one in page["items"]] == [failed["id"]]
            await door.get("/workflows/none/runs", 404)


async def test_a_test_run_with_pinned_data_does_nothing_outside(opened: Open) -> None:
    with Pages() as shop, SmtpServer() as smtp:
        mail = {"smtp_url": smtp.url, "mail_from": "laneway@example.org", "mail_to": "owner@example.org"}
        async with opened(**LOCAL, **mail) as door:
            nodes, edges = price_watch(f"{shop.url}/price")
            await make(door, "price", nodes, edges)
            posted = {"pinned": {"price": {"body": {"price": 95}}}}
            started = await door.post("/workflows/price/test", 202, json=posted)
            run = await ended(door, started["run_id"])
            assert (run["status"], run["test"], run["ended_at"]) == ("done", True, ["mail"])
            assert run["output"]["would"]["message"] == "It is 95 now."
            assert (shop.visits, smtp.mails) == ([], [])
            refused = await door.post("/workflows/price/test", 400, json={"pinned": {"nope": 1}})
            assert "There is no node `nope` to pin" in refused["detail"]


def signed(secret: str, body: bytes, at: int | None = None) -> dict[str, str]:
    stamp = str(int(time.time()) if at is None else at)
    digest = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    return {"X-Laneway-Timestamp": stamp, "X-Laneway-Signature": f"sha256={digest}", "Content-Type": "application/json"}


async def test_a_signed_webhook_starts_one_run_and_everything_else_none(opened: Open) -> None:
    async with opened(**LOCAL) as door:
        nodes = [{"id": "a", "type": "transform", "config": {"set": "order ${$input.body.order}"}}]
        await make(door, "plain", nodes, [])
        await door.post("/workflows/plain/hook", 409)
        await make(door, "hooked", nodes, [], triggers=[{"type": "webhook"}])
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
        assert (run["output"], run["cause"]["type"]) == ("order 7", "webhook")
        assert (await door.get(f"/jobs/{run['job_id']}"))["program"] is True
        assert len((await door.get("/workflows/hooked/runs"))["items"]) == 1
        renewed = await door.post("/workflows/hooked/hook", 201)
        assert (renewed["id"], renewed["secret"] == hook["secret"]) == (hook["id"], False)


async def test_the_input_of_a_webhook_trigger_is_there_beside_the_body(opened: Open) -> None:
    async with opened(**LOCAL) as door:
        nodes = [{"id": "a", "type": "transform", "config": {"set": "${$input.shop} ${$input.body.order}"}}]
        unused = {"type": "webhook", "enabled": False, "input": {"shop": "closed"}}
        given = {"type": "webhook", "input": {"shop": "north"}}
        await make(door, "hooked", nodes, [], triggers=[unused, given])
        hook = await door.post("/workflows/hooked/hook", 201)
        body = b'{"order": 7}'
        async with httpx.AsyncClient(base_url=door.url, timeout=30) as stranger:
            taken = await stranger.post(hook["path"], content=body, headers=signed(hook["secret"], body))
        assert (await ended(door, taken.json()["run_id"]))["output"] == "north 7"


async def test_a_webhook_may_be_signed_with_a_secret_of_the_owners_own(opened: Open, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SHOP_HOOK=chosen-by-the-owner\n")
    async with opened(**LOCAL) as door:
        nodes = [{"id": "a", "type": "transform", "config": {"set": 1}}]
        await make(door, "own", nodes, [], triggers=[{"type": "webhook", "secret": "$secrets.SHOP_HOOK"}])
        hook = await door.post("/workflows/own/hook", 201)
        assert hook["secret"] == "$secrets.SHOP_HOOK"
        async with httpx.AsyncClient(base_url=door.url, timeout=30) as stranger:
            taken = await stranger.post(hook["path"], content=b"{}", headers=signed("chosen-by-the-owner", b"{}"))
            refused = await stranger.post(hook["path"], content=b"{}", headers=signed("$secrets.SHOP_HOOK", b"{}"))
        assert (taken.status_code, refused.status_code) == (202, 401)


async def test_an_event_sent_from_elsewhere_starts_what_listens_for_it_once_for_each_id(opened: Open) -> None:
    async with opened(**LOCAL) as door:
        nodes = [
            {"id": "check", "type": "conditional", "config": {"input": "$input.event"}},
            {"id": "tell", "type": "notify", "config": {"channel": "owner", "message": "Only ${$input.event.price}."}},
        ]
        below = {"from": "check", "to": "tell", "condition": "has(output.price) && output.price < 100"}
        await make(door, "listens", nodes, [below], triggers=[{"type": "event", "event": "price.changed"}])
        await door.send("/help", thread="desk")
        async with asyncio.timeout(40):
            while not (await door.get("/workflows/listens/runs"))["items"]:
                await door.post(
                    "/workflow-events", 202, json={"event": "price.changed", "data": {"price": 95}, "id": "e1"}
                )
                await asyncio.sleep(0.3)
        await door.post("/workflow-events", 202, json={"event": "price.changed", "data": {"price": 130}, "id": "e2"})
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


async def test_a_webhook_whose_own_secret_is_empty_takes_nothing(opened: Open, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SHOP_HOOK=\n")
    async with opened(**LOCAL) as door:
        nodes = [{"id": "a", "type": "transform", "config": {"set": 1}}]
        await make(door, "own", nodes, [], triggers=[{"type": "webhook", "secret": "$secrets.SHOP_HOOK"}])
        hook = await door.post("/workflows/own/hook", 201)
        async with httpx.AsyncClient(base_url=door.url, timeout=30) as stranger:
            for guess in ("", workflow_hooks.NOBODY):
                refused = await stranger.post(hook["path"], content=b"{}", headers=signed(guess, b"{}"))
                assert refused.status_code == 401


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


async def test_always_mail_me_when_the_price_drops_below_100_from_the_sentence_to_the_mail_and_back(
    opened: Open, database_url: str
) -> None:
    with SmtpServer() as smtp:
        mail = {"smtp_url": smtp.url, "mail_from": "laneway@example.org", "mail_to": "owner@example.org"}
        async with opened(Parts(models=lambda db: only(OfflineModel(), db)), **LOCAL, **mail) as door:
            asked = await door.send("always e-mail me when the price drops below 100", lane="workflow")
            await door.until(asked["job_id"], "waiting")
            [preview] = (await door.get("/approvals", state="pending"))["items"]
            await door.post(f"/approvals/{preview['id']}", json={"answer": "approve"})
            await door.until(asked["job_id"])
            [made] = (await door.get("/workflows"))["items"]
            await listening(database_url)
            sent = 0
            async with asyncio.timeout(40):
                while not smtp.mails:
                    told = {"event": "price.changed", "data": {"price": 95.5}, "id": "one"}
                    sent += 1
                    await door.post("/workflow-events", 202, json=told)
                    await asyncio.sleep(0.5)
            [got] = smtp.mails
            assert got.to == ("owner@example.org",)
            assert "95.5" in got.text
            await door.post("/workflow-events", 202, json={"event": "price.changed", "data": {"price": 130}})
            async with asyncio.timeout(30):
                while len((await door.get(f"/workflows/{made['tag']}/runs", status="done"))["items"]) < 2:
                    await asyncio.sleep(0.1)
            assert len(smtp.mails) == 1, f"sent {sent} times under one id"
