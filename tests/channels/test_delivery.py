"""Replies through a pushed channel: in order, tried again, marked when sent twice, listed when given up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from laneway.channels.contract import SENT_AGAIN, Channel, Part
from laneway.channels.delivery import LOOK_ANYWAY_SECONDS, Delivery
from laneway.channels.intake import Intake, Limits
from laneway.clock import SystemClock
from laneway.domain.conversation import Incoming
from laneway.domain.judgement import OutboxRow, OutboxState
from laneway.errors import PermanentFault, TransientFault
from laneway.store import jobs, outbox, principals
from laneway.store.database import Database


class Post(Channel):
    """A channel that does what the test says and remembers what it was given."""

    name = "post"

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.faults: list[Exception] = []

    async def send(self, row: OutboxRow, part: Part, again: bool) -> dict[str, Any]:
        if self.faults:
            raise self.faults.pop(0)
        self.sent.append(f"{SENT_AGAIN}{part.text}" if again else part.text)
        return {"id": len(self.sent)}


class Unhurried(Post):
    """One that takes its time."""

    async def send(self, row: OutboxRow, part: Part, again: bool) -> dict[str, Any]:
        await asyncio.sleep(0.5)
        return await super().send(row, part, again)


async def write(db: Database, *texts: str, thread: str = "one") -> None:
    """Replies with these texts are waiting in the outbox."""
    async with db.transaction() as tx:
        owner = await principals.owner(tx) or await principals.set_owner_key(tx, "k")
    for text in texts:
        incoming = Incoming("post", thread, f"m-{thread}-{text}", "x", owner)
        receipt = await Intake(db, [], Limits(100, 100)).receive(incoming)
        async with db.transaction() as tx:
            job = await jobs.get(tx, receipt.job_id)
            await outbox.write_reply(tx, job, text, key="answer", pulled=(), meta={})


@asynccontextmanager
async def delivering(db: Database, post: Post) -> AsyncIterator[None]:
    delivery = Delivery(db, "w-test", {"post": post}, lambda name: None)
    task = asyncio.create_task(delivery.keep_delivering())
    yield
    await delivery.stop(20)
    await task


async def states(db: Database) -> list[OutboxState]:
    async with db.transaction() as tx:
        return [row.state for row in await outbox.page(tx)][::-1]


async def until_sent(db: Database, count: int, state: OutboxState = OutboxState.SENT) -> None:
    async with asyncio.timeout(30):
        while (await states(db)).count(state) < count:
            await asyncio.sleep(0.02)


async def test_replies_of_a_thread_go_out_in_order_even_when_one_must_be_tried_again(db: Database) -> None:
    post = Post()
    post.faults = [TransientFault("Too many.", retry_after=0.2)]
    await write(db, "1", "2", "3", "4")
    async with delivering(db, post):
        await until_sent(db, 4)
    assert post.sent == ["1", "2", "3", "4"]


@pytest.mark.alone
async def test_a_reply_written_while_delivery_waits_goes_out_at_once(db: Database) -> None:
    post = Post()
    async with delivering(db, post):
        await asyncio.sleep(0.3)
        await write(db, "now")
        # Nobody told of it, delivery would look after ten seconds.
        await asyncio.wait_for(until_sent(db, 1), LOOK_ANYWAY_SECONDS / 2)
    assert post.sent == ["now"]


async def test_a_reply_that_can_never_be_delivered_is_listed_and_the_next_one_goes_out(db: Database) -> None:
    post = Post()
    post.faults = [PermanentFault("The user has left.")]
    await write(db, "1", "2")
    async with delivering(db, post):
        await until_sent(db, 1)
    async with db.transaction() as tx:
        lost = await outbox.page(tx, state=OutboxState.UNDELIVERABLE)
    assert [(row.text, row.error) for row in lost] == [("1", "The user has left.")]
    assert post.sent == ["2"]


async def test_a_reply_cut_off_while_it_was_sent_is_sent_once_more_and_says_so(db: Database) -> None:
    await write(db, "important", "after it")
    async with db.transaction() as tx:
        # A worker that took the reply to the provider and died before it could note the answer.
        assert len(await outbox.claim(tx, "w-dead", "post", 5, SystemClock().now())) == 1
    async with db.transaction() as tx:
        await outbox.mark_uncertain(tx, "w-dead")
    assert await states(db) == ["uncertain", "pending"]
    post = Post()
    async with delivering(db, post):
        await until_sent(db, 2)
    assert post.sent == [f"{SENT_AGAIN}important", "after it"]


async def test_an_unforeseen_error_of_a_channel_is_tried_again(db: Database) -> None:
    post = Post()
    post.faults = [ZeroDivisionError("oops")]
    await write(db, "1")
    async with delivering(db, post):
        await until_sent(db, 1)
    assert post.sent == ["1"]


async def test_what_is_being_claimed_when_delivery_stops_is_sent_before_it_has_stopped(
    db: Database, database_url: str
) -> None:
    post = Unhurried()
    await write(db, "last")
    delivery = Delivery(db, "w-test", {"post": post}, lambda name: None)
    async with await psycopg.AsyncConnection.connect(database_url) as holder:
        await holder.execute("LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE")
        task = asyncio.create_task(delivery.keep_delivering())
        await until_somebody_waits(db)
        stopping = asyncio.create_task(delivery.stop(20))
        await asyncio.sleep(0.1)
        await holder.rollback()
    await stopping
    await task
    assert post.sent == ["last"]
    assert await states(db) == ["sent"]


async def until_somebody_waits(db: Database) -> None:
    """Somebody waits for a lock in this database."""
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with asyncio.timeout(20):
        while True:
            async with db.transaction() as tx:
                if await (await tx.execute(waiting)).fetchone():
                    return
            await asyncio.sleep(0.02)


async def test_a_worker_that_lost_a_reply_to_another_cannot_put_it_back(db: Database) -> None:
    await write(db, "once")
    async with db.transaction() as tx:
        (row,) = await outbox.claim(tx, "w-stale", "post", 5, SystemClock().now())
    async with db.transaction() as tx:
        await outbox.mark_uncertain(tx, "w-stale")
    async with db.transaction() as tx:
        (again,) = await outbox.claim(tx, "w-live", "post", 5, SystemClock().now())
    async with db.transaction() as tx:
        await outbox.put_back(tx, row, "w-stale", "late", SystemClock().now())
        await outbox.sent(tx, row, "w-stale", {})
    assert await states(db) == ["sending"]
    async with db.transaction() as tx:
        await outbox.sent(tx, again, "w-live", {})
    assert await states(db) == ["sent"]
