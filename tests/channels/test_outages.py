"""Each provider is away for an hour, by its own server and our own client: a thousand replies arrive, in order."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import pytest

from laneway.channels.contract import Channel
from laneway.channels.delivery import Delivery
from laneway.channels.pacing import Pacer
from laneway.channels.telegram.api import make_bot
from laneway.channels.telegram.channel import TelegramChannel
from laneway.channels.waha.channel import Waha
from laneway.channels.waha.client import Bridge
from laneway.channels.waha.pace import Manner
from laneway.channels.waha.watch import Rhythm
from laneway.channels.whatsapp_cloud.channel import WhatsAppCloudChannel
from laneway.channels.whatsapp_cloud.number import Number
from laneway.domain.conversation import Incoming, Role
from laneway.domain.judgement import OutboxState
from laneway.store import intake, jobs, outbox, principals
from laneway.store.database import Database
from tests.channels.telegram.test_channel import Time
from tests.servers.telegram_server import Fail, TelegramServer
from tests.servers.waha_server import WahaServer
from tests.servers.whatsapp_server import NUMBER_ID, SECRET, TOKEN, VERIFY, WhatsAppServer

REPLIES, PEOPLE, MINUTES = 1000, 20, 60
Taken = Mapping[str, list[str]]


@dataclass
class Side:
    """A provider that can be away, how we reach it, and what it took, by the address it was sent to."""

    channel: Channel
    address: Callable[[int], str]
    away: Callable[[bool], None]
    taken: Callable[[], list[tuple[str, str]]]
    asked: Callable[[], int]

    def by_address(self) -> Taken:
        found: dict[str, list[str]] = defaultdict(list)
        for address, text in self.taken():
            found[address].append(text)
        return found


@contextmanager
def telegram(db: Database, time: Time) -> Iterator[Side]:
    with TelegramServer() as server:
        for number in range(PEOPLE):
            server.world.chat(100 + number)
        channel = TelegramChannel(make_bot(server.token, server.url), Pacer(time, time.sleep))

        def away(yes: bool) -> None:
            server.orders.outage = Fail(502) if yes else None

        yield Side(
            channel, lambda number: str(100 + number), away,
            lambda: [(str(message.chat.id), message.text) for message in server.world.shown()],
            lambda: len(server.called("sendMessage")),
        )  # fmt: skip


@contextmanager
def whatsapp(db: Database, time: Time) -> Iterator[Side]:
    with WhatsAppServer() as server:
        number = Number(NUMBER_ID, TOKEN, SECRET, VERIFY, server.api, "", "en", {})
        channel = WhatsAppCloudChannel(db, number, clock=time, pacer=Pacer(time, time.sleep))

        def away(yes: bool) -> None:
            server.down = yes

        yield Side(
            channel, lambda number: f"49151000{number:04}", away,
            lambda: [(sent.to, sent.text) for sent in server.sent], lambda: len(server.requests),
        )  # fmt: skip


@contextmanager
def waha(db: Database, time: Time) -> Iterator[Side]:
    with WahaServer() as server:
        at_once = Manner(character=0, least=0, most=0, rest=0, apart=0)
        bridge = Bridge(server.url, server.api_key, server.session)
        channel = Waha(db, bridge, server.hmac_key, at_once, Rhythm(), time)

        def away(yes: bool) -> None:
            server.status = "FAILED" if yes else "WORKING"

        yield Side(
            channel, lambda number: f"49151000{number:04}@c.us", away,
            lambda: [(sent["chatId"], sent["text"]) for sent in server.sent], lambda: len(server.asked),
        )  # fmt: skip


async def write(db: Database, time: Time, side: Side, first: int, count: int) -> None:
    """Replies with the next numbers wait in the outbox, each person's in order."""
    name = side.channel.name
    async with db.transaction() as tx:
        for number in range(first, first + count):
            address = side.address(number % PEOPLE)
            person = await principals.by_address(tx, f"{name}:{address}", Role.CUSTOMER, address)
            thread = address if name == "telegram" else str(person.id)
            meta = {"said_at": time.now().isoformat()}
            said = Incoming(name, thread, f"m-{number}", "and?", person, meta=meta)
            job = await jobs.get(tx, (await intake.write(tx, said)).job_id)
            await outbox.write_reply(tx, job, f"{number:04}", key="answer", pulled=(), meta={})


async def tried(time: Time, side: Side, delivery: Delivery) -> None:
    """The provider was asked for everybody while it was away; on a busy machine that takes longer than its hour."""
    async with asyncio.timeout(30):
        while side.asked() < PEOPLE:
            time.advance(10)
            delivery.look()
            await asyncio.sleep(0.05)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("provider", [telegram, whatsapp, waha], ids=["telegram", "whatsapp", "waha"])
async def test_after_an_hour_without_the_provider_a_thousand_replies_arrive_once_each_and_in_order(
    db: Database, provider: Callable[[Database, Time], AbstractContextManager[Side]]
) -> None:
    time = Time()
    with provider(db, time) as side:
        side.away(True)
        delivery = Delivery(db, "w-test", {side.channel.name: side.channel}, lambda name: None, time)
        task = asyncio.create_task(delivery.keep_delivering())
        began, written = time.now(), 0
        for minute in range(1, MINUTES + 1):
            count = REPLIES * minute // MINUTES - written
            await write(db, time, side, written, count)
            written += count
            time.advance(60)
            delivery.look()
            await asyncio.sleep(0.01)
        assert (time.now() - began).total_seconds() >= 3600
        await tried(time, side, delivery)
        assert side.taken() == []
        side.away(False)
        async with asyncio.timeout(240):
            while len(side.taken()) < REPLIES:
                time.advance(10)
                delivery.look()
                await asyncio.sleep(0.05)
        await delivery.stop(20)
        await task
        async with db.transaction() as tx:
            rows = await outbox.page(tx, limit=2 * REPLIES)
        found = side.by_address()
        await side.channel.close()
    assert [row.state for row in rows] == [OutboxState.SENT] * REPLIES
    for number in range(PEOPLE):
        assert found[side.address(number)] == [f"{one:04}" for one in range(number, REPLIES, PEOPLE)]
    assert sum(map(len, found.values())) == REPLIES
