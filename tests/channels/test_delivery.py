"""Replies through a pushed channel: in order, tried again, marked when sent twice, whatever cuts a line or a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg

from laneway.channels.contract import SENT_AGAIN, Part
from laneway.channels.delivery import LOOK_ANYWAY_SECONDS, Delivery
from laneway.channels.pacing import Pacer
from laneway.channels.telegram.api import make_bot
from laneway.channels.telegram.channel import TelegramChannel
from laneway.clock import FakeClock
from laneway.domain.conversation import Incoming
from laneway.domain.judgement import OutboxRow, OutboxState
from laneway.errors import TransientFault, Unavailable
from laneway.store import intake, jobs, outbox, principals
from laneway.store.database import Connection, Database
from tests.channels.clocks import Time
from tests.channels.test_delivery_faults import Provider, deliver, delivering, rows, until, write
from tests.gates import somebody_waits
from tests.servers.telegram_server import Fail, TelegramServer


async def test_replies_of_a_thread_go_out_in_order_even_when_one_must_be_tried_again(db: Database) -> None:
    provider = Provider()
    provider.faults["two"] = [TransientFault("Too many.", retry_after=5)]
    await write(db, "one", "one|two|three", "after")
    await deliver(db, provider, 2)
    assert provider.texts == ["one", "two", "three", "after"]


async def test_an_unforeseen_error_of_a_channel_is_tried_again(db: Database) -> None:
    provider = Provider()
    provider.faults["1"] = [ZeroDivisionError("oops")]
    await write(db, "one", "1")
    await deliver(db, provider, 1)
    assert provider.texts == ["1"]


async def found(db: Database, query: bytes) -> bool:
    async with db.transaction() as tx:
        return await (await tx.execute(query)).fetchone() is not None


async def test_a_reply_written_while_delivery_waits_goes_out_at_once(db: Database) -> None:
    provider = Provider()
    listening = b"SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
    async with delivering(db, provider, FakeClock()):
        async with asyncio.timeout(20):
            while not await found(db, listening):
                await asyncio.sleep(0.01)
        # Nobody told of it, delivery would look after ten seconds.
        async with asyncio.timeout(LOOK_ANYWAY_SECONDS - 1):
            await write(db, "one", "now")
            while not provider.taken:
                await asyncio.sleep(0.01)
    assert provider.texts == ["now"]


async def test_what_a_dead_worker_was_sending_is_sent_once_more_marked_and_is_no_longer_its_own(db: Database) -> None:
    provider, clock = Provider(), FakeClock()
    await write(db, "one", "important", "after it")
    async with db.transaction() as tx:
        # It took the reply to the provider and could not note the answer.
        (row,) = await outbox.claim(tx, "w-stale", "post", 5, clock.now())
    async with db.transaction() as tx:
        await outbox.mark_uncertain(tx, "w-stale")
    async with db.transaction() as tx:
        (again,) = await outbox.claim(tx, "w-live", "post", 5, clock.now())
        # The dead one wakes up.
        await outbox.put_back(tx, row, "w-stale", "late", clock.now())
        await outbox.sent(tx, row, "w-stale", {})
    assert [str(one.state) for one in await rows(db)] == ["sending", "pending"]
    async with db.transaction() as tx:
        await outbox.put_back(tx, again, "w-live", "busy", clock.now())
    await deliver(db, provider, 2)
    assert provider.texts == [f"{SENT_AGAIN}important", "after it"]


class Unhurried(Provider):
    """One that takes its time."""

    async def send(self, row: OutboxRow, part: Part, again: bool) -> dict[str, Any]:
        await asyncio.sleep(0.1)
        return await super().send(row, part, again)


async def test_what_is_claimed_when_delivery_stops_is_sent_before_it_ends(db: Database, database_url: str) -> None:
    post = Unhurried()
    await write(db, "one", "last")
    delivery = Delivery(db, "w-test", {"post": post}, lambda name: None)
    async with await psycopg.AsyncConnection.connect(database_url) as holder:
        await holder.execute("LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE")
        task = asyncio.create_task(delivery.keep_delivering())
        await somebody_waits(db)
        stopping = asyncio.create_task(delivery.stop(20))
        await asyncio.sleep(0.1)
        await holder.rollback()
    await stopping
    assert post.texts == ["last"]
    await task
    assert [str(row.state) for row in await rows(db)] == ["sent"]


class Cut(Database):
    """A database whose line is cut, once, after a claim was committed and before anybody is told so."""

    cut = False

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        async with super().transaction() as tx:
            yield tx
        async with super().transaction() as tx:
            claimed = await (await tx.execute("SELECT 1 FROM outbox WHERE state = 'sending'")).fetchone()
        if claimed and not self.cut:
            self.cut = True
            raise Unavailable("The line was cut.")


async def test_a_reply_whose_claim_was_committed_unheard_is_sent_once(db: Database, database_url: str) -> None:
    provider, clock, unsure = Provider(), FakeClock(), Cut(database_url)
    await write(db, "one", "first", "second")
    await unsure.open()
    try:
        async with delivering(unsure, provider, clock) as delivery:
            sent = await until(db, delivery, clock, OutboxState.SENT, 2)
    finally:
        await unsure.close()
    assert unsure.cut
    assert provider.texts == ["first", "second"]
    assert [row.attempts for row in sent] == [1, 1]


REPLIES, PEOPLE, STEPS = 160, 20, 8


async def write_numbers(db: Database, first: int, count: int) -> None:
    """Replies with the next numbers wait in the outbox, each person's in order."""
    async with db.transaction() as tx:
        owner = await principals.set_owner_key(tx, "k")
        for number in range(first, first + count):
            said = Incoming("telegram", str(100 + number % PEOPLE), f"m-{number}", "and?", owner)
            job = await jobs.get(tx, (await intake.write(tx, said)).job_id)
            await outbox.write_reply(tx, job, f"{number:04}", key="answer", pulled=(), meta={})


async def test_after_an_hour_without_telegram_all_replies_arrive_once_each_and_in_order(db: Database) -> None:
    time = Time()
    with TelegramServer() as server:
        for number in range(PEOPLE):
            server.world.chat(100 + number)
        channel = TelegramChannel(make_bot(server.token, server.url), Pacer(time, time.sleep))
        delivery = Delivery(db, "w-test", {"telegram": channel}, lambda name: None, time)
        task = asyncio.create_task(delivery.keep_delivering())

        def pass_time(seconds: float = 10) -> bool:
            time.advance(seconds)
            delivery.look()
            return True

        server.orders.outage = Fail(502)
        for step in range(STEPS):
            await write_numbers(db, step * REPLIES // STEPS, REPLIES // STEPS)
            pass_time(3600 / STEPS)
            await asyncio.sleep(0.01)
        # Everybody's reply was tried meanwhile.
        await server.until(lambda: pass_time() and len(server.called("sendMessage")) >= PEOPLE)
        assert server.world.shown() == []
        server.orders.outage = None
        await server.until(lambda: pass_time() and len(server.world.shown()) == REPLIES, seconds=60)
        await delivery.stop(20)
        await task
        await channel.close()
        for number in range(PEOPLE):
            mine = [message.text for message in server.world.shown(100 + number)]
            assert mine == [f"{one:04}" for one in range(number, REPLIES, PEOPLE)]
    async with db.transaction() as tx:
        assert [row.state for row in await outbox.page(tx, limit=2 * REPLIES)] == [OutboxState.SENT] * REPLIES
