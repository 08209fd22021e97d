"""The channel and its client against the Graph API on loopback, with a clock the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from laneway.channels.pacing import Pacer
from laneway.channels.whatsapp_cloud.channel import WhatsAppCloudChannel
from laneway.channels.whatsapp_cloud.composing import message, recipient
from laneway.channels.whatsapp_cloud.faults import WindowShut
from laneway.channels.whatsapp_cloud.graph import Graph
from laneway.channels.whatsapp_cloud.number import Number
from laneway.domain.conversation import Incoming, Role
from laneway.domain.judgement import OutboxRow, OutboxState
from laneway.errors import ModelFault, PermanentFault, TooLarge, TransientFault, UncertainFault
from laneway.store import conversations, intake, principals, whatsapp
from laneway.store.database import Database
from tests.channels.clocks import Time
from tests.servers import whatsapp_errors as errors
from tests.servers.whatsapp_server import (
    NUMBER_ID,
    SECRET,
    TOKEN,
    VERIFY,
    Cut,
    Fail,
    Order,
    Plain,
    Slow,
    WhatsAppServer,
)
from tests.whatsapp import until

KIM = "4915112345678"
NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


class Sender:
    """A channel with its own clock, and one customer who last wrote at twelve o'clock."""

    def __init__(self, db: Database, server: WhatsAppServer) -> None:
        self.db, self.clock = db, Time(NOW)
        number = Number(NUMBER_ID, TOKEN, SECRET, VERIFY, server.api, "note", "en", {"utility": Decimal("0.01")})
        pacer = Pacer(self.clock, self.clock.sleep)
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
async def sender(db: Database, server: WhatsAppServer) -> AsyncIterator[Sender]:
    server.templates["note"] = 1
    made = Sender(db, server)
    yield made
    await made.channel.close()


async def test_a_person_gets_a_few_at_once_and_then_one_in_six_seconds(server: WhatsAppServer, sender: Sender) -> None:
    row = await sender.heard()
    moments = []
    for _ in range(25):
        while True:
            try:
                await sender.send(row)
                break
            except TransientFault as fault:
                # Delivery comes back when it was told to.
                sender.clock.advance(fault.retry_after or 0)
        moments.append((sender.clock.now() - NOW).total_seconds())
    assert moments[9] == 0
    assert all(later - earlier >= 60 for earlier, later in zip(moments, moments[10:], strict=False))
    assert len(server.sent) == 25


async def test_the_window_is_open_for_a_day_or_until_refused(server: WhatsAppServer, sender: Sender) -> None:
    row = await sender.heard()
    for hours, kind in ((0, "text"), (23.9, "text"), (24.1, "template"), (200, "template")):
        sender.clock.advance(hours * 3600 - (sender.clock.now() - NOW).total_seconds())
        receipt = await sender.send(row)
        assert (server.sent[-1].body["type"], receipt.get("template")) == (kind, "note" if kind == "template" else None)
    with pytest.raises(PermanentFault, match="too long for the template note"):
        await sender.send(replace(row, text="word " * 400))
    server.shut.add(KIM)
    await sender.send(await sender.heard(sender.clock.now()))
    assert server.sent[-1].body["type"] == "template"


async def test_what_was_said_long_ago_and_what_is_no_message_open_nothing(db: Database, sender: Sender) -> None:
    # Stored now, but said before: Meta repeats webhooks for seven days.
    await sender.heard(NOW - timedelta(hours=25))
    await sender.heard(NOW - timedelta(hours=2), reaction=True)
    row = await sender.heard(NOW - timedelta(hours=1), system=True)
    async with db.transaction() as tx:
        assert not await whatsapp.window_open(tx, row.thread_id, NOW)
        await whatsapp.heard(tx, row.thread_id, NOW - timedelta(hours=1))
        assert await whatsapp.window_open(tx, row.thread_id, NOW)
        # What WhatsApp says of the window counts until the person writes again.
        await whatsapp.shut(tx, row.thread_id, NOW)
        assert not await whatsapp.window_open(tx, row.thread_id, NOW)
    await sender.heard(NOW + timedelta(minutes=5))
    async with db.transaction() as tx:
        assert await whatsapp.window_open(tx, row.thread_id, NOW + timedelta(minutes=6))


