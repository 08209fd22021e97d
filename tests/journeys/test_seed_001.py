"""Seed 001: its eight example sentences, each through `POST /test/chat`, without a model, to its checked result."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from starlette.responses import PlainTextResponse

from laneway.lanes.workflow.checks import check
from tests.journeys.tables_asked import chat, offline, result
from tests.servers.pages import Pages
from tests.servers.smtp_server import SmtpServer
from tests.web.conftest import Door, Open

FLIGHTS = [{"flight": f"F{n:02}", "price": n * 37 % 101, "city": ("Oslo", "Rome")[n % 2]} for n in range(15)]
PRICES = [
    {"item": "lamp", "price": 30, "date": "2026-11-17"}, {"item": "desk", "price": 80, "date": "2026-11-18"},
    {"item": "lamp", "price": 31, "date": "2026-11-18"}, {"item": "desk", "price": 79, "date": "2026-11-16"},
]  # fmt: skip
ITEMS = [{"item": name, "price": price} for name, price in [("pen", 2), ("desk", 80), ("lamp", 30), ("sofa", 700)]]
STEPS: dict[str, Any] = {
    "nodes": [
        {"id": "fetch", "type": "transform", "config": {"set": {"price": "$input.price"}}},
        {"id": "process", "type": "transform", "config": {"set": {"twice": "$nodes.fetch.price"}}},
    ],
    "edges": [{"from": "fetch", "to": "process"}],
}
BROKEN: dict[str, Any] = {
    "nodes": [{"id": "work", "type": "function", "config": {"name": "no_such_tool"}}], "edges": [],
}  # fmt: skip


async def once(door: Door, prompt: str, **tables: Any) -> Any:
    """The stored rows of a request that is done once."""
    shape = await chat(door, prompt, tables=tables)
    assert shape["status"] == "completed", shape
    rows = await result(door, shape)
    assert shape["result_preview"] == {"kind": "dataset", "row_count": len(rows), "sample": rows[:3]}
    assert (shape["metadata"]["tool_calls"], shape["metadata"]["tokens_used"]) == (["execute_pipeline"], 0)
    assert (await door.get("/workflows"))["items"] == [], "nothing lasting was made"
    return rows


async def lasting(door: Door, prompt: str, **more: Any) -> Any:
    """The workflow as it is stored after a yes to the change that the sentence asks for."""
    waiting = await chat(door, prompt, 202, timeout_sec=60, **more)
    [approval] = (await door.get("/approvals", state="pending"))["items"]
    before = {one["tag"]: one["version"] for one in (await door.get("/workflows"))["items"]}
    assert before in ({}, {"main": 1}), "nothing is changed before the yes"
    await door.post(f"/approvals/{approval['id']}", json={"answer": "approve"})
    await door.until(approval["job_id"])
    job = await door.get(f"/jobs/{approval['job_id']}")
    assert job["result"]["result_preview"]["kind"] == ("patch" if before else "new"), waiting
    [listed] = (await door.get("/workflows"))["items"]
    stored = await door.get(f"/workflows/{listed['tag']}")
    assert check(stored["document"]) == []
    return stored


async def told(door: Door, words: str) -> str:
    """What the owner was told, as soon as it has these words."""
    async with asyncio.timeout(40):
        while True:
            said = [str(one["text"]) for one in (await door.get("/messages"))["items"] if one["author"] == "assistant"]
            found = next((text for text in said if words in text), None)
            if found is not None:
                return found
            await asyncio.sleep(0.1)


async def ran(door: Door, tag: str, status: str, **order: Any) -> Any:
    started = await door.post(f"/workflows/{tag}/execute", 202, json=order)
    async with asyncio.timeout(40):
        while (run := await door.get(f"/runs/{started['run_id']}"))["status"] != status:
            await asyncio.sleep(0.05)
    return run


async def sent(door: Door, event: str, tag: str) -> None:
    """The event has come in, and the run that it starts has ended well."""
    async with asyncio.timeout(40):
        while not (runs := (await door.get(f"/workflows/{tag}/runs"))["items"]):
            # A trigger is known a moment after its workflow is stored; the id keeps it at one run.
            await door.post("/workflow-events", 202, json={"event": event, "data": {"price": 95}, "id": "one"})
            await asyncio.sleep(0.1)
        while runs[0]["status"] != "done":
            runs = (await door.get(f"/workflows/{tag}/runs"))["items"]
            await asyncio.sleep(0.05)


async def test_show_me_top_10_flights(opened: Open) -> None:
    async with opened(offline(), local_classifier=True) as door:
        assert await once(door, "show me top 10 flights", flights=FLIGHTS) == FLIGHTS[:10]


async def test_fetch_latest_prices(opened: Open) -> None:
    async with opened(offline(), local_classifier=True) as door:
        assert await once(door, "fetch latest prices", prices=PRICES) == [PRICES[1], PRICES[2]]


async def test_what_are_the_most_expensive_items(opened: Open) -> None:
    async with opened(offline(), local_classifier=True) as door:
        found = await once(door, "what are the most expensive items?", items=ITEMS)
        assert found == sorted(ITEMS, key=lambda row: -int(str(row["price"])))


async def test_get_users_who_signed_up_today(opened: Open) -> None:
    async with opened(offline(), local_classifier=True, zone="UTC") as door:
        days = [datetime.now(UTC).date() - timedelta(days=back) for back in range(-2, 3)]
        users = [{"name": f"u{n}", "signed_up_at": day.isoformat()} for n, day in enumerate(days)]
        [found] = await once(door, "get users who signed up today", users=users)
        assert found["signed_up_at"] in (days[2].isoformat(), datetime.now(UTC).date().isoformat())


async def test_always_send_email_when_price_drops(opened: Open) -> None:
    with SmtpServer() as smtp:
        mail = {"smtp_url": smtp.url, "mail_from": "laneway@example.org", "mail_to": "owner@example.org"}
        async with opened(offline(), local_classifier=True, **mail) as door:
            stored = await lasting(door, "always send email when price drops")
            assert stored["document"]["triggers"] == [{"type": "event", "event": "price.dropped"}]
            await sent(door, "price.dropped", stored["tag"])
    assert [(one.to, one.subject) for one in smtp.mails] == [(("owner@example.org",), "Price drops")]


async def test_whenever_user_signs_up_notify_slack(opened: Open, tmp_path: Path) -> None:
    with Pages(pages={"/hook": PlainTextResponse("ok")}) as slack:
        (tmp_path / ".env").write_text(f"SLACK_WEBHOOK_URL={slack.url}/hook\n")
        async with opened(offline(), local_classifier=True, allowed_hosts=("127.0.0.1",)) as door:
            stored = await lasting(door, "whenever user signs up, notify slack")
            assert stored["document"]["triggers"] == [{"type": "event", "event": "user.signed_up"}]
            await sent(door, "user.signed_up", stored["tag"])
    [visit] = slack.visits
    assert (visit.method, visit.path) == ("POST", "/hook")


async def test_add_notification_step_after_processing(opened: Open) -> None:
    async with opened(offline(), local_classifier=True) as door:
        stored = await lasting(
            door, "add notification step after processing", workflow_tag="main", current_workflow=STEPS
        )
        assert (stored["tag"], stored["version"]) == ("main", 2)
        new = stored["document"]["nodes"][-1]
        assert new["type"] == "notify"
        assert stored["document"]["edges"][-1] == {"from": "process", "to": new["id"]}
        run = await ran(door, "main", "done", inputs={"price": 7})
        assert run["ended_at"] == [new["id"]]
        assert await told(door, new["config"]["message"])


async def test_if_error_occurs_then_alert_ops_team(opened: Open) -> None:
    async with opened(offline(), local_classifier=True) as door:
        stored = await lasting(
            door, "if error occurs then alert ops team", workflow_tag="main", current_workflow=BROKEN
        )
        [edge] = stored["document"]["edges"]
        assert (edge["from"], edge["on"]) == ("work", "error")
        run = await ran(door, "main", "done")
        assert run["ended_at"] == [edge["to"]], "the error leads to the alarm"
