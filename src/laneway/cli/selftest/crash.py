"""`laneway selftest crash`: kills a worker at every step boundary and inside calls, and counts what was lost."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerContext as Context
from multiprocessing.process import BaseProcess
from pathlib import Path

from laneway.cli.selftest.counting import CountingServer, KillOrder
from laneway.cli.selftest.evidence import Verdict, weigh
from laneway.cli.selftest.subject import Orders, live
from laneway.engine.launch import migrate_engine
from laneway.store import proof
from laneway.store.database import Database
from laneway.store.embedded import EmbeddedPostgres
from laneway.store.finishing import outlast
from laneway.store.migrate import migrate

BOUNDARIES = tuple(
    f"{step}:{where}"
    for step, places in {
        "classify": ("begin", "end", "stored"),
        "tool.count": ("begin", "end", "stored"),
        "reply": ("begin", "end", "stored"),
        "deliver": ("begin", "sent", "stored"),
    }.items()
    for where in places
)
INSIDE = ("accepted", "model", "tool", "deliver")
"""Calls in which the process dies; `accepted` is when a message is stored and its sender does not know yet."""
OTHERS = POSTGRESQL_KILLED, WORKER_KILLED, WORKER_FROZEN = (
    "PostgreSQL killed", "one of two workers killed", "one of two workers frozen"
)  # fmt: skip
START_SECONDS, LIFE_SECONDS = 30.0, 8.0
END_SECONDS, OUTAGE_SECONDS, PAUSE_SECONDS = 120.0, 15.0, 0.1


@dataclass(frozen=True)
class Death:
    """How one life of the worker is to end."""

    kind: str
    what: str
    nth: int


@dataclass
class CrashTest:
    """One crash test: conversations, a counting server, and a process that takes in, works, and keeps dying."""

    db: Database
    postgres: EmbeddedPostgres
    home: str
    say: Callable[[str], None]
    dice: random.Random
    freeze: float
    server: CountingServer = field(default_factory=CountingServer)
    deaths: Counter[str] = field(default_factory=Counter)
    offered: int = 0

    @property
    def accepted(self) -> list[str]:
        """The items whose sender knows that they are accepted."""
        return [call.key for call in self.server.calls if call.kind == "accepted" and call.ended]

    async def run(self, deaths: list[Death]) -> Verdict:
        """Every death has been died, everything accepted has been worked off, and the evidence weighed."""
        await self.server.start()
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["laneway.cli.selftest.subject", "pydantic_ai.durable_exec.dbos"])
        began = time.monotonic()
        for number, death in enumerate(deaths, start=1):
            await self._one_life(context, death)
            if number % 20 == 0:
                self.say(f"{number} of {len(deaths)} kills, {self.offered} messages, {time.monotonic() - began:.0f} s")
        self.server.expect(None)
        await self._work_off([self._start(context)])
        for what in OTHERS:
            self.say(f"Now {what}: {self.offered} messages, {time.monotonic() - began:.0f} s")
            await self._disturb(context, what)
        verdict = await weigh(self.db, self.server.calls, self.accepted)
        await self.server.stop()
        return verdict

    def _start(self, context: Context, death: Death | None = None, more: int = 0, pause: float = 0.0) -> BaseProcess:
        """A process that takes in `more` messages, after those of which no sender knows yet that they are accepted."""
        die_at = (death.what, death.nth) if death is not None and death.kind == "boundary" else None
        self.offered += more
        known = set(self.accepted)
        items = tuple(item for item in (f"item-{number}" for number in range(self.offered)) if item not in known)
        orders = Orders(self.db.url, self.home, self.server.port, die_at, items, pause)
        child = context.Process(target=live, args=(orders,), daemon=True)
        child.start()
        return child

    async def _one_life(self, context: Context, death: Death) -> None:
        child = self._start(context, death, more=3)
        self.server.expect(KillOrder(death.what, death.nth, lambda: _kill(child)) if death.kind == "inside" else None)
        limit = self.dice.uniform(0.3, 2.0) if death.kind == "random" else LIFE_SECONDS
        if death.kind != "random":
            await self._begun(child)
        if await _ended(child, limit):
            self.deaths[f"{death.kind} {death.what}"] += 1
        else:
            # The place was not reached in time (or the time itself was the order): a kill wherever it stands.
            _kill(child)
            await _ended(child, 5)
            self.deaths["at random"] += 1

    async def _begun(self, child: BaseProcess) -> None:
        """The process has said that it is ready, or died before: on a slow machine a life is counted from there."""
        before, deadline = len(self.server.calls), time.monotonic() + START_SECONDS
        while child.is_alive() and len(self.server.calls) == before and time.monotonic() < deadline:
            await asyncio.sleep(0.01)

    async def _disturb(self, context: Context, what: str) -> None:
        """Two workers have gone through it while messages came in, and everything accepted has been worked off."""
        other = self._start(context)
        await self._begun(other)
        first = self._start(context, more=round((OUTAGE_SECONDS + self.freeze) / PAUSE_SECONDS), pause=PAUSE_SECONDS)
        await self._begun(first)
        if what == POSTGRESQL_KILLED:
            os.kill(int((Path(self.home) / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
            await asyncio.sleep(OUTAGE_SECONDS)
            await outlast(lambda: asyncio.to_thread(self.postgres.revive))
        elif what == WORKER_KILLED:
            _kill(other)
        else:
            _kill(other, signal.SIGSTOP)
            await asyncio.sleep(self.freeze)
            _kill(other, signal.SIGCONT)
        self.deaths[what] += 1
        await self._work_off([first, other])

    async def _work_off(self, children: list[BaseProcess]) -> None:
        """Nothing is open any more, or the time for it is over; the processes have ended."""
        deadline = time.monotonic() + END_SECONDS + self.freeze
        while time.monotonic() < deadline and await outlast(self._open):
            await asyncio.sleep(0.2)
        for child in children:
            child.terminate()
            if not await _ended(child, 20):
                _kill(child)

    async def _open(self) -> bool:
        async with self.db.transaction() as tx:
            return len(self.accepted) < self.offered or await proof.open_work(tx) > 0


def plan(kills: int, dice: random.Random) -> list[Death]:
    """Deaths at every boundary, inside every kind of call (more than half), and at random moments."""
    inside = [
        Death("inside", INSIDE[i % len(INSIDE)], 1 + i // len(INSIDE) % 3) for i in range(max(3, round(kills * 0.56)))
    ]
    boundary = [
        Death("boundary", BOUNDARIES[i % len(BOUNDARIES)], 1 + i // len(BOUNDARIES) % 3)
        for i in range(max(len(BOUNDARIES), round(kills * 0.3)))
    ]
    anywhere = [Death("random", "moment", 0)] * max(0, kills - len(inside) - len(boundary))
    deaths = inside + boundary + anywhere
    dice.shuffle(deaths)
    return deaths


async def crash_test(kills: int, seed: int, say: Callable[[str], None], freeze: float) -> tuple[Verdict, CrashTest]:
    """A crash test on a fresh embedded database, and what it showed."""
    dice = random.Random(seed)  # noqa: S311  a repeatable order of deaths, not a secret
    with tempfile.TemporaryDirectory(prefix="laneway-selftest-") as folder:
        postgres = EmbeddedPostgres(Path(folder))
        with postgres as url:
            migrate(url)
            migrate_engine(url)
            db = Database(url)
            await db.open()
            test = CrashTest(db, postgres, folder, say, dice, freeze)
            try:
                return await test.run(plan(kills, dice)), test
            finally:
                await db.close()


def _kill(child: BaseProcess, by: signal.Signals = signal.SIGKILL) -> None:
    if child.pid is not None and child.is_alive():
        os.kill(child.pid, by)


async def _ended(child: BaseProcess, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while child.is_alive() and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    return not child.is_alive()
