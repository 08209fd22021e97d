"""The outbox through Telegram: through outages, cut connections and moved groups, each reply arrives, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from laneway.channels.contract import SENT_AGAIN
from laneway.channels.delivery import Delivery
from laneway.channels.intake import Intake, Limits
from laneway.channels.pacing import Pacer
from laneway.channels.telegram.api import make_bot
from laneway.channels.telegram.channel import TelegramChannel
from laneway.domain.conversation import Incoming
from laneway.domain.judgement import OutboxState
from laneway.store import conversations, deliveries, jobs, outbox, principals
from laneway.store.database import Database
from tests.channels.telegram.test_channel import Time
from tests.servers.telegram_server import Cut, Fail, Fine, TelegramServer


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        server.world.chat(42)
        yield server


async def write(db: Database, *texts: str, thread: str = "42") -> None:
    """Replies with these texts are waiting in the outbox."""
    async with db.transaction() as tx:
        owner = await principals.owner(tx) or await principals.set_owner_key(tx, "k")
    for text in texts:
        receipt = await Intake(db, [], Limits(100, 100)).receive(
            Incoming("telegram", thread, f"m-{thread}-{text[:20]}", "x", owner)
        )
        async with db.transaction() as tx:
            job = await jobs.get(tx, receipt.job_id)
            await outbox.write_reply(tx, job, text, key="answer", pulled=(), meta={})


@asynccontextmanager
async def delivering(db: Database, server: TelegramServer) -> AsyncIterator[None]:
    time = Time()

    async def moved(before: str, after: str) -> None:
        async with db.transaction() as tx:
            await conversations.rename_thread(tx, "telegram", before, after)

    channel = TelegramChannel(make_bot(server.token, server.url), Pacer(time, time.sleep), moved=moved)
    delivery = Delivery(db, "w-test", {"telegram": channel}, lambda name: None)
    task = asyncio.create_task(delivery.keep_delivering())
    yield
    await delivery.stop(5)
    await task
    await channel.close()


async def until(db: Database, count: int, state: OutboxState = OutboxState.SENT) -> None:
    async with asyncio.timeout(40):
        while True:
            async with db.transaction() as tx:
                if len(await outbox.page(tx, state=state)) >= count:
                    return
            await asyncio.sleep(0.05)


async def test_a_reply_that_may_have_arrived_is_sent_once_more_and_says_so(
    db: Database, server: TelegramServer
) -> None:
    server.orders.give("sendMessage", Fine(), Cut(taken=True))
    await write(db, "one", "two", "three")
    async with delivering(db, server):
        await until(db, 3)
    assert [message.text for message in server.world.shown(42)] == ["one", "two", f"{SENT_AGAIN}two", "three"]


async def test_of_a_long_reply_only_the_uncertain_part_is_repeated(db: Database, server: TelegramServer) -> None:
    server.orders.give("sendMessage", Fine(), Cut(taken=False))
    await write(db, "\n\n".join(letter * 3500 for letter in "abc"))
    async with delivering(db, server):
        await until(db, 1)
    texts = [message.text for message in server.world.shown(42)]
    assert [text.removeprefix(SENT_AGAIN)[0] for text in texts] == ["a", "b", "c"]
    assert [text.startswith(SENT_AGAIN) for text in texts] == [False, True, False]
    async with db.transaction() as tx:
        row = (await outbox.page(tx))[0]
        receipts = await deliveries.receipts(tx, row.id)
        found = await deliveries.reply_of(tx, "telegram", receipts[1]["id"])
    assert [receipt["message"] for receipt in receipts] == [m.message_id for m in server.world.shown(42)]
    assert found is not None
    assert found.id == row.id


async def test_an_outage_delays_replies_and_loses_or_doubles_none(db: Database, server: TelegramServer) -> None:
    server.world.chat(43)
    server.orders.outage = Fail(502)
    await write(db, *(f"a{n}" for n in range(10)))
    await write(db, *(f"b{n}" for n in range(10)), thread="43")
    async with delivering(db, server):
        await server.until(lambda: len(server.called("sendMessage")) >= 4)
        assert server.world.messages == []
        server.orders.outage = None
        await until(db, 20)
    assert [message.text for message in server.world.shown(42)] == [f"a{n}" for n in range(10)]
    assert [message.text for message in server.world.shown(43)] == [f"b{n}" for n in range(10)]


async def test_a_groups_thread_goes_on_as_a_supergroup(db: Database, server: TelegramServer) -> None:
    server.world.chat(-6).migrated_to = -1006
    server.world.chat(-1006)
    await write(db, "one", "two", thread="-6")
    async with delivering(db, server):
        await until(db, 2)
    assert [message.text for message in server.world.shown(-1006)] == ["one", "two"]
    async with db.transaction() as tx:
        assert {row.thread_external_id for row in await outbox.page(tx)} == {"-1006"}


async def test_a_person_who_blocked_the_bot_is_given_up_with_the_reason(db: Database, server: TelegramServer) -> None:
    server.world.chat(44).blocked = True
    await write(db, "lost", thread="44")
    async with delivering(db, server):
        await until(db, 1, OutboxState.UNDELIVERABLE)
    async with db.transaction() as tx:
        (row,) = await outbox.page(tx, state=OutboxState.UNDELIVERABLE)
    assert row.error == "Telegram refuses it: bot was blocked by the user."
