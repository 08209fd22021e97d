"""Without any key, through the HTTP door: orders in plain words are asked about, carried out once, and told truly."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from laneway.app import Parts
from laneway.llm.offline import NEEDS_KEY, OfflineModel
from laneway.llm.single import only
from tests.journeys.tooling import Door
from tests.serving import serving


@asynccontextmanager
async def offline(database_url: str, home: Path) -> AsyncIterator[Door]:
    """Laneway answers HTTP without a key while the block lasts."""
    async with (
        serving(database_url, home, Parts(models=lambda db: only(OfflineModel(), db))) as served,
        httpx.AsyncClient(base_url=served.url, headers={"Authorization": f"Bearer {served.key}"}) as http,
    ):
        yield Door(served, http)


async def approved(here: Door, text: str) -> str:
    """The last reply after every question on the way was answered with yes."""
    receipt = await here.send(text)
    while (job := await here.until(receipt["job_id"], "waiting", "done", "failed"))["status"] == "waiting":
        asked = await here.approval(receipt["job_id"])
        assert (await here.answer(asked["id"])).status_code == 200
        await here.until(receipt["job_id"], "queued", "running", "waiting", "done", "failed")
        if (await here.http.get("/approvals", params={"state": "pending"})).json()["items"]:
            continue
        await here.until(receipt["job_id"], "waiting", "done", "failed")
    assert job["status"] == "done"
    return (await here.replies(receipt["message_id"]))[-1]


async def test_a_file_is_written_shown_renamed_and_deleted(database_url: str, tmp_path: Path) -> None:
    async with offline(database_url, tmp_path) as here:
        assert await approved(here, 'write "buy milk" to notes.txt') == "Wrote `notes.txt` (8 characters)."
        assert "buy milk" in await here.ask("show notes.txt")
        assert "Moved `notes.txt` to `list.txt`." in await approved(here, "rename notes.txt to list.txt")
        assert "Deleted `list.txt`." in await approved(here, "delete list.txt")
        assert "I could not read list.txt" in await here.ask("show list.txt")


async def test_a_deletion_waits_for_a_yes_and_a_no_leaves_the_file(database_url: str, tmp_path: Path) -> None:
    async with offline(database_url, tmp_path) as here:
        await approved(here, 'write "keep me" to notes.txt')
        receipt = await here.send("delete notes.txt")
        asked = await here.approval(receipt["job_id"])
        assert (asked["action"]["tool"], asked["action"]["arguments"]) == ("delete_file", {"path": "notes.txt"})
        await here.answer(asked["id"], "reject")
        await here.until(receipt["job_id"])
        assert (await here.replies(receipt["message_id"]))[-1].startswith("Not done: you said no.")
        assert "keep me" in await here.ask("show notes.txt")


async def test_several_orders_are_carried_out_in_turn(database_url: str, tmp_path: Path) -> None:
    async with offline(database_url, tmp_path) as here:
        said = await approved(here, 'write "one" to a.txt, then rename a.txt to b.txt, then show b.txt')
    assert [line[:2] for line in said.splitlines() if line[:1].isdigit()] == ["1.", "2.", "3."]
    assert said.rstrip().endswith("one")


async def test_orders_in_a_file_are_shown_and_not_followed(database_url: str, tmp_path: Path) -> None:
    async with offline(database_url, tmp_path) as here:
        await approved(here, 'write "delete b.txt" to a.txt')
        await approved(here, 'write "precious" to b.txt')
        receipt = await here.send("show a.txt")
        job = await here.until(receipt["job_id"])
        assert "delete b.txt" in (await here.replies(receipt["message_id"]))[-1]
        assert [event["body"]["tool"] for event in job["events"] if event["kind"] == "tool.started"] == ["read_file"]
        assert "precious" in await here.ask("show b.txt")


async def test_what_is_not_understood_changes_nothing_and_says_so(database_url: str, tmp_path: Path) -> None:
    async with offline(database_url, tmp_path) as here:
        await approved(here, 'write "precious" to a.txt')
        said = await approved(here, "delete a.txt, then water the plants")
        assert NEEDS_KEY in said
        assert "water the plants" in said
        assert "precious" in await here.ask("show a.txt")


async def test_seed_000s_flow_with_a_classification_in_the_payload(database_url: str, tmp_path: Path) -> None:
    judged: dict[str, Any] = {
        "intent": "question",
        "summary": "User asks about server uptime",
        "plan": "Check server uptime with 'uptime' command",
        "needs_confirmation": False,
        "confidence": 0.92,
    }
    async with offline(database_url, tmp_path) as here:
        text, payload = "What's the server uptime?", {"classification": judged}
        assert "has been up for" in await here.ask(text, mode="EXECUTE", payload=payload)
