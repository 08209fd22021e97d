"""The server watches by itself: sessions are kept, the owner is told once, a restart forgets and repeats nothing."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from laneway.channels.contract import PULLED
from laneway.clock import FakeClock, SystemClock
from laneway.domain.conversation import Role
from laneway.observe.duty import Orders, SessionDuty
from laneway.observe.notify import Notice
from laneway.observe.watching import Bounds
from laneway.reactors.options import Options
from laneway.store import principals, session_reactions, sessions
from laneway.store.database import Database
from laneway.store.sessions import KeptSession
from tests.observe.live_logs import Agent

PATIENCE = 30
"""Seconds a test waits for what should take one; the machine may be busy."""


@dataclass
class Hears:
    name: str = "memory"
    told: list[Notice] = field(default_factory=list)

    async def tell(self, notice: Notice) -> None:
        self.told.append(notice)


class Begun(logging.Handler):
    """Hears the duty say that it watches: what is written from then on is news."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.said = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("Watching "):
            self.said.set()


@asynccontextmanager
async def beginning() -> AsyncIterator[None]:
    """What was started in the block has begun to watch when it is left."""
    begun, logger = Begun(), logging.getLogger("laneway.observe.duty")
    level = logger.level
    logger.addHandler(begun)
    logger.setLevel(logging.INFO)
    try:
        yield
        async with asyncio.timeout(PATIENCE):
            await begun.said.wait()
    finally:
        logger.removeHandler(begun)
        logger.setLevel(level)


@pytest.fixture
async def owned(db: Database) -> Database:
    """A database whose owner has a thread to be told in."""
    async with db.transaction() as tx:
        await principals.set_owner_key(tx, "lw_test")
        owner = await principals.owner(tx)
        assert owner is not None
        await tx.execute(
            "INSERT INTO threads (id, channel, external_id, principal_id, world) "
            "VALUES (gen_random_uuid(), 'http', 'main', %s, 'owner')",
            (owner.id,),
        )
    assert owner.role is Role.OWNER
    return db


@asynccontextmanager
async def watched(
    db: Database, home: Path, hears: Hears | None = None, clock: FakeClock | None = None
) -> AsyncIterator[Hears]:
    hears = hears or Hears()
    bounds = Bounds(recent=timedelta(hours=1), tick=0.2)
    orders = Orders({"HOME": str(home)}, Options(), [hears], pulled=PULLED, bounds=bounds)
    async with beginning():
        task = asyncio.create_task(SessionDuty(db, orders, clock).keep_going())
    try:
        yield hears
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(db: Database, is_so: Callable[[list[KeptSession]], bool]) -> list[KeptSession]:
    async with asyncio.timeout(PATIENCE):
        while True:
            async with db.transaction() as tx:
                found = await sessions.page(tx)
            if is_so(found):
                return found
            await asyncio.sleep(0.05)


async def heard(hears: Hears, count: int) -> None:
    """So many have been told: what is kept is told a moment later."""
    async with asyncio.timeout(PATIENCE):
        while len(hears.told) < count:
            await asyncio.sleep(0.02)


async def replied(db: Database) -> None:
    """The owner has a reply."""
    async with asyncio.timeout(PATIENCE):
        while not await replies(db):
            await asyncio.sleep(0.05)


async def said(db: Database) -> list[tuple[str, bool]]:
    async with db.transaction() as tx:
        found = [one for kept in await sessions.page(tx) for one in await session_reactions.of_session(tx, kept.id)]
    return [(one.reactor, one.told) for one in found]


async def replies(db: Database) -> list[str]:
    async with db.transaction() as tx:
        cursor = await tx.execute("SELECT text FROM messages WHERE author = 'assistant' ORDER BY seq")
        return [row[0] for row in await cursor.fetchall()]


def turns(count: int) -> Callable[[list[KeptSession]], bool]:
    return lambda found: bool(found) and all(kept.state.get("turns") == count for kept in found)


