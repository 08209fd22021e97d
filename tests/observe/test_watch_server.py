"""The server watches by itself: sessions are kept, the owner is told once, a restart forgets and repeats nothing."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from laneway.channels.contract import PULLED
from laneway.clock import FakeClock, SystemClock
from laneway.domain.conversation import Incoming, Role
from laneway.observe.duty import Orders, SessionDuty
from laneway.observe.notify import Notice
from laneway.observe.watching import Bounds
from laneway.reactors.loading import Own
from laneway.reactors.options import Options
from laneway.reactors.rules import rules_in
from laneway.settings.reactors import KillOn
from laneway.store import intake, principals, session_reactions, sessions
from laneway.store.database import Database
from laneway.store.sessions import KeptSession
from tests.observe.live_logs import Agent
from tests.observe.test_watch_live import started

PATIENCE = 30
"""Seconds a test waits for what should take one; the machine may be busy."""


@dataclass
class Hears:
    name: str = "memory"
    told: list[Notice] = field(default_factory=list)

    async def tell(self, notice: Notice) -> None:
        self.told.append(notice)


@pytest.fixture
async def owned(db: Database) -> Database:
    """A database whose owner has a thread to be told in."""
    async with db.transaction() as tx:
        await principals.set_owner_key(tx, "lw_test")
        owner = await principals.owner(tx)
        assert owner is not None
        await intake.write(tx, Incoming("http", "main", "first", "hello", owner))
    assert owner.role is Role.OWNER
    return db


Watch = Callable[..., AbstractAsyncContextManager[Hears]]


@pytest.fixture
def watched(owned: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Watch:
    """Has the server watch the agents below the folder while a block lasts; what they write there is news."""

    @asynccontextmanager
    async def watched(clock: FakeClock | None = None, options: Options | None = None) -> AsyncIterator[Hears]:
        hears, bounds = Hears(), Bounds(recent=timedelta(hours=1), tick=0.0)
        orders = Orders({"HOME": str(tmp_path)}, options or Options(), [hears], pulled=PULLED, bounds=bounds)
        caplog.set_level(logging.INFO, "laneway.observe.duty")
        caplog.clear()
        task = asyncio.create_task(SessionDuty(owned, orders, clock).keep_going())
        try:
            async with asyncio.timeout(PATIENCE):
                while "Watching " not in caplog.text:
                    await asyncio.sleep(0.01)
            yield hears
            assert not task.done(), task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    return watched


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


def works(agent: Agent, tool: str = "Bash", **arguments: str) -> None:
    """The agent is told to work and makes one call, a dangerous one if nothing else is said."""
    agent.says("work")
    agent.calls(tool, **arguments or {"command": "rm -rf /"})


async def test_what_happens_is_kept_and_the_owner_is_told_once(owned: Database, tmp_path: Path, watched: Watch) -> None:
    agent = Agent(tmp_path)
    async with watched() as hears:
        works(agent)
        await until(owned, turns(1))
        await heard(hears, 1)
        agent.path.unlink()
        [kept] = await until(owned, lambda found: found[0].gone_at is not None)
    assert (kept.session_id, kept.provider, kept.cwd) == (agent.session_id, "claude-code", "/home/u/project")
    assert await said(owned) == [("safety", True)]
    [reply] = await replies(owned)
    assert "It removes everything under the root" in reply
    assert [notice.line for notice in hears.told] == [reply]
    # The file is gone; what was kept of it stays.
    async with owned.transaction() as tx:
        assert len(await sessions.events_of(tx, kept)) == 4


async def test_after_a_restart_nothing_is_told_twice_and_what_was_missed_is_told(
    owned: Database, tmp_path: Path, watched: Watch
) -> None:
    agent = Agent(tmp_path)
    async with watched() as hears:
        agent.says("work")
        for _ in range(8):
            agent.does("make test")
        await heard(hears, 1)
    assert await said(owned) == [("loop", True)]
    # Nobody watches; the loop goes on, and then something new happens.
    agent.does("make test")
    agent.calls("Bash", command="rm -rf /")
    async with watched() as hears:
        agent.says("more")
        await until(owned, turns(2))
        await heard(hears, 1)
    assert [notice.reactor for notice in hears.told] == ["safety"]
    async with watched() as hears:
        agent.says("again")
        await until(owned, turns(3))
    assert hears.told == []
    assert len(await replies(owned)) == 2


async def test_sessions_of_before_are_kept_without_telling_anybody(
    owned: Database, tmp_path: Path, watched: Watch
) -> None:
    old, lately = Agent(tmp_path, clock=FakeClock(SystemClock().now())), Agent(tmp_path)
    for agent in (old, lately):
        works(agent)
    two_days = SystemClock().now().timestamp() - 2 * 86_400
    os.utime(old.path, (two_days, two_days))
    async with watched() as hears:
        found = await until(owned, lambda found: len(found) == 2)
    assert {kept.session_id for kept in found} == {old.session_id, lately.session_id}
    assert (hears.told, await replies(owned), await said(owned)) == ([], [], [])


async def test_the_owner_is_not_flooded_and_everything_is_kept(owned: Database, tmp_path: Path, watched: Watch) -> None:
    agents = [Agent(tmp_path) for _ in range(9)]
    async with watched() as hears:
        for agent in agents:
            works(agent)
        async with asyncio.timeout(PATIENCE):
            while len(await said(owned)) < 9:
                await asyncio.sleep(0.05)
        await heard(hears, 6)
    assert len(hears.told) == 6
    assert sorted(told for _, told in await said(owned)) == [False] * 3 + [True] * 6
    assert len(await replies(owned)) == 6


@pytest.mark.parametrize("kill_on", [(), ("danger", "loop", "budget"), ("reactor",)])
async def test_a_rule_of_ones_own_ends_a_foreign_agent_only_where_that_was_allowed(
    owned: Database, tmp_path: Path, watched: Watch, kill_on: tuple[KillOn, ...]
) -> None:
    rule = '[[rule]]\nname = "hands off"\npattern = "prod"\ndo = "kill"\nmessage = "Not there"'
    options = Options(kill_on=frozenset(kill_on), own=Own(tuple(("mine", make) for make in rules_in(rule, "mine"))))
    with started(tmp_path) as process:
        agent = Agent(tmp_path, cwd=str(tmp_path / "project"))
        async with watched(options=options) as hears:
            works(agent, command="deploy to prod")
            await heard(hears, 1)
            if "reactor" in kill_on:
                await until_told(owned, "Ended: process")
        assert (process.poll() is None) is ("reactor" not in kill_on)
        assert [(one.reactor, str(one.severity)) for one in hears.told] == [
            ("hands off", "kill" if "reactor" in kill_on else "notification")
        ]
        for child in psutil.Process(process.pid).children(recursive=True) if process.poll() is None else ():
            child.kill()
        process.kill()


async def until_told(db: Database, words: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not any(words in reply for reply in await replies(db)):
            await asyncio.sleep(0.05)


async def test_a_session_that_the_server_ended_is_no_stall_after_a_restart_either(
    owned: Database, tmp_path: Path, watched: Watch
) -> None:
    agent, other = Agent(tmp_path, cwd=str(tmp_path / "project")), Agent(tmp_path)
    with started(tmp_path):
        async with watched(options=Options(kill_on=frozenset({"danger"}))):
            works(agent)
            works(other, "Edit", file_path="/home/u/project/a.py", old_string="a", new_string="b")
            await until(owned, lambda found: any(kept.ended for kept in found))
    # The one that changed last is looked at first: what is said of it would be heard first.
    os.utime(agent.path)
    async with watched(FakeClock(SystemClock().now() + timedelta(minutes=20))) as hears:
        await heard(hears, 1)
    assert [(notice.reactor, notice.session_id) for notice in hears.told] == [("stall", other.session_id)]
