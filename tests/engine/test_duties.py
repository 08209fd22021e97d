"""Work that one process does for all: never two at once, and never nobody for long."""

from __future__ import annotations

import asyncio

import psycopg

from laneway.engine import duties
from laneway.errors import TransientFault
from laneway.store.database import Database

PAUSE = 0.05


class Watch:
    """A duty that knows who is on it."""

    def __init__(self) -> None:
        self.on: list[str] = []
        self.most = 0
        self.begun: list[str] = []
        self.faults: list[Exception] = []

    def duty(self, name: str) -> duties.Duty:
        async def stand() -> None:
            self.begun.append(name)
            self.on.append(name)
            self.most = max(self.most, len(self.on))
            try:
                if self.faults:
                    raise self.faults.pop(0)
                await asyncio.sleep(3600)
            finally:
                self.on.remove(name)

        return stand

    async def until_on(self, *names: str, begun: int = 1) -> None:
        async with asyncio.timeout(30):
            while self.on != list(names) or len(self.begun) < begun:
                await asyncio.sleep(0.01)


async def end(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_one_at_a_time_and_the_next_takes_over(db: Database) -> None:
    watch = Watch()
    first = asyncio.create_task(duties.keep(db, "gate", watch.duty("a"), PAUSE))
    await watch.until_on("a")
    second = asyncio.create_task(duties.keep(db, "gate", watch.duty("b"), PAUSE))
    # Time enough for it to try.
    await asyncio.sleep(PAUSE * 2)
    await end(first)
    await watch.until_on("b")
    await end(second)
    assert (watch.begun, watch.on, watch.most) == (["a", "b"], [], 1)


async def test_a_duty_that_fails_begins_again(db: Database) -> None:
    watch = Watch()
    watch.faults = [TransientFault("away"), ZeroDivisionError("oops")]
    task = asyncio.create_task(duties.keep(db, "gate", watch.duty("a"), PAUSE))
    await watch.until_on("a", begun=3)
    await end(task)
    assert watch.on == []


async def test_who_lost_the_database_stands_down_before_another_begins(db: Database, database_url: str) -> None:
    watch = Watch()
    tasks = [asyncio.create_task(duties.keep(db, "gate", watch.duty(name), PAUSE)) for name in ("a", "b")]
    async with asyncio.timeout(30):
        while not watch.on:
            await asyncio.sleep(0.01)
    leader = watch.on[0]
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database "
            "WHERE l.locktype = 'advisory' AND d.datname = current_database()"
        )
    async with asyncio.timeout(30):
        while len(watch.begun) < 2:
            await asyncio.sleep(0.01)
    await end(*tasks)
    assert watch.begun[0] == leader
    assert watch.on == []


async def test_a_duty_that_misses_its_cancellation_ends_all_the_same(db: Database) -> None:
    missed, begun = 0, asyncio.Event()

    async def deaf() -> None:
        nonlocal missed
        begun.set()
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                missed += 1
                if missed > 1:
                    raise

    task = asyncio.create_task(duties.keep(db, "deaf", deaf))
    await asyncio.wait_for(begun.wait(), 30)
    await asyncio.wait_for(end(task), 30)
    assert missed == 2
