"""THE STORY: what happens to a message once it is written down. Read this first.

    classify → route → (approve) → run → reply

Each arrow is a named durable step. A crash between two steps goes on at the next one; a crash inside a step
does that step again, and effects know whether they had already happened (engine/steps.py). A run that must
wait for a person ends here; the answer starts the next run, which finds everything where this one left it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from dbos._error import DBOSUnexpectedStepError

from laneway.classify.cascade import Cascade
from laneway.domain.job import Job, JobMode, JobStatus
from laneway.domain.judgement import ApprovalState, Classification, Intent
from laneway.domain.patience import Patience
from laneway.engine.faults import PASSING
from laneway.engine.running import End, Run
from laneway.engine.steps import Steps
from laneway.errors import JobCancelled, LanewayError, LeaseLost, Unavailable, described
from laneway.lanes.contract import Answer, Lane, Request
from laneway.llm.guard import guarded_by
from laneway.llm.meter import Account, charged_to
from laneway.store import approvals, conversations, jobs, outbox
from laneway.store.database import Connection, Database
from laneway.transcript import build

_log = logging.getLogger("laneway.journey")

ROUTES: tuple[tuple[str, Callable[[Request], bool], str | None], ...] = (
    ("the request names its lane", lambda r: r.job.lane is not None, None),
    ("chat commands and ready answers", lambda r: r.job.mode is JobMode.ANSWER, "answer"),
    ("nothing is asked", lambda r: r.judged.intent is Intent.OTHER and r.job.mode is not JobMode.PLAN, "answer"),
    ("everything else", lambda r: True, "tools"),
)
"""Which lane: the first row that fits. A row without a lane takes the one the request names."""

NOT_APPROVED = {
    ApprovalState.REJECTED: "Not done: you said no.",
    ApprovalState.EXPIRED: "Not done: nobody answered in time. Ask again if you still want it.",
    ApprovalState.SUPERSEDED: "Not done: a newer request took its place.",
}


class Journey:
    """Takes one job from its message to its reply."""

    def __init__(
        self, db: Database, cascade: Cascade, lanes: Mapping[str, Lane], pulled: frozenset[str], patience: Patience
    ) -> None:
        self._db, self._cascade, self._lanes, self._pulled, self._patience = db, cascade, lanes, pulled, patience
        self.steps: Steps

    async def travel(self, run: Run) -> None:
        """The way itself: the job is done, waits for a person, or an exception says why not."""
        request = await self._classify(run)
        if run.job.mode is JobMode.CLASSIFY:
            return await self._reply(run, _verdict(request.judged), "classify")
        lane = self._route(request)
        if lane.acts and request.judged.needs_confirmation and run.job.mode is not JobMode.PLAN:
            state = await self._approve(run, request)
            if state is ApprovalState.PENDING:
                return None
            if state is not ApprovalState.APPROVED:
                return await self._reply(run, Answer(NOT_APPROVED[state]), lane.name)
        answer = await lane.run(request)
        return await self._reply(run, answer, lane.name)

    async def _classify(self, run: Run) -> Request:
        job = run.job
        async with self._db.transaction() as tx:
            message = await conversations.message(tx, job.message_id)
            thread = await conversations.thread(tx, job.thread_id)
            assert message is not None
            assert thread is not None
            turns = await build(tx, message, limit=self._patience.history, token_budget=self._patience.context_tokens)

        async def judge() -> dict[str, Any]:
            async with self._db.transaction() as tx:
                known = await jobs.classification_of(tx, job.id)
            if known is None:
                with charged_to(Account(job.scope, job.thread_id, job.id)), guarded_by(self.steps.check_lease):
                    given = job.payload.get("classification")
                    known = Classification.given(given) if given else await self._cascade.judge(turns)
                async with self._db.transaction() as tx:
                    await jobs.record_classification(tx, job, known)
            return known.as_dict()

        judged = Classification(**await self.steps.step("classify", judge))
        return Request(job, message, thread.world, turns, judged)

    def _route(self, request: Request) -> Lane:
        for _, fits, lane in ROUTES:
            if fits(request):
                return self._lanes[lane or str(request.job.lane)]
        raise LookupError("the last route fits everything")

    async def _approve(self, run: Run, request: Request) -> ApprovalState:
        action = {"message": str(request.message.id), "text": request.message.text, "plan": request.judged.plan}

        async def ask() -> str:
            async with self._db.transaction() as tx:
                found = await approvals.of_action(tx, run.job.id, approvals.action_hash(action))
                if found is not None:
                    return found.state
                await self.steps.hold(tx, run)
                asked = await approvals.ask(
                    tx, run.job, action, request.judged.summary, self._patience.approval_seconds
                )
                text = f"May I do this? {request.judged.summary}\n`laneway approve {asked.id}` or `… reject …`"
                await self._write(tx, run.job, text, key="approval", meta={"approval": str(asked.id)})
                await jobs.move(tx, run.job.id, JobStatus.WAITING)
                return ApprovalState.PENDING

        return ApprovalState(await self.steps.step(f"approve.{run.job.run}", ask))

    async def _reply(self, run: Run, answer: Answer, lane: str) -> None:
        async def write() -> str:
            async with self._db.transaction() as tx:
                await self.steps.hold(tx, run)
                await self._write(tx, run.job, answer.text, key="answer", meta=answer.result)
                result = {"reply": answer.text, **answer.result}
                await jobs.move(tx, run.job.id, JobStatus.DONE, result=result, lane=lane)
            return "written"

        await self.steps.step("reply", write)

    async def _write(self, tx: Connection, job: Job, text: str, *, key: str, meta: dict[str, Any]) -> None:
        thread = await conversations.thread(tx, job.thread_id)
        assert thread is not None
        await outbox.write_reply(tx, job, text, key=key, pulled=thread.channel in self._pulled, meta=meta)

    async def run(self, run: Run) -> None:
        """The border of a job: however the way ended, the job's row and the user know."""
        _log.info("Job %s, run %d, began.", run.job.id, run.job.run)
        try:
            await self.travel(run)
        except asyncio.CancelledError:
            # Ended from outside. Drained and lost runs stay as they are: somebody else goes on with them.
            if run.end is not End.CANCELLED:
                raise
            await asyncio.shield(self._cancelled(run))
        except LeaseLost:
            await self._cancelled(run)
        except Exception as error:  # noqa: BLE001  the border of a job
            await self._outlive(partial(self._failed, run, error))
        _log.info("Job %s, run %d, ended.", run.job.id, run.job.run)

    async def _outlive(self, record: Callable[[], Awaitable[None]]) -> None:
        """What became of the job is on record, even if the database has to come back first."""
        while True:
            try:
                return await record()
            except Unavailable:
                await asyncio.sleep(1)

    async def _cancelled(self, run: Run) -> None:
        async with self._db.transaction() as tx:
            job = await jobs.get(tx, run.job.id)
            if job.status is JobStatus.RUNNING and job.cancel_requested_at is not None and job.epoch == run.epoch:
                await jobs.move(tx, job.id, JobStatus.CANCELLED, error=described(JobCancelled("Stopped on request.")))

    async def _failed(self, run: Run, error: Exception) -> None:
        job, fault = run.job, described(error)
        async with self._db.transaction() as tx:
            if not await jobs.holds(tx, job, run.worker, run.epoch):
                return
            if isinstance(error, DBOSUnexpectedStepError):
                # The stored steps are of another shape of journey: a fresh run, whose effects know they happened.
                await jobs.move(tx, job.id, JobStatus.QUEUED)
            elif isinstance(error, PASSING) and job.attempts < self._patience.attempts:
                delay = self._patience.pause(job.attempts, getattr(error, "retry_after", None))
                _log.warning("Job %s is tried again in %.1f s: %s", job.id, delay, fault["message"])
                await jobs.move(tx, job.id, JobStatus.QUEUED, delay=delay, resume=True, error=fault)
            else:
                _log.error("Job %s failed: %s", job.id, fault["message"], exc_info=_unforeseen(error))
                await self.give_up(tx, job, fault)

    async def give_up(self, tx: Connection, job: Job, fault: dict[str, Any]) -> None:
        """Within `tx`, the job is failed for good and its user is told."""
        await self._write(tx, job, f"That did not work. {fault['message']}", key=f"failed.{job.run}", meta={})
        await jobs.move(tx, job.id, JobStatus.FAILED, error=fault)


def _unforeseen(error: Exception) -> Exception | None:
    return None if isinstance(error, LanewayError) else error


def _verdict(judged: Classification) -> Answer:
    confirm = ", needs confirmation" if judged.needs_confirmation else ""
    text = f"{judged.intent} ({judged.confidence:.0%}{confirm}): {judged.summary} Plan: {judged.plan}"
    return Answer(text, {"classification": judged.as_dict()})
