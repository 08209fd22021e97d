"""What Laneway does of its own accord, through the HTTP door: schedules that speak only when they must, reminders."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import psycopg

from laneway.app import Parts
from laneway.llm.offline import OfflineModel
from laneway.llm.scripted import Asked, Call, Say
from laneway.llm.single import only
from tests.serving import scripted
from tests.web.conftest import Door, Open


async def due_now(database_url: str) -> None:
    """Every schedule's time has come."""
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        await connection.execute("UPDATE schedules SET next_at = now()")
        await connection.execute("SELECT pg_notify('laneway_due', '')")


async def ran(door: Door, count: int = 1) -> list[Any]:
    """The proactive jobs, once there are `count` and all have ended."""
    async with asyncio.timeout(30):
        while True:
            found = [job for job in (await door.get("/jobs"))["items"] if job["scope"] == "proactive"]
            if len(found) >= count and all(job["status"] in ("done", "failed") for job in found):
                return found[::-1]
            await asyncio.sleep(0.05)


async def said(door: Door) -> list[str]:
    items = (await door.get("/messages"))["items"]
    return [one["text"] for one in items[::-1] if one["author"] == "assistant"]


async def add(door: Door, **more: Any) -> Any:
    order = {"when": "0 9 29 2 *", "text": "check the disk and tell me above 80 %", "name": "disk", **more}
    return await door.post("/schedules", 201, json=order)


async def test_a_schedule_looks_with_tools_and_speaks_only_when_there_is_something_to_say(
    opened: Open, database_url: str
) -> None:
    answers = iter(["NOTHING", "The disk is 91 % full."])

    def look(turn: Asked) -> Any:
        return Call("server_info", {"topics": ["disk"]}) if turn.turn == 0 else Say(next(answers))

    async with opened(scripted(look)) as door:
        await add(door)
        await due_now(database_url)
        [quiet] = await ran(door)
        assert (quiet["status"], quiet["result"]["reply"]) == ("done", "NOTHING")
        assert quiet["result"]["tool_calls"] == ["server_info"]
        assert await said(door) == []
        await due_now(database_url)
        await ran(door, 2)
        assert await said(door) == ["The disk is 91 % full."]
        [spent] = (await door.get("/ledger", by="scope"))["items"]
        assert (spent["key"], spent["calls"]) == ("proactive", 4)


async def test_without_a_key_a_schedule_looks_compares_and_speaks_only_above_its_limit(opened: Open) -> None:
    calm, loud = "check the disk and tell me above 100 %", "check the disk and memory and tell me above 0 %"
    async with opened(Parts(models=lambda db: only(OfflineModel(), db))) as door:
        await add(door, name="calm", text=calm)
        await door.post("/schedules/calm/run", 202)
        [quiet] = await ran(door)
        assert (quiet["status"], quiet["result"]["reply"]) == ("done", "NOTHING")
        assert quiet["result"]["tool_calls"] == ["server_info"]
        assert await said(door) == []
        await add(door, name="loud", text=loud)
        await door.post("/schedules/loud/run", 202)
        await ran(door, 2)
        [message] = await said(door)
        assert re.fullmatch(r"(The disk at .+|Memory) is [\d.]+ % (full|used).*, above 0 %\.", message)
        await add(door)
        await door.post("/schedules/disk/run", 202)
        reply = (await ran(door, 3))[-1]["result"]["reply"]
        assert reply == "NOTHING" or reply.endswith(", above 80 %."), "the words of the manual"
        await door.ask(calm)
        assert (await said(door))[-1].endswith(", not above 100 %."), "a person who asks is answered"


async def test_a_scheduled_run_does_not_take_the_owners_open_question_away(opened: Open, database_url: str) -> None:
    def act(turn: Asked) -> Any:
        wanted = Call("remember", {"fact": "the door is green"})
        return wanted if turn.turn == 0 and "door" in turn.text else Say("NOTHING")

    async with opened(scripted(act)) as door:
        classification = {"intent": "command", "summary": "Remember it.", "plan": "", "needs_confirmation": True}
        asked = await door.send("the door is green", mode="EXECUTE", payload={"classification": classification})
        await door.until(asked["job_id"], "waiting")
        await add(door)
        await due_now(database_url)
        await ran(door)
        assert (await door.get(f"/jobs/{asked['job_id']}"))["status"] == "waiting"
