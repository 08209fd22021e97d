"""What becomes of a reply on WhatsApp: after a day, when it is refused later, how far it got, and what it cost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from laneway.lanes.tools import ToolEntry
from laneway.lanes.tools.entry import success
from laneway.llm.scripted import Call
from tests.journeys.redis_queue import until as until_true
from tests.journeys.tooling import Start, calls
from tests.servers import whatsapp_errors as errors
from tests.whatsapp import KIM, OWNER, Desk, until


@pytest.mark.parametrize("template", ["note", ""])
async def test_after_a_day_a_reply_goes_out_as_a_template_or_its_owner_is_told(
    whatsapp: Start[Desk], template: str
) -> None:
    go = asyncio.Event()

    async def wait() -> dict[str, Any]:
        """Takes as long as the test wants."""
        await go.wait()
        return success("waited")

    script = calls(Call("wait", {}), then="Your **order**\n\nis ready.")
    async with whatsapp(script, ToolEntry(wait), whatsapp_template=template) as here:
        here.server.templates["note"] = 1
        here.server.shut.add(OWNER)
        await here.door.send("hello", "desk")
        await here.say(OWNER, "what about my order?")
        await until(lambda: len(here.server.read) == 1)
        async with here.db.transaction() as tx:
            await tx.execute(
                "UPDATE messages SET created_at = created_at - interval '25 hours', meta = meta || jsonb_build_object("
                "'said_at', (meta->>'said_at')::timestamptz - interval '25 hours') "
                "WHERE author = 'user' AND channel = 'whatsapp'"
            )
        go.set()
        if template:
            (sent,) = await here.sent(1)
            assert (sent.body["template"]["name"], sent.text) == ("note", "Your *order* · is ready.")
        else:
            [lost] = await here.listed("undeliverable")
            assert "more than 24 hours ago" in lost["error"]
            assert here.server.sent == []
            assert "could not be delivered" in (await here.door.http.get("/messages")).text


async def test_a_refusal_that_comes_later_sends_the_template_after_all(whatsapp: Start[Desk]) -> None:
    async with whatsapp(whatsapp_template="note") as here:
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


async def test_a_status_that_comes_before_its_message_is_on_record_waits_for_it(whatsapp: Start[Desk]) -> None:
    async with whatsapp() as here:
        early = here.meta.status("wamid.nobodys", "delivered")
        assert (await here.meta.tell(here.http, early)).status_code == 200
        await here.say(KIM, "what time is it?")
        (sent,) = await here.sent(1)
        await here.listed("sent")
        async with here.db.transaction() as tx:
            await tx.execute("UPDATE deliveries SET external_id = 'wamid.nobodys' WHERE external_id = %s", (sent.id,))

        async def arrived() -> bool:
            async with here.db.transaction() as tx:
                cursor = await tx.execute("SELECT status, (SELECT count(*) FROM whatsapp_early) FROM deliveries")
                return await cursor.fetchone() == ("delivered", 0)

        await until_true(arrived)


async def test_statuses_only_get_further_and_a_failure_is_listed_until_the_reply_arrives_after_all(
    whatsapp: Start[Desk],
) -> None:
    async with whatsapp() as here:
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

        async def status() -> str:
            async with here.db.transaction() as tx:
                [row] = await (await tx.execute("SELECT status FROM deliveries")).fetchall()
                return str(row[0])

        for told, then in [("delivered", "delivered"), ("read", "read"), ("sent", "read"), ("played", "played")]:
            assert (await here.meta.tell(here.http, here.meta.status(sent.id, told))).status_code == 200
            assert await status() == then
        await here.meta.tell(here.http, failed)
        assert await status() == "played"
        assert await here.outbox("undeliverable") == []


async def test_what_messages_cost_is_in_the_ledger_once_and_what_failed_costs_nothing(whatsapp: Start[Desk]) -> None:
    due = {"billable": True, "pricing_model": "PMP", "category": "utility", "type": "regular"}
    free = {"billable": False, "pricing_model": "PMP", "category": "service", "type": "free_customer_service"}
    async with whatsapp(whatsapp_fees={"utility": 0.0043}) as here:

        async def fees() -> list[tuple[str, float, str]]:
            async with here.db.transaction() as tx:
                query = "SELECT model, cost::float8, state FROM token_ledger WHERE provider = 'whatsapp' ORDER BY id"
                return [(row[0], row[1], row[2]) for row in await (await tx.execute(query)).fetchall()]

        await here.say(KIM, "what time is it?")
        await here.say(KIM, "and now?")
        first, second = await here.sent(2)
        await here.listed("sent", 2)
        await here.meta.tell(here.http, here.meta.status(first.id, "sent", pricing=free))
        assert await fees() == []
        for status in ("sent", "delivered", "read", "delivered"):
            await here.meta.tell(here.http, here.meta.status(first.id, status, pricing=due))
        assert await fees() == [("utility", 0.0043, "settled")]
        sent = here.meta.status(second.id, "sent", pricing=due)
        failed = here.meta.status(second.id, "failed", errors=[errors.UNDELIVERABLE.as_status()])
        # Statuses come in any order, so the last one may be older than the failure.
        for told in (sent, failed, sent):
            await here.meta.tell(here.http, told)
        assert await fees() == [("utility", 0.0043, "settled"), ("utility", 0.0, "released")]
        assert "whatsapp" in (await here.door.http.get("/ledger", params={"by": "provider"})).text
