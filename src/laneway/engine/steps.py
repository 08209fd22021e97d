"""What journeys and lanes use: durable steps, and effects that happen once.

A step's outcome is stored; after a crash it is read, not made again. An effect also stores its intent first,
so that a crash in the middle leaves a question we can see instead of one we have forgotten.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from dbos import DBOS

from laneway.clock import Clock, SystemClock
from laneway.domain.judgement import Effect, EffectState
from laneway.domain.redaction import redacted
from laneway.engine import watched
from laneway.engine.running import Run, current_run
from laneway.errors import LeaseLost
from laneway.store import effects, events, jobs
from laneway.store.database import Connection, Database
from laneway.store.finishing import outlast, to_the_end

R = TypeVar("R")
Boundary = Callable[[str], None]
OUTAGE_SECONDS = 24 * 3600.0
"""So long the outcome of an effect waits for the database; afterwards it is uncertain, as after a crash."""


@dataclass(frozen=True, slots=True)
class Leave:
    """A gate's yes: whether somebody who knows vouches for it, and whether it leaves anything different."""

    vouched: bool = False
    changes: bool = True


@dataclass(frozen=True, slots=True)
class _Effect:
    """One call of a tool: its place in the run, and its arguments as they are and as events may show them."""

    run: Run
    tool: str
    key: str
    arguments: dict[str, Any]
    shown: dict[str, Any]
    about: str


