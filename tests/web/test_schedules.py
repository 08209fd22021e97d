"""Schedules over HTTP: made in words, paused, run, removed; reminders and memories are listed and removed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from laneway.domain.conversation import World
from laneway.store import conversations, memories, principals, reminders
from laneway.store.database import Database
from tests.web.conftest import Door

WEEKDAYS = {"when": "weekdays 09:00", "text": "check the disk and tell me above 80 %", "zone": "Europe/Berlin"}


async def add(door: Door, expected: int = 201, **more: Any) -> Any:
    return await door.post("/schedules", expected, json={**WEEKDAYS, **more})


async def test_a_schedule_is_made_in_plain_words_and_shows_its_next_five_times(own_door: Door) -> None:
    door = own_door
    made = await add(door, budget_usd=0.25, quiet="22:00-07:00")
    assert (made["name"], made["cron"], made["words"]) == ("check-the-disk-and", "0 9 * * 1-5", "weekdays 09:00")
    assert (made["budget_usd"], made["quiet_from"], made["quiet_to"]) == (0.25, "22:00:00", "07:00:00")
    assert len(made["coming"]) == 5
    assert made["coming"][0] == made["next_at"]
    assert all(moment.endswith("Z") for moment in made["coming"])
    assert await door.get(f"/schedules/{made['id']}") == await door.get("/schedules/check-the-disk-and")
    assert [one["name"] for one in (await door.get("/schedules"))["items"]] == ["check-the-disk-and"]


async def test_without_a_zone_it_is_the_owners(opened: Any) -> None:
    async with opened(zone="Asia/Kolkata") as door:
        made = await door.post("/schedules", 201, json={"when": "every day at 9", "text": "look"})
        assert made["zone"] == "Asia/Kolkata"
        assert made["next_at"].endswith("T03:30:00Z")


async def test_what_is_wrong_is_refused_with_what_to_do_and_nothing_is_kept(door: Door) -> None:
    before = await door.get("/schedules")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"when": "whenever"}, "not understood"), ({"when": "every day"}, "at what time"),
        ({"when": "61 * * * *"}, "cron"), ({"zone": "Mars/Base"}, "no time zone"), ({"quiet": "night"}, "quiet hours"),
        ({"name": "Ä b"}, "no name"), ({"text": "  "}, "no text"), ({"thread": "telegram/1"}, "no thread"),
    ]  # fmt: skip
    for wrong, says in cases:
        problem = await add(door, 404 if "thread" in wrong else 400, **wrong)
        assert says in problem["detail"]
        assert problem["hint"]
    fields: list[dict[str, Any]] = [{"budget_usd": -1}, {"text": "a\u0000b"}, {"colour": "red"}, {"when": 9}]
    for wrong in fields:
        response = await door.http.post("/schedules", json={**WEEKDAYS, **wrong})
        assert 400 <= response.status_code < 500
    assert await door.get("/schedules") == before


async def test_a_schedule_does_not_report_to_a_customer(door: Door) -> None:
    sent = await door.send("hello", sender={"id": "ann"})
    problem = await add(door, 403, thread=sent["thread_id"])
    assert "not to a customer" in problem["detail"]


async def test_it_is_paused_resumed_and_removed(door: Door) -> None:
    await add(door, name="disk")
    assert "already" in (await add(door, 409, name="disk"))["detail"]
    paused = await door.post("/schedules/disk/pause")
    assert (paused["paused"], paused["next_at"], paused["coming"]) == (True, None, [])
    assert (await door.post("/schedules/disk/pause"))["paused"] is True
    assert (await door.post("/schedules/disk/resume"))["next_at"] is not None
    assert (await door.delete("/schedules/disk"))["name"] == "disk"
    await door.get("/schedules/disk", 404)
    await door.post("/schedules/disk/dance", 400)


async def test_run_now_is_a_proactive_job_and_the_budget_goes_with_its_schedule(own_door: Door) -> None:
    door = own_door
    await add(door, name="disk", budget_usd=0.25)
    receipt = await door.post("/schedules/disk/run", 202)
    job = await door.until(receipt["job_id"])
    assert (job["scope"], job["lane"], job["status"]) == ("proactive", "tools", "done")
    assert (await door.get("/schedules/disk"))["last_job_id"] == receipt["job_id"]
    assert (await door.get(f"/messages/{receipt['message_id']}"))["text"] == WEEKDAYS["text"]
    assert await caps(door) == [("disk", 0.25)]
    await door.delete("/schedules/disk")
    assert await caps(door) == []


async def caps(door: Door) -> list[tuple[str, float]]:
    items = (await door.get("/budget"))["items"]
    return [(one["name"], one["measures"][0]["cap"]) for one in items if one["subject"] == "schedule"]


async def waiting(db: Database, text: str) -> None:
    async with db.transaction() as tx:
        owner = await principals.owner(tx)
        assert owner is not None
        thread = await conversations.ensure_thread(tx, "http", "main", owner)
        due = datetime.now(UTC) + timedelta(days=1)
        await reminders.add(tx, thread.id, text, due, words="in a day", zone="UTC")


async def test_reminders_are_listed_and_cancelled_once(own_door: Door, db: Database) -> None:
    door = own_door
    await waiting(db, "call Ann")
    await waiting(db, "call Bob")
    first = await door.get("/reminders", limit=1)
    assert [one["text"] for one in first["items"]] == ["call Bob"]
    second = await door.get("/reminders", limit=1, before=first["next"])
    assert [one["text"] for one in second["items"]] == ["call Ann"]
    anns = f"/reminders/{second['items'][0]['id']}"
    assert (await door.delete(anns))["state"] == "cancelled"
    await door.delete(anns, 409)
    await door.delete(f"/reminders/{uuid4()}", 404)
    assert [one["text"] for one in (await door.get("/reminders", state="pending"))["items"]] == ["call Bob"]


async def test_facts_are_listed_by_world_and_thread_and_removed(own_door: Door, db: Database) -> None:
    door = own_door
    mine = await door.send("hello", thread="main")
    anns = await door.send("hello", sender={"id": "ann"})
    async with db.transaction() as tx:
        for world, thread in ((World.OWNER, mine["thread_id"]), (World.CUSTOMER, anns["thread_id"])):
            text = f"a fact of the {world}"
            await memories.remember(tx, world, UUID(thread), text, key=None, source="a page", job_id=None)
    [owners] = (await door.get("/memories", world="owner"))["items"]
    assert (owners["text"], owners["source"], owners["world"]) == ("a fact of the owner", "a page", "owner")
    [customers] = (await door.get("/memories", thread=anns["thread_id"]))["items"]
    first = await door.get("/memories", limit=1)
    assert (await door.get("/memories", limit=1, before=first["next"]))["items"] == [owners]
    assert first["items"] == [customers]
    assert (await door.delete(f"/memories/{owners['id']}"))["text"] == "a fact of the owner"
    await door.delete(f"/memories/{owners['id']}", 404)
    assert (await door.get("/memories", world="owner"))["items"] == []
    await door.get("/memories", 404, thread=uuid4())
