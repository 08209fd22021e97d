"""Runs of workflows on the engine: a run is a job, and every stretch of it a durable step."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from laneway.clock import Clock, SystemClock
from laneway.domain.conversation import Principal
from laneway.domain.redaction import redacted
from laneway.domain.schedule import NOTHING
from laneway.domain.workflow import Workflow
from laneway.domain.workflow_run import RUN_ENDED, NodeRecord, RunStatus, WorkflowRun
from laneway.engine.running import current_run
from laneway.engine.steps import Steps
from laneway.errors import LanewayError, LeaseLost
from laneway.lanes.contract import Answer, Request
from laneway.lanes.workflow.hands import Hands, Kind, ended_as
from laneway.lanes.workflow.looking_back import in_line
from laneway.lanes.workflow.nodes import KINDS
from laneway.lanes.workflow.notes import check_ready
from laneway.lanes.workflow.recording import beginning
from laneway.lanes.workflow.remembering import Remembering
from laneway.lanes.workflow.starting import Order, start, start_child
from laneway.lanes.workflow.stretch import Shop, Stood, Stretch, soonest
from laneway.lanes.workflow.telling import owner_option
from laneway.store import events, workflow_nodes, workflow_runs, workflow_triggers, workflow_turns
from laneway.store.database import Connection, Database

LARGEST_OUTPUT = 64 * 1024
"""Bytes of a run's output that are kept in its row; of more, a likeness."""
SPEAKS = frozenset({"manual", "chat", "test"})
"""Causes a person is behind, who is told how the run ended; others speak by their notify nodes, or when they fail."""


class WorkflowStopped(LanewayError):
    """A node failed, and no edge says what to do then."""

    status, code = 409, "workflow-stopped"


class StoppedAgain(WorkflowStopped):
    """The same as before: the runs of a schedule fail one after the other."""

    quiet = True


class Resting(LeaseLost):
    """The run waits as a row; no worker holds it any more."""


