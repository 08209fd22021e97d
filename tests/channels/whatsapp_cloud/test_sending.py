"""The channel itself: pace, windows, files and courtesies, with a clock the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from laneway.channels.contract import SENT_AGAIN
from laneway.channels.pacing import Pacer
from laneway.channels.whatsapp_cloud.channel import WhatsAppCloudChannel
from laneway.channels.whatsapp_cloud.number import Number
from laneway.clock import FakeClock
from laneway.domain.conversation import Incoming, Role
from laneway.domain.judgement import OutboxRow, OutboxState
from laneway.errors import PermanentFault, TransientFault
from laneway.store import conversations, intake, principals, whatsapp
from laneway.store.database import Database
from tests.servers.whatsapp_server import NUMBER_ID, SECRET, TOKEN, VERIFY, Plain, WhatsAppServer
from tests.whatsapp import until

KIM = "4915112345678"
NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


@pytest.fixture
def server() -> Iterator[WhatsAppServer]:
    with WhatsAppServer() as running:
        running.templates["note"] = 1
        yield running


class Sender:
    """A channel with its own clock, and one customer who last wrote at twelve o'clock."""

    def __init__(self, db: Database, server: WhatsAppServer, template: str = "") -> None:
        self.db, self.clock, self.slept = db, FakeClock(NOW), list[float]()
        number = Number(NUMBER_ID, TOKEN, SECRET, VERIFY, server.api, template, "en", {"utility": Decimal("0.01")})

        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            self.clock.advance(seconds)

        pacer = Pacer(self.clock, sleep)
        self.channel = WhatsAppCloudChannel(db, number, clock=self.clock, pacer=pacer, original=self._original)

    async def _original(self, ref: str) -> bytes:
        return ref.encode()

    async def heard(self, at: datetime = NOW, **meta: Any) -> OutboxRow:
        """A reply to somebody who wrote at this time."""
        async with self.db.transaction() as tx:
            kim = await principals.by_address(tx, f"whatsapp:{KIM}", Role.CUSTOMER, "Kim")
            said = Incoming(
                "whatsapp", str(kim.id), f"wamid.{at}", "hello", kim, meta={"said_at": at.isoformat(), **meta}
            )
            await intake.write(tx, said)
            thread = await conversations.thread_on(tx, "whatsapp", str(kim.id))
        assert thread is not None
        return OutboxRow(1, thread.id, thread.id, "whatsapp", str(kim.id), "an answer", OutboxState.SENDING, 1, False,
                         None, NOW, None, {}, KIM, 0)  # fmt: skip

    async def send(self, row: OutboxRow, again: bool = False) -> dict[str, Any]:
        receipt = {}
        for part in self.channel.parts(row):
            receipt = await self.channel.send(row, part, again)
        return receipt


@pytest.fixture
async def plain(db: Database, server: WhatsAppServer) -> AsyncIterator[Sender]:
    made = Sender(db, server)
    yield made
    await made.channel.close()


@pytest.fixture
async def with_template(db: Database, server: WhatsAppServer) -> AsyncIterator[Sender]:
    made = Sender(db, server, "note")
    yield made
    await made.channel.close()


async def test_a_person_gets_a_few_messages_at_once_and_then_one_in_six_seconds(
    server: WhatsAppServer, plain: Sender
) -> None:
    row = await plain.heard()
    moments = []
    for _ in range(25):
        while True:
            try:
                await plain.send(row)
                break
            except TransientFault as fault:
                # Delivery comes back when it was told to.
                plain.clock.advance(fault.retry_after or 0)
        moments.append((plain.clock.now() - NOW).total_seconds())
    assert moments[9] == 0
    assert all(later - earlier >= 60 for earlier, later in zip(moments, moments[10:], strict=False))
    assert len(server.sent) == 25


async def test_the_number_sends_no_more_than_eighty_messages_a_second(server: WhatsAppServer, plain: Sender) -> None:
    row = await plain.heard()
    for person in range(100):
        await plain.send(replace(row, address=str(4915100000000 + person)))
    assert len(server.sent) == 100
    assert sum(plain.slept) == pytest.approx(1.0)


