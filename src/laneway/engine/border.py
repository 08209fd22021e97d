"""The border of a job: whatever happens inside, the job's row and its user know how it ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from dbos._error import DBOSUnexpectedStepError

from laneway.clock import SystemClock
from laneway.domain.job import Job, JobStatus, Scope, node_of
from laneway.domain.patience import Patience
from laneway.domain.report import what_was_done
from laneway.domain.schedule import NOTHING
from laneway.engine import watched
from laneway.engine.deadline import limited
from laneway.engine.faults import PASSING
from laneway.engine.running import End, Run
from laneway.errors import JobCancelled, LanewayError, LeaseLost, ModelFault, TimedOut, described, failure
from laneway.store import effects, jobs, outbox, proactive
from laneway.store.database import Connection, Database
from laneway.store.finishing import outlast

_log = logging.getLogger("laneway.journey")


class Border:
    """Lets a run travel and records what became of it."""

    def __init__(self, db: Database, patience: Patience, pulled: frozenset[str]) -> None:
        self._db, self._patience, self._pulled = db, patience, pulled

    async def cross(self, run: Run, travel: Callable[[Run], Awaitable[None]]) -> None:
        """However the way ended, the job's row and the user know."""
        _log.info("Job %s, run %d, began.", run.job.id, run.job.run)
        try:
            # Inside: a watcher may end the run before it has begun.
            await run.watch.begin()
            async with limited(self._db, run):
                await travel(run)
        except asyncio.CancelledError:
            if run.end is End.LATE:
                late = TimedOut("It took longer than it was given.", hint="Ask for less, or give it more time.")
                await self._outlive(run, partial(self._failed, run, late))
            elif run.end is End.CANCELLED:
                await self._outlive(run, partial(self._cancelled, run))
            else:
                # Ended from outside. Drained and lost runs stay as they are: somebody else goes on with them.
                raise
        except LeaseLost:
            await self._outlive(run, partial(self._cancelled, run))
        except Exception as error:  # noqa: BLE001  the border of a job
            await self._outlive(run, partial(self._failed, run, error))
        _log.info("Job %s, run %d, ended.", run.job.id, run.job.run)

    async def _outlive(self, run: Run, record: Callable[[], Awaitable[None]]) -> None:
        """What became of the job is on record, though somebody stops the run meanwhile."""
        recording = asyncio.create_task(outlast(record))
        try:
            await asyncio.shield(recording)
        except asyncio.CancelledError:
            if run.end not in (End.CANCELLED, End.LATE):
                recording.cancel()
                raise
            # Word of a stop comes after the stop itself, which the run may have noticed by then.
            await asyncio.shield(recording)

    async def _cancelled(self, run: Run) -> None:
        async with self._db.transaction() as tx:
            await self._stopped(tx, run)

    async def _stopped(self, tx: Connection, run: Run) -> None:
        """Within `tx`, the job is cancelled and its user knows, if it is ours and somebody asked to stop it."""
        job = await jobs.get(tx, run.job.id)
        if job.status is not JobStatus.RUNNING or job.cancel_requested_at is None or job.epoch != run.epoch:
            return
        done = what_was_done(await effects.of_job(tx, job.id))
        # Whoever asked knows why; of what a reactor ended the owner is told, and no customer.
        why = str(job.payload.get("stopped_because", ""))
        text = " ".join(filter(None, ("Stopped.", why if job.owner else "", done or "Nothing had been done.")))
        meta = _carried(run) | {"failed": failure("cancelled", text)}
        if not node_of(job):
            await outbox.write_reply(tx, job, text, key=f"stopped.{job.run}", pulled=self._pulled, meta=meta)
        await jobs.move(tx, job.id, JobStatus.CANCELLED, error=described(JobCancelled(why or "Stopped on request.")))

    async def _failed(self, run: Run, error: Exception) -> None:
        job, fault = run.job, described(error)
        async with self._db.transaction() as tx:
            if not await jobs.holds(tx, job, run.worker, run.epoch):
                # Whoever stopped it at that moment waits for word; one that was taken over is not ours to end.
                return await self._stopped(tx, run)
            if isinstance(error, DBOSUnexpectedStepError):
                # The stored steps are of another shape of journey: a fresh run, whose effects know they happened.
                await jobs.move(tx, job.id, JobStatus.QUEUED)
            elif getattr(error, "waits", False):
                # A call of others that ends wakes it; the pause is for what nobody tells of, and soon stops doubling.
                delay = self._patience.pause(min(job.run, 5), None)
                return await jobs.wait(tx, job.id, fault, delay)
            elif isinstance(error, PASSING) and job.attempts < self._patience.attempts:
                delay = self._patience.pause(job.attempts, getattr(error, "retry_after", None))
                _log.warning("Job %s is tried again in %.1f s: %s", job.id, delay, fault["message"])
                await jobs.move(tx, job.id, JobStatus.QUEUED, delay=delay, resume=True, error=fault)
            else:
                unforeseen = None if isinstance(error, LanewayError) else error
                _log.error("Job %s failed: %s", job.id, fault["message"], exc_info=unforeseen)
                await self.give_up(tx, job, fault, _carried(run), quiet=getattr(error, "quiet", False))
        if not isinstance(error, ModelFault):
            # A model's failing was seen when it happened.
            await run.watch.see(watched.broke(job.id, SystemClock().now(), fault["message"], job.run))
        return None

    async def give_up(
        self,
        tx: Connection,
        job: Job,
        fault: dict[str, Any],
        meta: dict[str, Any] | None = None,
        *,
        quiet: bool = False,
    ) -> None:
        """Within `tx`, the job is failed for good and its user is told, unless it is to be `quiet`."""
        # What things cost here is the owner's business, and the owner has been told.
        hidden = not job.owner and fault["code"] == "budget-exceeded"
        text = (
            "I cannot answer this now. Please try again later." if hidden else f"That did not work. {fault['message']}"
        )
        failed = failure(fault["code"], text if hidden else fault["message"])
        say = proactive.answer if job.scope is Scope.PROACTIVE else outbox.write_reply
        text = NOTHING if quiet and job.scope is Scope.PROACTIVE else text
        await say(tx, job, text, key=f"failed.{job.run}", pulled=self._pulled, meta={**(meta or {}), "failed": failed})
        await jobs.move(tx, job.id, JobStatus.FAILED, error=fault)


def _carried(run: Run) -> dict[str, Any]:
    """What a reply's record says of its sources: whoever reads it later reads their words, too."""
    return {"sources": list(run.sources)} if run.sources else {}