class Runs:
    """Starts runs and walks them."""

    def __init__(
        self, db: Database, steps: Steps, hands: Hands, clock: Clock | None = None, kinds: Mapping[str, Kind] = KINDS
    ) -> None:
        self._db, self._steps, self._hands, self._clock = db, steps, hands, clock or SystemClock()
        self._remembering = Remembering(hands.artifacts)
        self._shop = Shop(db, steps, hands, self._clock, self._child, kinds)

    async def start(
        self, tx: Connection, workflow: Workflow, principal: Principal, order: Order | None = None,
        version: int | None = None, document: dict[str, Any] | None = None,
    ) -> tuple[UUID, bool]:  # fmt: skip
        """A run of the workflow is queued, once for each occasion: its id, and whether it is new."""
        wanted = order or Order()
        self._check(document or workflow.document, wanted.pinned)
        return await start(
            tx, workflow, document or workflow.document, version or workflow.version, principal, wanted,
            self._hands.pulled,
        )  # fmt: skip

    @property
    def pulled(self) -> Collection[str]:
        """Channels whose clients fetch their replies themselves."""
        return self._hands.pulled

    def secret(self, name: str) -> str | None:
        """The secret of this name, read now; None if there is none, or if it is one of our own settings."""
        return self._hands.secret(name)

    async def _child(
        self, tx: Connection, parent: WorkflowRun, record: NodeRecord, config: Mapping[str, Any], given: Any
    ) -> UUID:
        return await start_child(tx, parent, record, config, self._hands.pulled, given, self._check)

    def _check(self, document: dict[str, Any], pinned: Collection[str] = ()) -> None:
        check_ready(document, self._hands.knows_model, pinned)

    async def go(self, request: Request, run: UUID | str) -> Answer:
        """The run has ended and this is its answer; one that must wait rests as a row, which ends the job's run."""
        run_id = UUID(str(run))

        async def stretch() -> dict[str, Any]:
            return await self._stretch(request, run_id)

        verdict = await self._steps.step("workflow", stretch)
        if verdict["status"] == RunStatus.WAITING:
            raise Resting(f"Run {run_id} waits.")
        if verdict["status"] != RunStatus.DONE:
            stopped = StoppedAgain if verdict.get("quiet") else WorkflowStopped
            raise stopped(verdict["error"], hint=f"Mend it, then: `laneway workflow retry {run_id}`.")
        async with self._db.transaction() as tx:
            ended = await workflow_runs.get(tx, run_id)
            nodes = await workflow_nodes.of_run(tx, run_id)
        return _answer(ended, nodes)

    async def _stretch(self, request: Request, run_id: UUID) -> dict[str, Any]:
        async with self._db.transaction() as tx:
            # It may have to stand in line: whoever tells it to stop does so before this, or finds it at rest.
            await self._steps.hold(tx, current_run(), lock=True)
            run = await workflow_runs.get(tx, run_id)
            if run.status in RUN_ENDED:
                why = (run.error or {}).get("message", f"The run {ended_as(run.status)}.")
                return {"status": run.status, "error": why}
            if await self._in_line(tx, request, run):
                return {"status": RunStatus.WAITING}
            await workflow_runs.set_status(tx, run_id, RunStatus.RUNNING)
            run = await workflow_runs.get(tx, run_id)
            read = await workflow_nodes.sources(tx, run.previous_id) if run.previous_id else []
        previous = await self._remembering.previous(self._db, run)
        for source in run.sources:
            if source not in current_run().sources:
                current_run().sources.append(source)
        stretch = Stretch(self._shop, run, request, previous, read)
        try:
            # A phrase starts a run without asking us.
            self._check(run.document, run.pinned)
            stood = await stretch.go()
        except LeaseLost:
            raise
        except LanewayError as error:
            return await self._stopped(run, {"code": error.code, "message": str(error)}, [])
        if stood.failed is not None:
            return await self._stopped(run, _fault(stood.failed), [stood.failed.node])
        return await self._rest(request, run, stood) if stood.open else await self._done(run, stretch)

    async def _in_line(self, tx: Connection, request: Request, run: WorkflowRun) -> bool:
        """Whether the run waits as a row for one before it, which it would compare itself with too early."""
        # A sub-workflow stands in no line: the run that waits for it may be the one before it.
        if run.test or run.parent_id is not None or not in_line(run.document):
            return False
        if await workflow_nodes.of_run(tx, run.id):
            return False
        if await workflow_turns.take(tx, run) is None:
            return False
        await workflow_runs.set_status(tx, run.id, RunStatus.WAITING)
        await workflow_runs.rest(tx, request.job, None)
        return True

    async def _next_in_line(self, tx: Connection, run: WorkflowRun) -> None:
        if in_line(run.document):
            await workflow_runs.wake(tx)

    async def _done(self, run: WorkflowRun, stretch: Stretch) -> dict[str, Any]:
        ends = stretch.ends()
        given = {name: stretch.outputs.get(name) for name in ends}
        output = next(iter(given.values())) if len(given) == 1 else given
        size = len(await asyncio.to_thread(json.dumps, output, default=str))
        kept = output if size <= LARGEST_OUTPUT else beginning(output, size)
        async with self._db.transaction() as tx:
            await self._steps.hold(tx, current_run())
            await workflow_runs.end(tx, run, RunStatus.DONE, output=kept, ended_at=ends)
            await self._next_in_line(tx, run)
            if not run.test:
                await workflow_triggers.go_on(tx, run.workflow_id)
        return {"status": RunStatus.DONE}

    async def _stopped(self, run: WorkflowRun, error: dict[str, Any], ended_at: list[str]) -> dict[str, Any]:
        async with self._db.transaction() as tx:
            await self._steps.hold(tx, current_run())
            await workflow_runs.end(tx, run, RunStatus.FAILED, error=error, ended_at=ended_at)
            await self._next_in_line(tx, run)
            more = await said_of_failure(tx, run)
        return {"status": RunStatus.FAILED, "error": f"{error['message']} {more or ''}".strip(), "quiet": more is None}

    async def _rest(self, request: Request, run: WorkflowRun, stood: Stood) -> dict[str, Any]:
        """The job holds no worker; it wakes when an answer, another run or an event comes, or at the first moment."""
        job, until = request.job, soonest(stood.open)
        timed = not any(_is_woken(record) for record in stood.open)
        async with self._db.transaction() as tx:
            # Whoever tells it to stop does so before this, or finds it at rest.
            await self._steps.hold(tx, current_run(), lock=True)
            await workflow_runs.set_status(tx, run.id, RunStatus.WAITING)
            if stood.questions:
                # One at a time: the answer to it wakes the run, which then asks the next.
                asked = stood.questions[0]
                assert asked.question is not None
                told = replace(asked.question, sources=list(current_run().sources))
                await workflow_runs.ask(tx, job, told, asked.may_answer, self._hands.pulled)
            elif timed and until is not None:
                pause = max((until - self._clock.now()) / timedelta(seconds=1), 0.0)
                await workflow_runs.rest(tx, job, pause)
            else:
                await workflow_runs.rest(tx, job, None)
        return {"status": RunStatus.WAITING}


