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
from multiprocessing.process import BaseProcess
from pathlib import Path

from laneway.channels.intake import Intake, Limits
from laneway.cli.selftest.counting import CountingServer, KillOrder
from laneway.cli.selftest.evidence import Verdict, weigh
from laneway.cli.selftest.subject import CHANNEL, Orders, live
from laneway.domain.conversation import Incoming, Principal
from laneway.engine.launch import migrate_engine
from laneway.store import principals, proof
from laneway.store.database import Database
from laneway.store.embedded import EmbeddedPostgres
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
INSIDE = ("model", "tool", "deliver")
THREADS = 12
START_SECONDS, LIFE_SECONDS = 30.0, 8.0
END_SECONDS = 120.0


@dataclass(frozen=True)
class Death:
    """How one life of the worker is to end."""

    kind: str
    what: str
    nth: int


@dataclass
class CrashTest:
    """One crash test: conversations, a counting server, and a worker that keeps dying."""

    db: Database
    url: str
    home: str
    owner: Principal
    say: Callable[[str], None]
    dice: random.Random
    server: CountingServer = field(default_factory=CountingServer)
    accepted: list[str] = field(default_factory=list)
    deaths: Counter[str] = field(default_factory=Counter)

    async def run(self, deaths: list[Death]) -> Verdict:
        """Every death has been died, everything accepted has been worked off, and the evidence weighed."""
        await self.server.start()
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["laneway.cli.selftest.subject", "pydantic_ai.durable_exec.dbos"])
        began = time.monotonic()
        for number, death in enumerate(deaths, start=1):
            await self._feed(3)
            await self._one_life(context, death)
            if number % 20 == 0:
                self.say(
                    f"{number} of {len(deaths)} kills, {len(self.accepted)} messages, {time.monotonic() - began:.0f} s"
                )
        await self._finish(context)
        verdict = await weigh(self.db, self.server.calls, self.accepted)
        await self.server.stop()
        return verdict

    async def _feed(self, count: int) -> None:
        intake = Intake(self.db, ["answer", "tools"], Limits(10_000, 10_000))
        for _ in range(count):
            item = f"item-{len(self.accepted)}"
            payload = {"classification": {"intent": "command", "summary": "", "plan": ""}}
            thread = f"thread-{len(self.accepted) % THREADS}"
            await intake.receive(
                Incoming(CHANNEL, thread, item, f"count {item}", self.owner, mode="EXECUTE", payload=payload)
            )
            self.accepted.append(item)

    def _start(self, context: multiprocessing.context.BaseContext, death: Death | None) -> BaseProcess:
        die_at = (death.what, death.nth) if death is not None and death.kind == "boundary" else None
        child = context.Process(target=live, args=(Orders(self.url, self.home, self.server.port, die_at),), daemon=True)  # type: ignore[attr-defined]
        child.start()
        return child  # type: ignore[no-any-return]

    async def _one_life(self, context: multiprocessing.context.BaseContext, death: Death) -> None:
        child = self._start(context, death)
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
        """The worker has called somebody, or died before: on a slow machine a life is counted from there."""
        before, deadline = len(self.server.calls), time.monotonic() + START_SECONDS
        while child.is_alive() and len(self.server.calls) == before and time.monotonic() < deadline:
            await asyncio.sleep(0.01)

    async def _finish(self, context: multiprocessing.context.BaseContext) -> None:
        self.server.expect(None)
        child = self._start(context, None)
        deadline = time.monotonic() + END_SECONDS
        while time.monotonic() < deadline and await self._open():
            await asyncio.sleep(0.2)
        child.terminate()
        if not await _ended(child, 20):
            _kill(child)

    async def _open(self) -> int:
        async with self.db.transaction() as tx:
            return await proof.open_work(tx)


def plan(kills: int, dice: random.Random) -> list[Death]:
    """Deaths at every boundary, inside every kind of call (more than half), and at random moments."""
    inside = [Death("inside", INSIDE[i % 3], 1 + i % 4) for i in range(max(3, round(kills * 0.56)))]
    boundary = [
        Death("boundary", BOUNDARIES[i % len(BOUNDARIES)], 1 + i // len(BOUNDARIES) % 3)
        for i in range(max(len(BOUNDARIES), round(kills * 0.3)))
    ]
    anywhere = [Death("random", "moment", 0)] * max(0, kills - len(inside) - len(boundary))
    deaths = inside + boundary + anywhere
    dice.shuffle(deaths)
    return deaths


async def crash_test(kills: int, seed: int, say: Callable[[str], None]) -> tuple[Verdict, CrashTest]:
    """A crash test on a fresh embedded database, and what it showed."""
    dice = random.Random(seed)  # noqa: S311  a repeatable order of deaths, not a secret
    with tempfile.TemporaryDirectory(prefix="laneway-selftest-") as folder, EmbeddedPostgres(Path(folder)) as url:
        migrate(url)
        migrate_engine(url)
        db = Database(url)
        await db.open()
        async with db.transaction() as tx:
            owner = await principals.set_owner_key(tx, os.urandom(16).hex())
        test = CrashTest(db, url, folder, owner, say, dice)
        try:
            return await test.run(plan(kills, dice)), test
        finally:
            await db.close()


def _kill(child: BaseProcess) -> None:
    if child.pid is not None and child.is_alive():
        os.kill(child.pid, signal.SIGKILL)


async def _ended(child: BaseProcess, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while child.is_alive() and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    return not child.is_alive()
