"""Our own jobs, watched by the same chain as other agents' sessions, while they run.

A kill cancels the job with everything it started; the reply says why. A notification reaches the owner, once. A warning
is an event that `laneway why` tells. The engine shows each event on its way and waits for nobody, but for a kill: what
is to be ended must not begin first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from laneway.clock import Clock, SystemClock
from laneway.domain.job import FINAL
from laneway.domain.session import EventKind, SessionEvent, SessionState
from laneway.engine import watched
from laneway.engine.replay import Replay, replayed
from laneway.engine.running import End, Run
from laneway.engine.watched import PROVIDER, VOUCHED
from laneway.errors import Unavailable
from laneway.reactors.acting import Acting, cause_of
from laneway.reactors.border import Failed, attempted
from laneway.reactors.chain import Chain, Said, strongest
from laneway.reactors.contract import Continue, Intervene, Reaction, Reactor, ReactorContext, Severity, Warn
from laneway.reactors.safety_guard import SafetyGuard
from laneway.reactors.telemetry import Telemetry
from laneway.store import jobs
from laneway.store.database import Database

TICK_SECONDS = 5.0
MOST_TRIES = 30
"""Seconds for which a database that is away is waited for when a run has ended."""
PATIENCE_SECONDS = 5.0
_log = logging.getLogger("laneway.reactors")
Make = Callable[[Run, Callable[[Failed], None]], Sequence[Reactor]]
"""New reactors for one job; what cannot be made is told to the second argument."""
Workspace = Callable[[UUID], Path | None]
"""The folder of a thread: what its jobs may change without being asked about it."""


class OwnJobs:
    """Watches the jobs this process runs."""

    def __init__(
        self, db: Database, make: Make, pulled: Collection[str], telemetry: Telemetry | None = None,
        clock: Clock | None = None, tick_seconds: float = TICK_SECONDS, workspace: Workspace = lambda _: None,
    ) -> None:  # fmt: skip
        self._db, self._make, self._pulled, self._telemetry = db, make, pulled, telemetry or Telemetry(None)
        self._clock, self._tick_seconds, self._workspace = clock or SystemClock(), tick_seconds, workspace
        self._finishing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def watching(self, run: Run) -> AsyncIterator[None]:
        """The run is watched while the block lasts; what watchers still have to do is done soon after it."""
        folder = self._workspace(run.job.thread_id)
        acting = Acting(self._db, run.job, self._pulled)
        watch = WatchedJob(run, self._db, self._make, acting, self._telemetry, self._clock, str(folder or ""))
        run.watch = watch
        ticking = asyncio.create_task(watch.keep_ticking(self._tick_seconds), name=f"watch {run.job.id}")
        try:
            yield
        finally:
            # Not waited for: the job has its reply, and the next one of its thread need not wait.
            task = asyncio.create_task(watch.finish(ticking))
            self._finishing.add(task)
            task.add_done_callback(self._finishing.discard)

    async def settled(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Everything that watchers had to do has been done, or so much time has passed."""
        if self._finishing:
            await asyncio.wait(self._finishing, timeout=seconds)