def _is_woken(record: NodeRecord) -> bool:
    """Whether something other than time wakes the node: an answer, another run, an event."""
    return record.again_at is None or bool({"event", "run", "job", "approval"} & (record.waits or {}).keys())


def _fault(record: NodeRecord) -> dict[str, Any]:
    error = record.error or {}
    tries = f" after {record.attempts} attempts" if record.attempts > 1 else ""
    message = f"The node `{record.node}` failed{tries}: {error.get('message', 'nobody knows why')}"
    return {"code": str(error.get("code", "node-failed")), "message": message, "node": record.node}


def _answer(run: WorkflowRun, nodes: list[NodeRecord]) -> Answer:
    result: dict[str, Any] = {"workflow_run": str(run.id), "workflow": run.tag, "ended_at": run.ended_at}
    if run.cause.get("type") not in SPEAKS:
        return Answer(NOTHING, result)
    ended = ", ".join(f"`{name}`" for name in run.ended_at) or "nothing"
    told = "The test of" if run.test else "The workflow"
    text = f"{told} `{run.tag}` has run: {len(nodes)} {'node' if len(nodes) == 1 else 'nodes'}, ended at {ended}."
    shown = redacted(run.output)
    if shown is not None:
        line = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, default=str)
        text += f"\n{line if len(line) <= 1000 else line[:999] + '…'}"
    return Answer(text, result)


__all__ = ["Order", "Resting", "Runs", "WorkflowStopped"]


MOST_FAILURES = 5
"""Failed runs in a row after which a schedule is paused."""


async def said_of_failure(tx: Connection, run: WorkflowRun) -> str | None:
    """What is said beside the failure of the run, which has just ended; None if nothing is said at all.

    Of a schedule that fails again and again the owner is told at the first, not at each, and when it is paused.
    """
    if run.cause.get("type") != "cron" or run.cause.get("retried") or run.test:
        return ""
    count = await workflow_runs.failed_in_a_row(tx, run)
    if count >= MOST_FAILURES and await workflow_triggers.pause(tx, run.workflow_id, int(run.cause["trigger"])):
        body = {"workflow": run.tag, "trigger": run.cause["trigger"], "failures": count}
        await events.append(tx, "workflow.schedule.paused", body, job_id=run.job_id)
        whose = await owner_option(tx, run.principal_id)
        return (
            f"It is the {count}th failure in a row, so the schedule of `{run.tag}` is paused. It goes on when the "
            f"workflow is changed, or when a run of it ends well: `laneway workflow run {run.tag}{whose}`."
        )
    return "" if count <= 1 else None
