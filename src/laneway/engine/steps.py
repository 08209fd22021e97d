"""What journeys and lanes use: durable steps, and effects that happen once.

A step's outcome is stored; after a crash it is read, not made again. An effect also stores its intent first,
so that a crash in the middle leaves a question we can see instead of one we have forgotten.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from dbos import DBOS

from laneway.domain.judgement import Effect, EffectState
from laneway.domain.redaction import redacted
from laneway.engine.running import Run, current_run
from laneway.errors import LeaseLost
from laneway.store import effects, events, jobs
from laneway.store.database import Connection, Database

R = TypeVar("R")
Boundary = Callable[[str], None]


class Steps:
    """Durable steps of the runs in this process."""

    def __init__(self, db: Database, *, draining: Callable[[], bool], boundary: Boundary) -> None:
        self._db, self._draining, self._boundary = db, draining, boundary

    async def step(self, name: str, work: Callable[[], Awaitable[R]]) -> R:
        """The outcome of `work`, stored under `name` at this place of the run; made once."""
        if self._draining():
            # Leaves the run as it is: whoever takes it over goes on right here.
            raise asyncio.CancelledError

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
        async with self._db.transaction() as tx:
            await self.hold(tx, current_run())

    async def hold(self, tx: Connection, run: Run) -> None:
        """Within `tx`, the current run still owns its job; else LeaseLost and nothing of `tx` is kept."""
        if not await jobs.holds(tx, run.job, run.worker, run.epoch):
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
    ) -> Any:
        """The tool's outcome; the effect itself happened once, or is on record as uncertain.

        A `gate` is asked first: what it returns, unless None, is the outcome, and nothing has happened.
        `shown` are the arguments as events may show them.
        """
        run = current_run()
        call = _fingerprint(tool, arguments)
        key = f"{call}.{run.nth(call)}"

        async def once() -> Any:
            # What has happened needs no leave any more, whatever the gate would say now.
            known = await self._earlier(run, key)
            held = await gate() if gate is not None and known is None else None
            if held is not None:
                return held
            earlier = await self._intend(run, key, tool, redacted(arguments) if shown is None else shown, about)
            if earlier is not None and earlier.state is EffectState.DONE:
                return earlier.outcome
            if earlier is not None and not idempotent:
                return await self._uncertain(run, key, tool)
            await self.check_lease()
            outcome = await work()
            await self._done(run, key, tool, outcome)
            return outcome

        return await self.step(f"tool.{tool}", once)

    async def _earlier(self, run: Run, key: str) -> Effect | None:
        async with self._db.transaction() as tx:
            return await effects.get(tx, run.job.id, key)

    async def _intend(self, run: Run, key: str, tool: str, shown: dict[str, Any], about: str) -> Any:
        async with self._db.transaction() as tx:
            earlier = await effects.intend(tx, run.job.id, key, tool, about)
            if earlier is None:
                body = {"tool": tool, "arguments": shown, "key": key}
                await events.append(tx, "tool.started", body, thread_id=run.job.thread_id, job_id=run.job.id)
            return earlier

    async def _done(self, run: Run, key: str, tool: str, outcome: Any) -> None:
        async with self._db.transaction() as tx:
            await effects.done(tx, run.job.id, key, outcome)
            status = outcome.get("status") if isinstance(outcome, dict) else None
            body = {"tool": tool, "key": key, "status": status}
            await events.append(tx, "tool.finished", body, thread_id=run.job.thread_id, job_id=run.job.id)

    async def _uncertain(self, run: Run, key: str, tool: str) -> dict[str, Any]:
        async with self._db.transaction() as tx:
            await effects.uncertain(tx, run.job.thread_id, run.job.id, key, tool)
        sentence = f"{tool} was cut off by an interruption: it may or may not have happened. It was not repeated."
        return {"status": "error", "error": sentence, "uncertain": True}


def _fingerprint(tool: str, arguments: dict[str, Any]) -> str:
    text = json.dumps([tool, arguments], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