class WatchedJob:
    """One run of a job, its chain, and what is to be done about what the chain says."""

    def __init__(
        self, run: Run, db: Database, make: Make, acting: Acting, telemetry: Telemetry, clock: Clock, cwd: str
    ) -> None:
        self._run, self._db, self._acting, self._telemetry, self._clock = run, db, acting, telemetry, clock
        self._cwd = cwd
        self._quiet = telemetry.reactors()
        self._broken: set[str] = set()
        reactors = [Excusing(reactor) for reactor in make(run, self._failed)]
        self._chain = Chain(SessionState(str(run.job.id), PROVIDER), reactors, self._failed)
        self._killed = self._over = self._ended = False

    async def begin(self) -> None:
        """The chain knows what the job did before, and that it goes on."""
        job, now = self._run.job, self._clock.now()
        if job.run == 1 and job.epoch == 1:
            await self.see(watched.asked(job.id, now, cwd=self._cwd))
            return
        try:
            async with self._db.transaction() as tx:
                before = await replayed(tx, job, self._cwd)
        except Unavailable:
            _log.warning("Job %s is watched without memory of its earlier runs.", job.id)
            before = Replay([], [])
        await self._remember(before)
        await self.see(watched.began(job.id, now, job.run, self._cwd))

    async def _remember(self, before: Replay) -> None:
        """What was seen is known again. What nobody had time to act on, the last event, is acted on now."""
        for event in before.seen:
            for reactor in self._quiet:
                attempted(reactor.name, lambda r=reactor, e=event: r.handle(self._context(e, replayed=True)))  # type: ignore[misc]
        done = {(str(e.body.get("reactor")), str(e.body.get("cause"))) for e in before.reactions}
        watched_until = max((e.created_at for e in before.reactions), default=None)
        self._chain.replay(before.seen[:-1], until=watched_until)
        for event in before.seen[-1:]:
            said = [one for one in self._chain.handle(event) if (one.reactor, cause_of(event)) not in done]
            await self._react(event, said)

    async def see(self, event: SessionEvent) -> str | None:
        """Every reactor has seen the event; a kill has been carried out, the rest will be. Returns a hint, if any."""
        said = self._chain.handle(event)
        for reactor in self._quiet:
            attempted(reactor.name, lambda r=reactor: r.handle(self._context(event)))  # type: ignore[misc]
        for one in said:
            self._telemetry.counts.reacted(one.reactor, one.reaction)
        return await self._react(event, said)

    async def keep_ticking(self, seconds: float) -> None:
        """The clock is shown to the chain every few seconds, and what is left to do is tried again."""
        while not self._over:
            await self._acting.wait(seconds)
            busy = "busy" if self._chain.state.open_calls else ""
            await self.see(SessionEvent(str(self._run.job.id), PROVIDER, EventKind.TICK, self._clock.now(), busy))
            await self._acting.carry_out()

    async def finish(self, ticking: asyncio.Task[None]) -> None:
        """The end of the job has been seen, if it was the end, and nothing is left to do."""
        self._over = True
        self._acting.wake()
        await asyncio.gather(ticking, return_exceptions=True)
        for _ in range(MOST_TRIES):
            try:
                await self._see_the_end()
                if await self._acting.carry_out():
                    return
            except Unavailable:
                pass
            await asyncio.sleep(1)
        _log.warning("What was said about job %s when it ended could not be stored.", self._run.job.id)

    async def _see_the_end(self) -> None:
        job = self._run.job.id
        if self._ended:
            return
        async with self._db.transaction() as tx:
            status = (await jobs.get(tx, job)).status
        self._ended = True
        if status in FINAL:
            # Nothing is left to be killed.
            self._killed = True
            await self.see(watched.finished(job, self._clock.now(), status))

    async def _react(self, event: SessionEvent, said: list[Said]) -> str | None:
        """The strongest reaction is carried out; the others are kept as warnings."""
        first = strongest(said)
        for one in said:
            kills = one is first and isinstance(one.reaction, Intervene) and one.reaction.severity is Severity.KILL
            if kills and not self._killed:
                await self._kill(event, one)
            else:
                self._acting.later(event, one, strongest=one is first)
        nudges = [one.reaction.message for one in said if isinstance(one.reaction, Warn) and one.reaction.nudge]
        return f"{nudges[0]}. Try something else, or say what is in the way." if nudges else None

    async def _kill(self, event: SessionEvent, said: Said) -> None:
        self._killed = True
        try:
            running = await self._acting.kill(event, said)
        except Unavailable:
            self._killed = False
            self._acting.later(event, said, strongest=True)
            return
        if running:
            self._run.stop(End.CANCELLED)

    def _failed(self, failed: Failed) -> None:
        self._telemetry.counts.failed(failed.reactor)
        if failed.reactor not in self._broken:
            self._broken.add(failed.reactor)
            self._acting.failure(failed)

    def _context(self, event: SessionEvent, *, replayed: bool = False) -> ReactorContext:
        return ReactorContext(event, self._chain.state, replayed)


class Excusing:
    """Keeps the guard from raising an alarm about a call that somebody who knows let pass; everything else passes."""

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor

    @property
    def name(self) -> str:
        return str(getattr(self._reactor, "name", type(self._reactor).__name__))

    def handle(self, ctx: ReactorContext) -> Reaction:
        """What the reactor says, unless it is the guard's second opinion."""
        if isinstance(self._reactor, SafetyGuard) and ctx.event.text == VOUCHED:
            # It remembers the call all the same, and need not judge it a second time.
            self._reactor.handle(replace(ctx, replayed=True))
            return Continue()
        return self._reactor.handle(ctx)
