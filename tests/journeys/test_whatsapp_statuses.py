"""What becomes of a reply on WhatsApp: after a day, when it is refused later, how far it got, and what it cost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from laneway.lanes.tools import ToolEntry
from laneway.lanes.tools.entry import success
from laneway.llm.scripted import Asked, Call, Say, Turn
from tests.servers import whatsapp_errors as errors
from tests.whatsapp import KIM, OWNER, Desk, desk, until


async def forget(here: Desk, hours: float) -> None:
    """Everything that was said was said so many hours earlier."""
    async with here.db.transaction() as tx:
        await tx.execute(
            "UPDATE messages SET created_at = created_at - make_interval(hours => %(h)s), meta = meta || "
            "jsonb_build_object('said_at', (meta->>'said_at')::timestamptz - make_interval(hours => %(h)s)) "
            "WHERE author = 'user' AND channel = 'whatsapp'",
            {"h": hours},
        )


class Late:
    """A model that answers only after a tool that takes as long as the test wants."""

    def __init__(self, text: str = "Your **order**\n\nis ready.") -> None:
        self.text, self.go = text, asyncio.Event()

    def script(self, asked: Asked) -> Turn:
        return Call("wait", {}) if not asked.turn else Say(self.text)

    @property
    def entry(self) -> ToolEntry:
        async def wait() -> dict[str, Any]:
            """Waits."""
            await self.go.wait()
            return success("waited")

        return ToolEntry(wait)


async def a_day_later(here: Desk, late: Late) -> None:
    await here.door.send("hello", "desk")
    await here.say(OWNER, "what about my order?")
    await until(lambda: len(here.server.read) == 1)
    await forget(here, 25)
    late.go.set()


async def test_after_a_day_a_reply_goes_out_as_a_template(database_url: str, tmp_path: Path) -> None:
    late = Late()
    async with desk(database_url, tmp_path, late.script, late.entry, whatsapp_template="note") as here:
        here.server.templates["note"] = 1
        here.server.shut.add(OWNER)
        await a_day_later(here, late)
        (sent,) = await here.sent(1)
        assert sent.body["template"]["name"] == "note"
        assert sent.text == "Your *order* · is ready."


async def test_after_a_day_without_a_template_the_owner_is_told(database_url: str, tmp_path: Path) -> None:
    late = Late()
    async with desk(database_url, tmp_path, late.script, late.entry) as here:
        here.server.shut.add(OWNER)
        await a_day_later(here, late)
        lost = await here.listed("undeliverable")
        assert "more than 24 hours ago" in lost[0]["error"]
        assert here.server.sent == []
        notes = (await here.door.http.get("/messages", params={"limit": 100})).json()["items"]
        assert any("could not be delivered" in one["text"] for one in notes)


async def test_a_refusal_that_comes_later_sends_the_template_after_all(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path, whatsapp_template="note") as here:
        here.server.templates["note"] = 1
        here.server.shut.add(KIM)
        here.server.late_refusals = True
        await here.say(KIM, "what time is it?")
        (first,) = await here.sent(1)
        assert first.body["type"] == "text"
        await here.listed("sent")
        assert (await here.meta.tell(here.http, *here.server.late)).status_code == 200
        _, second = await here.sent(2)
        assert second.body["type"] == "template"
        assert second.text == first.text
        assert await here.outbox("undeliverable") == []


async def test_statuses_only_get_further_and_a_failure_is_listed(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path) as here:
        await here.door.send("hello", "desk")
        await here.say(KIM, "what time is it?")
        (sent,) = await here.sent(1)
        (reply,) = await here.listed("sent")

        async def status() -> tuple[str, str]:
            async with here.db.transaction() as tx:
                cursor = await tx.execute(
                    "SELECT status, coalesce(error, '') FROM deliveries WHERE external_id = %s", (sent.id,)
                )
                row = await cursor.fetchone()
                assert row is not None
                return row[0], row[1]

        for told, then in [("read", "read"), ("delivered", "read"), ("sent", "read"), ("played", "played")]:
            assert (await here.meta.tell(here.http, here.meta.status(sent.id, told))).status_code == 200
            assert await status() == (then, "")
        failed = here.meta.status(sent.id, "failed", errors=[errors.UNDELIVERABLE.as_status()])
        await here.meta.tell(here.http, failed)
        assert (await status())[0] == "played"
        assert [one["id"] for one in await here.outbox("sent")] == [reply["id"]]


async def test_a_reply_that_failed_is_undeliverable_until_it_arrives_after_all(
    database_url: str, tmp_path: Path
) -> None:
    async with desk(database_url, tmp_path) as here:
        await here.door.send("hello", "desk")
        await here.say(KIM, "what time is it?")
        (sent,) = await here.sent(1)
        await here.listed("sent")
        failed = here.meta.status(sent.id, "failed", errors=[errors.UNDELIVERABLE.as_status()])
        await here.meta.tell(here.http, failed, failed)
        (lost,) = await here.outbox("undeliverable")
        assert "cannot be reached on WhatsApp (131026)" in lost["error"]
        notes = (await here.door.http.get("/messages", params={"limit": 100})).json()["items"]
        assert sum("could not be delivered" in one["text"] for one in notes) == 1
        await here.meta.tell(here.http, here.meta.status(sent.id, "delivered"))
        assert await here.outbox("undeliverable") == []


async def test_a_status_that_comes_before_its_message_is_on_record_waits_for_it(
    database_url: str, tmp_path: Path
) -> None:
    async with desk(database_url, tmp_path) as here:
        early = here.meta.status("wamid.nobodys", "delivered")
        assert (await here.meta.tell(here.http, early)).status_code == 200
        await here.say(KIM, "what time is it?")
        (sent,) = await here.sent(1)
        await here.listed("sent")
        async with here.db.transaction() as tx:
            await tx.execute("UPDATE deliveries SET external_id = 'wamid.nobodys' WHERE external_id = %s", (sent.id,))
        async with asyncio.timeout(30):
            while True:
                async with here.db.transaction() as tx:
                    cursor = await tx.execute("SELECT status, (SELECT count(*) FROM whatsapp_early) FROM deliveries")
                    if await cursor.fetchone() == ("delivered", 0):
                        break
                await asyncio.sleep(0.05)


async def test_what_messages_cost_is_in_the_ledger_once(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path, whatsapp_fees={"utility": 0.0043}) as here:
        await here.say(KIM, "what time is it?")
        (sent,) = await here.sent(1)
        await here.listed("sent")
        due = {"billable": True, "pricing_model": "PMP", "category": "utility", "type": "regular"}
        free = {"billable": False, "pricing_model": "PMP", "category": "service", "type": "free_customer_service"}

        async def fees() -> list[tuple[str, str, str]]:
            async with here.db.transaction() as tx:
                cursor = await tx.execute(
                    "SELECT model, cost::float8::text, state FROM token_ledger WHERE provider = 'whatsapp'"
                )
                return [(row[0], row[1], row[2]) for row in await cursor.fetchall()]

        await here.meta.tell(here.http, here.meta.status(sent.id, "sent", pricing=free))
        assert await fees() == []
        for status in ("sent", "delivered", "read", "delivered"):
            await here.meta.tell(here.http, here.meta.status(sent.id, status, pricing=due))
        assert await fees() == [("utility", "0.0043", "settled")]
        by = (await here.door.http.get("/ledger", params={"by": "provider"})).json()
        assert "whatsapp" in str(by)


async def test_a_message_that_failed_costs_nothing(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path, whatsapp_fees={"utility": 0.0043}) as here:
        await here.say(KIM, "what time is it?")
        (sent,) = await here.sent(1)
        await here.listed("sent")
        due = {"billable": True, "pricing_model": "PMP", "category": "utility", "type": "regular"}
        failed = here.meta.status(sent.id, "failed", errors=[errors.UNDELIVERABLE.as_status()])
        await here.meta.tell(here.http, here.meta.status(sent.id, "sent", pricing=due))
        await here.meta.tell(here.http, failed)
        # Statuses come in any order, so this one may be older than the failure.
        await here.meta.tell(here.http, here.meta.status(sent.id, "sent", pricing=due))
        async with here.db.transaction() as tx:
            cursor = await tx.execute("SELECT state, cost FROM token_ledger WHERE provider = 'whatsapp'")
            assert await cursor.fetchall() == [("released", 0)]
