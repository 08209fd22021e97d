"""What is due is done in rounds: a notification begins the next one."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from laneway.engine.rounds import Told, listen, rounds
from laneway.store.database import DUE, Database


class Rounds:
    """Counts turns, each of which says that nothing is due for a minute."""

    def __init__(self, db: Database) -> None:
        self.turns, self.told = 0, list[Told]()
        self._wake = asyncio.Event()
        listening = listen(db, self._hear, DUE)
        self.task = asyncio.create_task(rounds(self._wake, self._turn, listening))

    def _hear(self, told: Told) -> None:
        self.told.append(told)
        self._wake.set()

    async def _turn(self) -> float:
        self.turns += 1
        return 60

    async def until(self, turns: int, told: int) -> None:
        async with asyncio.timeout(30):
            while self.turns < turns or len(self.told) < told:
                await asyncio.sleep(0.01)

    async def end(self) -> None:
        self.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await self.task


async def test_a_notification_begins_the_next_round(db: Database) -> None:
    here = Rounds(db)
    await here.until(2, 1)
    assert here.told == [None], "whoever begins to listen may have missed something"
    before = here.turns
    await db.notify(DUE, "now")
    await here.until(before + 1, 2)
    assert here.told[1] == (DUE, "now")
    await here.end()


async def test_a_listener_whose_connection_is_gone_listens_again(db: Database, database_url: str) -> None:
    here = Rounds(db)
    await here.until(1, 1)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND query LIKE 'LISTEN%'"
        )
    await here.until(2, 2)
    assert here.told[-1] is None
    await here.end()
    left = [task for task in asyncio.all_tasks() if getattr(task.get_coro(), "__name__", "") == "listen"]
    assert left == [], "the listener has ended with it"
