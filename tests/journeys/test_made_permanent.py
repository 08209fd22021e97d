"""A one-off request that is asked again and again becomes a workflow: offered, shown, approved, checked, and run."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from laneway.lanes.workflow.checks import check
from tests.journeys.tables_asked import CHEAPEST, FLIGHTS, offline
from tests.servers.pages import Pages
from tests.web.conftest import Door, Open


async def made_permanent(door: Door) -> Any:
    """The workflow that was stored after a yes to its preview."""
    receipt = await door.send("make this permanent", lane="workflow")
    await door.until(receipt["job_id"], "waiting")
    preview = (await door.get(f"/messages/{receipt['message_id']}"))["replies"][-1]["text"]
    assert "```mermaid" in preview
    assert (await door.get("/workflows"))["items"] == [], "nothing is stored before the yes"
    [approval] = (await door.get("/approvals", state="pending"))["items"]
    await door.post(f"/approvals/{approval['id']}", json={"answer": "approve"})
    await door.until(receipt["job_id"])
    [workflow] = (await door.get("/workflows"))["items"]
    return await door.get(f"/workflows/{workflow['tag']}")


async def run(door: Door, tag: str) -> Any:
    started = await door.post(f"/workflows/{tag}/execute", 202, json={})
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
            for _ in range(3):
                asked = await door.ask(f"{CHEAPEST} {shop.url}/flights", lane="pipeline")
            stored = await made_permanent(door)
            cron = {"type": "cron", "schedule": "0 8 * * *", "timezone": "Europe/Berlin"}
            for document in (asked["jobs"][0]["result"]["offer"]["document"], stored["document"]):
                assert check(document) == []
                assert document["triggers"] == [cron]
            rows.append({"airline": "New", "price": 1, "city": "Bonn"})
            output = await run(door, stored["tag"])
    assert [row["airline"] for row in output["rows"]] == ["New", "Bee"], "fetched anew, and not as it was"
