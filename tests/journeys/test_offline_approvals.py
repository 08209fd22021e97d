"""What a person answers, or does not, counts the same when no model key is set."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg

from laneway.app import Parts
from tests.journeys.tooling import Door, too_late
from tests.serving import serving

ORDER = "delete the file notes.txt"


@asynccontextmanager
async def without_a_key(database_url: str, home: Path) -> AsyncIterator[Door]:
    async with (
        serving(database_url, home, Parts()) as served,
        httpx.AsyncClient(base_url=served.url, headers={"Authorization": f"Bearer {served.key}"}, timeout=30) as http,
    ):
        yield Door(served, http)


def notes_of(home: Path, receipt: dict[str, Any]) -> Path:
    notes = home / "workspaces" / str(receipt["thread_id"]) / "notes.txt"
    notes.parent.mkdir(parents=True, exist_ok=True)
    notes.write_text("kept")
    return notes


async def test_nobody_answers_and_nothing_is_done(database_url: str, tmp_path: Path) -> None:
    async with without_a_key(database_url, tmp_path) as here:
        receipt = await here.send(ORDER)
        await here.approval(receipt["job_id"])
        notes = notes_of(tmp_path, receipt)
        await too_late(database_url)
        await here.until(receipt["job_id"])
        assert "nobody answered in time" in (await here.replies(receipt["message_id"]))[-1]
    assert notes.exists()


async def test_a_stranger_answers_and_nothing_is_done(database_url: str, tmp_path: Path) -> None:
    async with without_a_key(database_url, tmp_path) as here:
        receipt = await here.send(ORDER)
        asked = await here.approval(receipt["job_id"])
        notes = notes_of(tmp_path, receipt)
        async with httpx.AsyncClient(base_url=here.served.url, timeout=30) as stranger:
            answer = await stranger.post(f"/approvals/{asked['id']}", json={"answer": "approve"})
        assert answer.status_code == 401
        assert (await here.job(receipt["job_id"]))["status"] == "waiting"
    assert notes.exists()


async def test_changed_arguments_are_asked_for_anew(database_url: str, tmp_path: Path) -> None:
    async with without_a_key(database_url, tmp_path) as here:
        receipt = await here.send(ORDER)
        asked = await here.approval(receipt["job_id"])
        notes = notes_of(tmp_path, receipt)
        with psycopg.connect(database_url) as connection:
            connection.execute(
                "UPDATE pauses SET messages = replace(messages::text, %s, %s)::jsonb WHERE job_id = %s",
                ("notes.txt", "other.txt", receipt["job_id"]),
            )
        await here.answer(asked["id"])
        once_more = await here.approval(receipt["job_id"])
        assert once_more["action"]["arguments"] == {"path": "other.txt"}
    assert notes.exists()