@pytest.mark.parametrize(("hours", "is_open"), [(0, True), (23.9, True), (24.1, False), (200, False)])
async def test_the_window_is_open_for_a_day_after_the_last_message(
    server: WhatsAppServer, with_template: Sender, hours: float, is_open: bool
) -> None:
    row = await with_template.heard()
    with_template.clock.advance(hours * 3600)
    receipt = await with_template.send(row)
    assert server.sent[0].body["type"] == ("text" if is_open else "template")
    assert receipt.get("template") == (None if is_open else "note")


async def test_a_message_that_took_a_day_to_arrive_opens_nothing(db: Database, plain: Sender) -> None:
    # Stored now, but said before: Meta repeats webhooks for seven days.
    row = await plain.heard(NOW - timedelta(hours=25))
    async with db.transaction() as tx:
        assert not await whatsapp.window_open(tx, row.thread_id, NOW)
        await whatsapp.heard(tx, row.thread_id, NOW - timedelta(hours=1))
        assert await whatsapp.window_open(tx, row.thread_id, NOW)


async def test_reactions_and_news_of_the_number_open_nothing(db: Database, plain: Sender) -> None:
    await plain.heard(NOW - timedelta(hours=30))
    await plain.heard(NOW - timedelta(hours=2), reaction=True)
    row = await plain.heard(NOW - timedelta(hours=1), system=True)
    async with db.transaction() as tx:
        assert not await whatsapp.window_open(tx, row.thread_id, NOW)


async def test_what_whatsapp_says_of_the_window_counts_until_the_person_writes_again(
    db: Database, plain: Sender
) -> None:
    row = await plain.heard(NOW - timedelta(hours=1))
    async with db.transaction() as tx:
        await whatsapp.shut(tx, row.thread_id, NOW)
        assert not await whatsapp.window_open(tx, row.thread_id, NOW)
    await plain.heard(NOW + timedelta(minutes=5))
    async with db.transaction() as tx:
        assert await whatsapp.window_open(tx, row.thread_id, NOW + timedelta(minutes=6))


async def test_a_refusal_by_whatsapp_is_followed_by_the_template_at_once(
    server: WhatsAppServer, with_template: Sender
) -> None:
    server.shut.add(KIM)
    await with_template.send(await with_template.heard())
    assert [one.body["type"] for one in server.sent] == ["template"]


async def test_a_reply_too_long_for_the_template_is_undeliverable(with_template: Sender) -> None:
    row = await with_template.heard(NOW - timedelta(days=2))
    with pytest.raises(PermanentFault, match="too long for the template note"):
        await with_template.send(replace(row, text="word " * 400))


async def test_what_is_sent_again_says_so_and_still_fits(server: WhatsAppServer, plain: Sender) -> None:
    row = replace(await plain.heard(), text="x" * 4030)
    await plain.send(row, again=True)
    assert server.sent[0].text.startswith(SENT_AGAIN)


async def test_the_files_of_a_reply_go_before_its_text(server: WhatsAppServer, plain: Sender) -> None:
    files = [{"artifact": "artifact://sha256/ab", "name": "plan.pdf", "mime": "application/pdf"}]
    row = replace(await plain.heard(), meta={"files": files})
    await plain.send(row)
    first, second = server.sent
    assert first.body["document"]["filename"] == "plan.pdf"
    assert server.media[first.body["document"]["id"]].content == b"artifact://sha256/ab"
    assert second.text == "an answer"


async def test_somebody_without_an_address_cannot_be_written_to(plain: Sender) -> None:
    with pytest.raises(PermanentFault, match="address"):
        await plain.send(replace(await plain.heard(), address=""))


async def test_the_provider_is_asked_whether_it_answers(server: WhatsAppServer, plain: Sender) -> None:
    await plain.channel.check()
    server.down = True
    with pytest.raises(TransientFault):
        await plain.channel.check()


async def test_courtesies_that_fail_hurt_nobody(server: WhatsAppServer, plain: Sender) -> None:
    server.orders.append(Plain(500))
    await plain.channel.tell(KIM, "This assistant is private.")
    await plain.channel.tell(KIM, "**Really**.")
    await until(lambda: len(server.sent) == 1)
    await asyncio.sleep(0.05)
    assert server.sent[0].text in ("This assistant is private.", "*Really*.")