async def test_the_files_of_a_reply_go_before_its_text(server: WhatsAppServer, sender: Sender) -> None:
    files = [{"artifact": "artifact://sha256/ab", "name": "plan.pdf", "mime": "application/pdf"}]
    row = replace(await sender.heard(), meta={"files": files})
    await sender.send(row)
    first, second = server.sent
    assert first.body["document"]["filename"] == "plan.pdf"
    assert server.media[first.body["document"]["id"]].content == b"artifact://sha256/ab"
    assert second.text == "an answer"


@pytest.fixture
async def graph(server: WhatsAppServer) -> AsyncIterator[Graph]:
    client = Graph(server.api, TOKEN, NUMBER_ID)
    yield client
    await client.close()


def text(body: str = "hello") -> dict[str, Any]:
    return recipient(KIM) | message(body, ())


async def test_each_refusal_says_whether_to_try_again(server: WhatsAppServer, graph: Graph) -> None:
    cases: list[tuple[Order, type[ModelFault], float | None]] = [
        (Fail(errors.THROUGHPUT), TransientFault, 1.0),
        (Fail(errors.PAIR_RATE), TransientFault, 6.0),
        (Fail(errors.WENT_WRONG), TransientFault, None),
        (Fail(errors.OVERLOADED), TransientFault, None),
        (Fail(errors.BAD_TOKEN), TransientFault, 60.0),
        (Fail(errors.EXPIRED_TOKEN), TransientFault, 60.0),
        (Fail(errors.unknown_object("4915")), TransientFault, 60.0),
        (Fail(errors.WINDOW_SHUT), WindowShut, None),
        (Fail(errors.UNDELIVERABLE), PermanentFault, None),
        (Fail(errors.invalid("Button title")), PermanentFault, None),
        (Fail(errors.NO_TEMPLATE), PermanentFault, None),
        (Plain(503, {"retry-after": "17"}), TransientFault, 17.0),
        (Plain(429), TransientFault, None),
        (Plain(502), UncertainFault, None),
        (Plain(504), UncertainFault, None),
        (Plain(200), UncertainFault, None),
        (Cut(taken=True), UncertainFault, None),
        (Cut(taken=False), UncertainFault, None),
    ]
    wrong = []
    for order, kind, pause in cases:
        server.orders.append(order)
        with pytest.raises(ModelFault) as refused:
            await graph.send(text())
        assert TOKEN not in str(refused.value)
        if (type(refused.value), refused.value.retry_after) != (kind, pause):
            wrong.append(f"{order}: {refused.value!r}, {refused.value.retry_after}")
    assert not wrong, "\n".join(wrong)


async def test_no_answer_leaves_it_uncertain_and_a_server_that_is_gone_took_nothing(server: WhatsAppServer) -> None:
    with WhatsAppServer() as gone:
        nowhere = Graph(gone.api, TOKEN, NUMBER_ID)
    with pytest.raises(TransientFault):
        await nowhere.send(text())
    await nowhere.close()
    client = Graph(server.api, TOKEN, NUMBER_ID, seconds=0.7)
    server.orders.append(Slow(60))
    with pytest.raises(UncertainFault) as late:
        await client.send(text())
    await client.close()
    assert late.value.retry_after is None
    await until(lambda: len(server.sent) == 1)


async def test_a_file_is_looked_up_and_downloaded_with_the_token(server: WhatsAppServer, graph: Graph) -> None:
    content = bytes(range(256)) * 50
    media_id = server.add_media(content, "audio/ogg")
    server.url_seconds = 0
    with pytest.raises(TransientFault, match="no longer valid"):
        await graph.download(media_id, 100_000)
    server.url_seconds = 300
    assert await graph.download(media_id, 100_000) == content
    for name, fault in ((media_id, TooLarge), ("123456", TransientFault), ("../../me", PermanentFault)):
        with pytest.raises(fault):
            await graph.download(name, 1000)
