"""Workers that are killed, frozen and outnumbered: nothing is lost, nothing is done twice."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import tempfile
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
from laneway.cli.selftest.crash import OTHERS, crash_test
from laneway.cli.selftest.evidence import weigh
from laneway.cli.selftest.subject import CHANNEL, Orders, item_of, live
from laneway.domain.conversation import Incoming
from laneway.engine.launch import migrate_engine
from laneway.store import principals
from laneway.store.database import Database
from laneway.store.embedded import EmbeddedPostgres
from laneway.store.finishing import outlast
from laneway.store.migrate import migrate
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
    # A worker that is silent for longer than 12 s loses its jobs; the command's own minute shows no more.
    verdict, test = await crash_test(18, seed=7, say=print, freeze=SILENCE_SECONDS + BEAT_SECONDS + 3)
    wrong = (verdict.lost, verdict.repeated, verdict.replies_missing, verdict.replies_doubled_unmarked)
    assert (verdict.messages > 40, wrong) == (True, (0, 0, 0, 0)), verdict
    assert (verdict.untold, verdict.good) == (0, True), verdict
    assert [test.deaths[other] for other in OTHERS] == [1, 1, 1]
    assert test.deaths["inside accepted"] >= 2, "no intake died between a message and its sender's knowing"
    assert sum(1 for call in test.server.calls if call.killed) >= 5


async def test_a_gap_that_no_record_admits_is_counted(yard: Yard) -> None:
    yard.worker()
    await yard.feed(3, threads=3)
    await yard.until(lambda left: left == 0, OPEN, 90)
    items, calls = ["item-0", "item-1", "item-2"], yard.server.calls
    assert (await weigh(yard.db, calls, items)).good
    (counted,) = [call for call in calls if (call.kind, call.key) == ("tool", "item-1")]
    missing, doubled = [call for call in calls if call is not counted], [*calls, counted]
    found = [await weigh(yard.db, seen, items) for seen in (missing, doubled)]
    assert [(verdict.untold, verdict.good) for verdict in found] == [(1, False)] * 2
    async with yard.db.transaction() as tx:
        await tx.execute("UPDATE effects SET state = 'uncertain'")
    assert (await weigh(yard.db, calls, items)).untold == 3, "uncertain, and no event says so"


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


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_a_database_that_was_away_costs_neither_of_two_workers_its_jobs_nor_leaves_an_effect_unsure() -> None:
    with tempfile.TemporaryDirectory(prefix="laneway-outage-") as folder:
        postgres = EmbeddedPostgres(Path(folder))
        url = postgres.start()
        migrate(url)
        migrate_engine(url)
        here = Yard(Database(url), folder)
        await here.server.start()
        await here.db.open()
        try:
            async with here.db.transaction() as tx:
                # A worker that was given up soon comes back; this remembers it.
                await tx.execute("CREATE TABLE given_up AS SELECT id FROM workers")
                await tx.execute(
                    "CREATE RULE given_up AS ON UPDATE TO workers WHERE NEW.gone_at IS NOT NULL "
                    "DO ALSO INSERT INTO given_up VALUES (NEW.id)"
                )
            here.worker()
            here.worker()
            await here.until(lambda alive: alive == 2, ALIVE, 60)
            await here.feed(200, threads=50)
            await here.until(lambda done: done >= 10, "SELECT count(*) FROM jobs WHERE status = 'done'", 90)
            os.kill(int((Path(folder) / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
            silent_at = time.monotonic() + SILENCE_SECONDS + BEAT_SECONDS
            while time.monotonic() < silent_at:
                await asyncio.sleep(0.1)
            assert await asyncio.to_thread(postgres.revive)
            async with asyncio.timeout(180):
                await outlast(lambda: here.until(lambda left: left == 0, OPEN, 180))
            assert await here.number("SELECT count(*) FROM given_up") == 0
            assert await here.number("SELECT count(*) FROM effects WHERE state <> 'done'") == 0
            tools = [call.key for call in here.server.calls if call.kind == "tool"]
            assert sorted(tools) == sorted(f"item-{number}" for number in range(200))
        finally:
            for child in here.workers:
                child.kill()
                child.join()
            await here.db.close()
            await here.server.stop()
            await asyncio.to_thread(postgres.stop)
