"""Workers that are killed, frozen and outnumbered: nothing is lost, nothing is done twice."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import psutil
import pytest

from laneway.channels.delivery import SENT_AGAIN
from laneway.channels.intake import Intake, Limits
from laneway.cli.selftest.counting import CountingServer
from laneway.cli.selftest.crash import crash_test
from laneway.cli.selftest.subject import CHANNEL, Orders, item_of, live
from laneway.domain.conversation import Incoming
from laneway.store import principals
from laneway.store.database import Database
from laneway.store.workers import BEAT_SECONDS, SILENCE_SECONDS

SLACK_SECONDS = 15.0
"""For a beat that comes late on a machine that others keep busy."""


@dataclass
class Yard:
    """A database, a counting server, and workers in processes of their own."""

    db: Database
    home: str
    server: CountingServer = field(default_factory=CountingServer)
    workers: list[ForkServerProcess] = field(default_factory=list)

    def worker(self) -> ForkServerProcess:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["laneway.cli.selftest.subject"])
        child = context.Process(target=live, args=(Orders(self.db.url, self.home, self.server.port),), daemon=True)
        child.start()
        self.workers.append(child)
        return child

    async def feed(self, count: int, threads: int) -> None:
        async with self.db.transaction() as tx:
            owner = await principals.owner(tx) or await principals.set_owner_key(tx, "lw_test")
        intake = Intake(self.db, ["answer", "tools"], Limits(1000, 1000))
        payload = {"classification": {"intent": "command"}}
        for number in range(count):
            item = f"item-{number}"
            await intake.receive(
                Incoming(CHANNEL, f"t{number % threads}", item, f"count {item}", owner, mode="EXECUTE", payload=payload)
            )

    async def number(self, statement: str) -> int:
        async with self.db.transaction() as tx:
            row = await (await tx.execute(statement.encode())).fetchone()
        assert row is not None
        return int(row[0])

    async def until(self, condition: Callable[[int], bool], statement: str, seconds: float) -> None:
        async with asyncio.timeout(seconds):
            while not condition(await self.number(statement)):
                await asyncio.sleep(0.1)

    def told(self) -> list[str]:
        """The items whose replies were delivered, in the order the outside world saw them, copies marked."""
        return [
            ("again " if call.text.startswith(SENT_AGAIN) else "") + item_of(call.text)
            for call in self.server.calls
            if call.kind == "deliver"
        ]


GONE, ALIVE = (f"SELECT count(*) FROM workers WHERE gone_at IS {state}" for state in ("NOT NULL", "NULL"))
OPEN = "SELECT (SELECT count(*) FROM jobs WHERE status <> 'done') + (SELECT count(*) FROM outbox WHERE state <> 'sent')"


@pytest.fixture
async def yard(db: Database, tmp_path: Path) -> AsyncIterator[Yard]:
    here = Yard(db, str(tmp_path))
    await here.server.start()
    yield here
    for child in here.workers:
        child.kill()
        child.join()
    await here.server.stop()


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_kill_nine_at_every_boundary_and_inside_calls_loses_and_repeats_nothing() -> None:
    verdict, test = await crash_test(18, seed=7, say=print)
    wrong = (verdict.lost, verdict.repeated, verdict.replies_missing, verdict.replies_doubled_unmarked)
    assert (verdict.messages > 40, wrong) == (True, (0, 0, 0, 0)), verdict
    assert sum(1 for call in test.server.calls if call.killed) >= 5


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_one_of_two_workers_killed_under_load_all_are_answered_once_and_in_order(yard: Yard) -> None:
    doomed = yard.worker()
    yard.worker()
    await yard.feed(500, threads=50)
    await yard.until(lambda done: done >= 150, "SELECT count(*) FROM jobs WHERE status = 'done'", 180)
    assert doomed.pid is not None
    os.kill(doomed.pid, signal.SIGKILL)
    await yard.until(lambda left: left == 0, OPEN, 240)
    # With nothing in its hands, the killed one is missed only at the next beat of the other.
    await yard.until(lambda gone: gone > 0, GONE, 30)
    told = yard.told()
    once = [item for item in told if not item.startswith("again ")]
    # A reply taken by the killed worker and not yet sent arrives marked and only so: nobody can know.
    assert len(once) == len(set(once))
    assert {item.removeprefix("again ") for item in told} == {f"item-{number}" for number in range(500)}
    for thread in range(50):
        mine = [int(item.removeprefix("item-")) for item in once if int(item.removeprefix("item-")) % 50 == thread]
        assert mine == sorted(mine)
    assert await yard.number(GONE) == 1


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_a_worker_frozen_for_half_a_minute_wakes_up_as_a_guest(yard: Yard) -> None:
    frozen = yard.worker()
    await yard.feed(40, threads=40)
    await yard.until(lambda done: done >= 3, "SELECT count(*) FROM jobs WHERE status = 'done'", 90)
    assert frozen.pid is not None
    os.kill(frozen.pid, signal.SIGSTOP)
    stopped_at = time.monotonic()
    yard.worker()
    await yard.until(lambda known: known == 2, "SELECT count(*) FROM workers", 60)
    # Counted from there on: how long a process takes to start is not what is measured.
    await yard.until(lambda gone: gone == 1, GONE, SILENCE_SECONDS + BEAT_SECONDS + SLACK_SECONDS)
    await asyncio.sleep(max(0.0, 30 - (time.monotonic() - stopped_at)))
    os.kill(frozen.pid, signal.SIGCONT)
    await yard.until(lambda left: left == 0, OPEN, 90)
    await yard.until(lambda alive: alive == 2, ALIVE, 60)
    # Back as a guest, it has had a beat's time to do something it may not.
    await asyncio.sleep(BEAT_SECONDS + 1)
    assert psutil.Process(frozen.pid).is_running()
    tools = [call.key for call in yard.server.calls if call.kind == "tool"]
    assert len(tools) == len(set(tools)), "an effect happened twice"
    once = [item for item in yard.told() if not item.startswith("again ")]
    assert len(once) == len(set(once))
    assert {item.removeprefix("again ") for item in yard.told()} == {f"item-{number}" for number in range(40)}
    assert await yard.number(ALIVE) == 2
