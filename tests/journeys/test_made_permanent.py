"""A one-off request that is asked again and again becomes a workflow: offered, shown, approved, checked, and run."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from laneway.lanes.workflow.checks import check
from tests.journeys.tables_asked import CHEAPEST, FLIGHTS, offline
from tests.servers.pages import Pages
from tests.web.conftest import Door, Open


async def asked_three_times(door: Door, text: str, **more: Any) -> Any:
    """The result of the third asking."""
    for _ in range(3):
        receipt = await door.send(text, lane="pipeline", thread="desk", **more)
        await door.until(receipt["job_id"])
    return (await door.get(f"/jobs/{receipt['job_id']}"))["result"]


async def made_permanent(door: Door) -> Any:
    """The workflow that was stored after a yes to its preview."""
    receipt = await door.send("make this permanent", lane="workflow", thread="desk")
    await door.until(receipt["job_id"], "waiting")
    preview = (await door.get(f"/messages/{receipt['message_id']}"))["replies"][-1]["text"]
    assert "```mermaid" in preview
    assert (await door.get("/workflows"))["items"] == [], "nothing is stored before the yes"
    [approval] = (await door.get("/approvals", state="pending"))["items"]
    await door.post(f"/approvals/{approval['id']}", json={"answer": "approve"})
    await door.until(receipt["job_id"])
    [workflow] = (await door.get("/workflows"))["items"]
    return await door.get(f"/workflows/{workflow['tag']}")


async def run(door: Door, tag: str, **order: Any) -> Any:
    started = await door.post(f"/workflows/{tag}/execute", 202, json=order)
    async with asyncio.timeout(40):
        while (found := await door.get(f"/runs/{started['run_id']}"))["status"] not in ("done", "failed"):
            await asyncio.sleep(0.05)
    assert found["status"] == "done", found
    nodes = (await door.get(f"/runs/{started['run_id']}/nodes"))["items"]
    return next(node["output"] for node in nodes if node["node"] == "pipeline")


async def test_rows_that_are_fetched_are_fetched_every_morning_in_the_owners_zone(opened: Open) -> None:
    rows = [dict(row) for row in FLIGHTS]

    async def flights(request: Request) -> Response:
        return JSONResponse(rows)

    with Pages(pages={"/flights": flights}) as shop:
        async with opened(offline(), allowed_hosts=("127.0.0.1",), zone="Europe/Berlin") as door:
            third = await asked_three_times(door, f"{CHEAPEST} {shop.url}/flights")
            offer = third["offer"]
            assert check(offer["document"]) == []
            cron = {"type": "cron", "schedule": "0 8 * * *", "timezone": "Europe/Berlin"}
            assert offer["document"]["triggers"] == [cron]
            stored = await made_permanent(door)
            assert check(stored["document"]) == []
            assert stored["document"]["triggers"] == [cron]
            rows.append({"airline": "New", "price": 1, "city": "Bonn"})
            output = await run(door, stored["tag"])
    assert [row["airline"] for row in output["rows"]] == ["New", "Bee"], "fetched anew, and not as it was"


async def test_a_table_that_is_given_is_given_to_the_workflow_too(opened: Open) -> None:
    async with opened(offline()) as door:
        third = await asked_three_times(door, CHEAPEST, payload={"runner": {"tables": {"flights": FLIGHTS}}})
        assert check(third["offer"]["document"]) == []
        stored = await made_permanent(door)
        assert (check(stored["document"]), stored["document"]["triggers"]) == ([], [{"type": "manual"}])
        output = await run(door, stored["tag"], inputs={"tables": {"flights": FLIGHTS[:2]}})
        assert [row["airline"] for row in output["rows"]] == ["Bee", "Ida"]


async def test_what_was_asked_of_today_is_asked_of_each_day_anew(opened: Open) -> None:
    today = datetime.now(UTC).date()
    users = [{"name": f"u{n}", "signup_date": (today - timedelta(days=n)).isoformat()} for n in range(-2, 3)]
    async with opened(offline(), zone="UTC") as door:
        words = "get users who signed up today"
        third = await asked_three_times(door, words, payload={"runner": {"tables": {"users": users}}})
        stored = await made_permanent(door)
        config = stored["document"]["nodes"][0]["config"]
        assert config == {"prompt": words, "tables": "$input.tables"}, "no date of today is kept"
        output = await run(door, stored["tag"], inputs={"tables": {"users": users}})
    assert third["result_preview"]["row_count"] == 1
    assert output["count"] == 1