async def test_what_happens_is_kept_and_the_owner_is_told_once(owned: Database, tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    async with watched(owned, tmp_path) as hears:
        agent.says("work")
        agent.calls("Bash", command="rm -rf /")
        [kept] = await until(owned, turns(1))
        await heard(hears, 1)
    assert (kept.session_id, kept.provider, kept.cwd) == (agent.session_id, "claude-code", "/home/u/project")
    assert await said(owned) == [("safety", True)]
    [reply] = await replies(owned)
    assert "It removes everything under the root" in reply
    assert [notice.line for notice in hears.told] == [reply]


async def test_after_a_restart_nothing_is_told_twice_and_what_was_missed_is_told(
    owned: Database, tmp_path: Path
) -> None:
    agent = Agent(tmp_path)
    async with watched(owned, tmp_path):
        agent.says("work")
        for _ in range(8):
            agent.does("make test")
        await until(owned, turns(1))
        await replied(owned)
    assert await said(owned) == [("loop", True)]
    # Nobody watches; the loop goes on, and then something new happens.
    agent.does("make test")
    agent.calls("Bash", command="rm -rf /")
    async with watched(owned, tmp_path) as hears:
        agent.says("more")
        await until(owned, turns(2))
        await heard(hears, 1)
    assert [notice.reactor for notice in hears.told] == ["safety"]
    assert len(await replies(owned)) == 2
    async with watched(owned, tmp_path) as hears:
        agent.says("again")
        await until(owned, turns(3))
    assert hears.told == []
    assert len(await replies(owned)) == 2


async def test_a_silence_that_was_told_is_not_told_again_after_a_restart(owned: Database, tmp_path: Path) -> None:
    now = SystemClock().now()
    agent = Agent(tmp_path, clock=FakeClock(now))
    for number, seconds in enumerate((61, 120)):
        clock = FakeClock(now)
        async with watched(owned, tmp_path, clock=clock) as hears:
            if number == 0:
                agent.says("work")
                agent.calls("Edit", file_path="/home/u/project/a.py", old_string="a", new_string="b")
            await until(owned, turns(1))
            clock.advance(seconds)
            await replied(owned)
            if number:
                await asyncio.sleep(0.6)
    assert hears.told == []
    assert await said(owned) == [("stall", True)]
    assert len(await replies(owned)) == 1


async def test_sessions_of_before_are_kept_without_telling_anybody(owned: Database, tmp_path: Path) -> None:
    old, lately = Agent(tmp_path, clock=FakeClock(SystemClock().now())), Agent(tmp_path)
    for agent in (old, lately):
        agent.says("work")
        agent.calls("Bash", command="rm -rf /")
    two_days = SystemClock().now().timestamp() - 2 * 86_400
    os.utime(old.path, (two_days, two_days))
    async with watched(owned, tmp_path) as hears:
        found = await until(owned, lambda found: len(found) == 2)
    assert {kept.session_id for kept in found} == {old.session_id, lately.session_id}
    assert hears.told == []
    assert await replies(owned) == []
    assert await said(owned) == []


async def test_a_file_that_is_gone_is_noted_and_what_was_kept_stays(owned: Database, tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    async with watched(owned, tmp_path):
        agent.says("work")
        await until(owned, turns(1))
        agent.path.unlink()
        [kept] = await until(owned, lambda found: found[0].gone_at is not None)
    async with owned.transaction() as tx:
        assert len(await sessions.events_of(tx, kept)) == 2


async def test_the_owner_is_not_flooded_and_everything_is_kept(owned: Database, tmp_path: Path) -> None:
    agents = [Agent(tmp_path) for _ in range(9)]
    async with watched(owned, tmp_path) as hears:
        for agent in agents:
            agent.says("work")
            agent.calls("Bash", command="rm -rf /")
        async with asyncio.timeout(PATIENCE):
            while len(await said(owned)) < 9:
                await asyncio.sleep(0.05)
        await heard(hears, 6)
    assert len(hears.told) == 6
    assert sorted(told for _, told in await said(owned)) == [False] * 3 + [True] * 6
    assert len(await replies(owned)) == 6