class Steps:
    """Durable steps of the runs in this process."""

    def __init__(
        self,
        db: Database,
        *,
        draining: Callable[[], bool],
        boundary: Boundary,
        turn: Callable[[], Awaitable[None]],
        clock: Clock | None = None,
    ) -> None:
        self._db, self._draining, self._boundary, self._clock = db, draining, boundary, clock or SystemClock()
        self._turn = turn

    async def step(self, name: str, work: Callable[[], Awaitable[R]]) -> R:
        """The outcome of `work`, stored under `name` at this place of the run; made once."""
        if self._draining():
            # Leaves the run as it is: whoever takes it over goes on right here.
            raise asyncio.CancelledError
        await self._turn()

        async def body() -> R:
            self._boundary(f"{name}:begin")
            result = await work()
            self._boundary(f"{name}:end")
            return result

        result = await DBOS.run_step_async({"name": name}, body)
        self._boundary(f"{name}:stored")
        return result

    async def check_lease(self) -> None:
        """Returns only if this process may still act for the current run."""
        await self._turn()
        async with self._db.transaction() as tx:
            await self.hold(tx, current_run())

    async def hold(self, tx: Connection, run: Run, *, lock: bool = False) -> None:
        """Within `tx`, the current run still owns its job; else LeaseLost and nothing of `tx` is kept.

        With `lock` whoever tells it to stop does so before this, or after `tx`.
        """
        if not await jobs.holds(tx, run.job, run.worker, run.epoch, lock=lock):
            raise LeaseLost(f"Job {run.job.id} was stopped or taken over by another worker.")

    async def effect(
        self,
        tool: str,
        arguments: dict[str, Any],
        work: Callable[[], Awaitable[Any]],
        *,
        idempotent: bool,
        gate: Callable[[], Awaitable[Any]] | None = None,
        about: str = "",
        shown: dict[str, Any] | None = None,
        key: str | None = None,
    ) -> Any:
        """The tool's outcome; the effect itself happened once, or is on record as uncertain.

        A `gate` is asked first: unless it returns None or leave, what it returns is the outcome, and nothing has
        happened. `shown` are the arguments as events may show them. A caller who knows which of the job's effects
        this is says so by `key`; else it is the nth call with these arguments.
        """
        run = current_run()
        call = _fingerprint(tool, arguments)
        visible = redacted(arguments) if shown is None else shown
        made = _Effect(run, tool, key or f"{call}.{run.nth(call)}", arguments, visible, about)

        async def once() -> Any:
            # What has happened needs no leave any more, whatever the gate would say now.
            known = await self._earlier(made)
            held = await gate() if gate is not None and known is None else None
            if held is not None and not isinstance(held, Leave):
                return await self._held(made, held)
            return await self._act(made, work, held or Leave(), known=known is not None, idempotent=idempotent)

        return await self.step(f"tool.{tool}", once)

    async def _act(
        self, made: _Effect, work: Callable[[], Awaitable[Any]], leave: Leave, *, known: bool, idempotent: bool
    ) -> Any:
        if not known:
            # Before the intent: a watcher who ends the job here ends it before anything has begun.
            await self._show_call(made, leave)
        earlier = await outlast(lambda: self._intend(made, leave), OUTAGE_SECONDS)
        if earlier is not None and earlier.state is EffectState.DONE:
            return earlier.outcome
        # An intent that nobody knew of before is our own, whose commit an outage hid from us: nothing has begun.
        if known and not idempotent:
            return await self._uncertain(made)
        await outlast(self.check_lease, OUTAGE_SECONDS)
        outcome = await work()
        # What has happened is not forgotten because somebody stops the run, or the database goes, before it is
        # written down: the run keeps it, one for each call it makes, and takes no further step until it is.
        await to_the_end(outlast(lambda: self._done(made, outcome, leave), OUTAGE_SECONDS))
        return watched.hinted(outcome, await self._show_end(made, outcome))

    async def _held(self, made: _Effect, held: Any) -> Any:
        """A call that was refused is on record and has been seen; one that a person is asked about is not made yet."""
        rule = held.get("refused") if isinstance(held, dict) else None
        if rule is None:
            return held
        await self._show_call(made, Leave())
        async with self._db.transaction() as tx:
            body = {"tool": made.tool, "arguments": made.shown, "key": made.key, "rule": rule}
            body["result"] = watched.result_hash(held)
            await events.append(tx, "tool.refused", body, thread_id=made.run.job.thread_id, job_id=made.run.job.id)
        return watched.hinted(held, await self._show_end(made, held))

    async def _show_call(self, made: _Effect, leave: Leave) -> None:
        job, now = made.run.job.id, self._clock.now()
        await made.run.watch.see(watched.called(job, now, made.tool, made.arguments, made.key, vouched=leave.vouched))

    async def _show_end(self, made: _Effect, outcome: Any) -> str | None:
        result, failed = watched.result_hash(outcome), watched.failed(outcome)
        job, now = made.run.job.id, self._clock.now()
        return await made.run.watch.see(watched.ended(job, now, made.tool, made.key, failed=failed, result=result))

    async def _earlier(self, made: _Effect) -> Effect | None:
        async with self._db.transaction() as tx:
            return await effects.get(tx, made.run.job.id, made.key)

    async def _intend(self, made: _Effect, leave: Leave) -> Effect | None:
        job = made.run.job
        async with self._db.transaction() as tx:
            earlier = await effects.intend(tx, job.id, made.key, made.tool, made.about)
            if earlier is None:
                body = {"tool": made.tool, "arguments": made.shown, "key": made.key, "changes": leave.changes}
                body |= {"vouched": True} if leave.vouched else {}
                await events.append(tx, "tool.started", body, thread_id=job.thread_id, job_id=job.id)
            return earlier

    async def _done(self, made: _Effect, outcome: Any, leave: Leave) -> None:
        job = made.run.job
        async with self._db.transaction() as tx:
            if not await effects.done(tx, job.id, made.key, outcome):
                # Written by an attempt whose commit an outage hid from us.
                return
            status = outcome.get("status") if isinstance(outcome, dict) else None
            body = {"tool": made.tool, "key": made.key, "status": status, "changes": leave.changes}
            body["result"] = watched.result_hash(outcome)
            await events.append(tx, "tool.finished", body, thread_id=job.thread_id, job_id=job.id)

    async def _uncertain(self, made: _Effect) -> Any:
        async with self._db.transaction() as tx:
            await effects.uncertain(tx, made.run.job.thread_id, made.run.job.id, made.key, made.tool)
        sentence = f"{made.tool} was cut off by an interruption: it may or may not have happened. It was not repeated."
        outcome = {"status": "error", "error": sentence, "uncertain": True}
        return watched.hinted(outcome, await self._show_end(made, outcome))


def _fingerprint(tool: str, arguments: dict[str, Any]) -> str:
    text = json.dumps([tool, arguments], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
