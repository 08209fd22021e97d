"""Replies of several parts, cut connections, outages and giving up: nothing is lost, nothing is silently doubled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from laneway.channels.contract import SENT_AGAIN, Channel, Part
from laneway.channels.delivery import Delivery
from laneway.channels.intake import Intake, Limits
from laneway.channels.pacing import NotYet
from laneway.clock import FakeClock
from laneway.domain.conversation import Incoming
from laneway.domain.judgement import OutboxRow, OutboxState
from laneway.errors import PermanentFault, TransientFault, UncertainFault
from laneway.store import events, jobs, outbox, principals
from laneway.store.database import Database


class Provider(Channel):
    """A provider that may be away; it remembers what it took, and of what it took it may not tell."""

    name = "post"

    def __init__(self) -> None:
        self.taken: list[tuple[str, str]] = []
        self.faults: dict[str, list[Exception]] = {}
        self.away: Exception | None = None
        self.then_away: Exception | None = None
        self.checks = self.refusals = 0

    def parts(self, row: OutboxRow) -> Sequence[Part]:
        return [Part(text) for text in row.text.split("|")]

    async def send(self, row: OutboxRow, part: Part, again: bool) -> dict[str, Any]:
        if self.away is not None:
            self.refusals += 1
            raise self.away
        fault = next(iter(self.faults.get(part.text, [])), None)
        if fault is not None:
            self.faults[part.text].pop(0)
        if fault is None or isinstance(fault, UncertainFault):
            self.taken.append((row.thread_external_id, f"{SENT_AGAIN}{part.text}" if again else part.text))
        if fault is not None:
            self.away = self.then_away
            raise fault
        return {"id": str(len(self.taken))}

    async def check(self) -> None:
        self.checks += 1
        if self.away is not None:
            raise self.away

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.taken]


async def write(db: Database, thread: str, *texts: str) -> None:
    """Replies with these texts wait in the outbox of the thread."""
    async with db.transaction() as tx:
        owner = await principals.owner(tx) or await principals.set_owner_key(tx, "k")
        await principals.link(tx, f"post:{thread}", owner.id)
    receipt = await Intake(db, [], Limits(100, 100)).receive(Incoming("post", thread, f"m-{thread}", "x", owner))
    async with db.transaction() as tx:
        job = await jobs.get(tx, receipt.job_id)
        for number, text in enumerate(texts):
            await outbox.write_reply(tx, job, text, key=f"a{number}-{text}", pulled=("http",), meta={})


@asynccontextmanager
async def delivering(db: Database, provider: Provider, clock: FakeClock) -> AsyncIterator[Delivery]:
    delivery = Delivery(db, "w-test", {"post": provider}, lambda name: None, clock, ("http",))
    task = asyncio.create_task(delivery.keep_delivering())
    try:
        yield delivery
    finally:
        await delivery.stop(5)
        await task


async def rows(db: Database) -> list[OutboxRow]:
    async with db.transaction() as tx:
        return (await outbox.page(tx, limit=2000))[::-1]


async def until(db: Database, delivery: Delivery, clock: FakeClock, state: OutboxState, count: int) -> list[OutboxRow]:
    """Returns once so many replies are in this state; the clock runs fast meanwhile."""
    async with asyncio.timeout(60):
        while True:
            found = await rows(db)
            if sum(row.state is state for row in found) >= count:
                return found
            clock.advance(1)
            delivery.look()
            await asyncio.sleep(0.02)


async def deliver(db: Database, provider: Provider, count: int) -> list[OutboxRow]:
    """Replies are delivered until so many were sent."""
    clock = FakeClock()
    async with delivering(db, provider, clock) as delivery:
        return await until(db, delivery, clock, OutboxState.SENT, count)


async def test_each_part_that_may_have_arrived_is_sent_once_more_marked_and_no_other_is(db: Database) -> None:
    provider = Provider()
    provider.faults["one"] = [UncertainFault("The line was cut.")]
    provider.faults["two"] = [UncertainFault("The line was cut again."), NotYet("Not yet.", retry_after=2)]
    provider.faults["three"] = [TransientFault("Too many.", retry_after=5)]
    await write(db, "one", "one|two|three")
    await deliver(db, provider, 1)
    assert provider.texts == ["one", f"{SENT_AGAIN}one", "two", f"{SENT_AGAIN}two", "three"]
    assert provider.checks >= 2, "the provider was asked whether it is there before anything was sent twice"


async def test_what_is_given_up_is_told_each_time_and_still_marked_when_it_arrives_at_last(db: Database) -> None:
    provider, clock = Provider(), FakeClock()
    shut = "The chat is closed."
    provider.faults["gone"] = [UncertainFault("cut"), UncertainFault("cut again"), PermanentFault(shut)]
    await write(db, "desk", "hello")
    await write(db, "one", "gone", "after")
    async with delivering(db, provider, clock) as delivery:
        for sent, error in ((3, outbox.TWICE), (4, shut)):
            found = await until(db, delivery, clock, OutboxState.SENT, sent)
            (lost,) = (row for row in found if row.state is OutboxState.UNDELIVERABLE)
            assert (lost.text, lost.error) == ("gone", error)
            async with db.transaction() as tx:
                await outbox.retry(tx, lost.id)
        await until(db, delivery, clock, OutboxState.SENT, 5)
    # The owner is told elsewhere than where nothing arrives.
    _, first, second = (text for where, text in provider.taken if where == "desk")
    for notice in (first, second):
        assert "could not be delivered" in notice
        assert f"laneway outbox retry {lost.id}" in notice
    again = f"{SENT_AGAIN}gone"
    assert [text for where, text in provider.taken if where == "one"] == ["gone", again, "after", again]


async def test_a_notice_that_cannot_be_delivered_is_not_told_about_in_turn(db: Database) -> None:
    provider, clock = Provider(), FakeClock()
    await write(db, "desk", "hello")
    await write(db, "one", "gone")
    provider.away = PermanentFault("The chat is closed.")
    async with delivering(db, provider, clock) as delivery:
        await until(db, delivery, clock, OutboxState.UNDELIVERABLE, 4)
        provider.away = None
        await write(db, "two", "later")
        await until(db, delivery, clock, OutboxState.SENT, 1)
    assert len(await rows(db)) == 5, "one notice for each reply, and none about the notices"


async def test_nothing_is_sent_twice_into_an_outage(db: Database) -> None:
    provider, clock = Provider(), FakeClock()
    provider.faults["maybe"] = [UncertainFault("cut")]
    provider.then_away = TransientFault("No route to the provider.")
    await write(db, "one", "maybe")
    async with delivering(db, provider, clock) as delivery:
        async with asyncio.timeout(30):
            while provider.checks < 4:
                clock.advance(20)
                delivery.look()
                await asyncio.sleep(0.01)
        assert provider.texts == ["maybe"]
        provider.away = None
        await until(db, delivery, clock, OutboxState.SENT, 1)
    assert provider.texts == ["maybe", f"{SENT_AGAIN}maybe"]


async def test_a_reply_that_five_workers_died_of_is_given_up_aloud(db: Database) -> None:
    await write(db, "desk", "hello")
    await write(db, "one", "fatal")
    clock = FakeClock()
    for life in ("w-1", "w-2", "w-3", "w-4", "w-5"):
        async with db.transaction() as tx:
            await outbox.claim(tx, life, "post", 5, clock.now())
        async with db.transaction() as tx:
            given_up = await outbox.mark_uncertain(tx, life)
    assert {row.text for row in given_up} == {"hello", "fatal"}
    async with db.transaction() as tx:
        kinds = [event.kind for event in await events.after(tx, events.START, limit=100)]
    assert kinds.count("reply.uncertain") == 8
    assert kinds.count("reply.undeliverable") == 2


async def test_waiting_for_its_turn_is_no_attempt(db: Database) -> None:
    provider = Provider()
    provider.faults["two"] = [NotYet("Not yet.", retry_after=2) for _ in range(8)]
    await write(db, "one", "one|two", "after")
    found = await deliver(db, provider, 2)
    assert provider.texts == ["one", "two", "after"]
    assert [(row.attempts, row.error) for row in found] == [(1, None), (1, None)]
