"""Replies through a pushed channel: in order, tried again, marked when sent twice, whatever cuts a line or a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import psycopg

from laneway.channels.contract import SENT_AGAIN, Part
from laneway.channels.delivery import LOOK_ANYWAY_SECONDS, Delivery
from laneway.clock import FakeClock
from laneway.domain.judgement import OutboxRow, OutboxState
from laneway.errors import TransientFault, Unavailable
from laneway.store import outbox
from laneway.store.database import Connection, Database
from tests.channels.test_delivery_faults import Provider, deliver, delivering, rows, until, write
from tests.gates import somebody_waits


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


async def test_after_an_hour_without_the_provider_all_replies_arrive_once_each_and_in_order(db: Database) -> None:
    provider, clock = Provider(), FakeClock()
    provider.away = TransientFault("No route to the provider.")
    replies = {person: [f"{person} {number}" for number in range(10)] for person in ("ann", "bob", "eve")}
    for person, texts in replies.items():
        await write(db, person, *texts)
    async with delivering(db, provider, clock) as delivery:
        async with asyncio.timeout(30):
            while provider.refusals < 30 or clock.now() < FakeClock().now() + timedelta(hours=1):
                clock.advance(60)
                delivery.look()
                await asyncio.sleep(0.01)
        provider.away = None
        clock.advance(600)
        await until(db, delivery, clock, OutboxState.SENT, 30)
    assert {one: [text for where, text in provider.taken if where == one] for one in replies} == replies
