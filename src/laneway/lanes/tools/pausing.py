"""How a run with tools ends at a question or at work it handed on, and how the next one goes on from there.

Nothing waits in memory: the messages so far and the calls that may not be made yet, or whose jobs have not ended, are a
row. Each call is asked for by itself; when all are answered, exactly the stored calls are made, and no model is asked
before that. What came of a job that was handed work is told to the model as the outcome of that call.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from pydantic_ai import DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from laneway.domain.job import FINAL, Job, JobStatus
from laneway.domain.judgement import ApprovalState
from laneway.domain.report import what_was_done
from laneway.engine.running import current_run
from laneway.engine.steps import Steps
from laneway.lanes.contract import Answer, Wait
from laneway.lanes.tools.entry import failure, success
from laneway.lanes.tools.gate import NEVER_STANDING
from laneway.lanes.tools.work import Work
from laneway.store import approvals, effects, jobs, ledger, pauses
from laneway.store.database import Connection, Database
from laneway.store.pauses import Pause
from laneway.store.questions import NOT_APPROVED, Question, may_i

LONGEST_SHOWN, SHORT = 3000, 200


@dataclass(frozen=True)
class Paused:
    """What had been said when the job stopped, and the answers and outcomes with which it goes on."""

    messages: list[ModelMessage]
    results: DeferredToolResults


class Pausing:
    """Stores runs that must wait, and finds them again."""

    def __init__(self, db: Database, steps: Steps, seconds: int) -> None:
        self._db, self._steps, self._seconds = db, steps, seconds

    async def stop(self, work: Work, asked: DeferredToolRequests, messages: list[ModelMessage]) -> Question | Wait:
        """The run is stored as it stands; returns the first question to ask, else the jobs to wait for."""
        calls = [asked.metadata[part.tool_call_id] for part in (*asked.approvals, *asked.calls)]
        calls[0] = calls[0] | {"heard": work.heard}
        pause = Pause(
            json.loads(ModelMessagesTypeAdapter.dump_json(messages)),
            calls,
            dict(current_run().calls),
            list(work.sources),
            sorted(work.found),
        )

        async def store() -> str:
            async with self._db.transaction() as tx:
                await self._steps.hold(tx, current_run())
                await pauses.put(tx, work.request.job.id, pause)
            return "stored"

        await self._steps.step("pause", store)
        if asked.approvals:
            return await self._question(work, calls[0])
        return Wait(tuple(UUID(call["job"]) for call in calls))

    async def look(self, work: Work) -> Paused | Answer | Question | Wait | None:
        """Where an earlier run of the job stopped, if one did; `work` knows again what that run knew.

        It does not go on while something is open, nor after a no.
        """
        job = work.request.job
        if not work.request.resumes:
            return None

        async def read() -> dict[str, Any] | None:
            async with self._db.transaction() as tx:
                found = await pauses.of_job(tx, job.id)
                if found is None:
                    return None
                states = [await _state(tx, job.id, call) for call in found.calls]
            return asdict(found) | {"states": states}

        stored = await self._steps.step("paused", read)
        return None if stored is None else await self._standing(work, stored)

    async def _standing(self, work: Work, stored: dict[str, Any]) -> Paused | Answer | Question | Wait:
        current_run().calls = dict(stored["counts"])
        work.found |= set(stored["found"])
        for source in stored["sources"]:
            work.read(source)
        work.heard |= stored["calls"][0].get("heard", {})
        results, waits = DeferredToolResults(), []
        for call, state in zip(stored["calls"], stored["states"], strict=True):
            if "job" in call and state is None:
                waits.append(UUID(call["job"]))
            elif "job" in call:
                for source in state["sources"]:
                    work.read(source)
                results.calls[call["call"]] = state["outcome"]
            elif state in (None, ApprovalState.PENDING):
                return await self._question(work, call)
            elif state != ApprovalState.APPROVED:
                told = await self.told(NOT_APPROVED[ApprovalState(state)], work.request.job)
                return Answer(told, {"stopped": "not approved"})
            else:
                results.approvals[call["action"]["call"].partition(".")[2]] = True
        if waits:
            return Wait(tuple(waits))
        return Paused(ModelMessagesTypeAdapter.validate_python(stored["messages"]), results)

    async def told(self, ending: str, job: Job) -> str:
        """The ending and, in plain words, what had been done before it."""
        async with self._db.transaction() as tx:
            done = what_was_done(await effects.of_job(tx, job.id))
        return f"{ending} {done}".strip()

    async def _question(self, work: Work, call: dict[str, Any]) -> Question:
        action, once = call["action"], call["rule"] in NEVER_STANDING
        async with self._db.transaction() as tx:
            cost = await ledger.usual_cost(tx, work.request.job.id)
        text = f"May I do this?\n{shown(action)}\n{call['why']}"
        return may_i(action, text, call["why"], self._seconds, call["shown"], once=once, cost=cost)


async def _state(tx: Connection, job_id: UUID, call: dict[str, Any]) -> Any:
    """What was answered, or what came of the job that was handed work and whose words are in that; None if nothing."""
    if "job" not in call:
        asked = await approvals.of_action(tx, job_id, approvals.action_hash(call["action"]))
        return None if asked is None else str(asked.state)
    job = await jobs.get(tx, UUID(call["job"]))
    if job.status not in FINAL:
        return None
    ended, error = job.result or {}, job.error or {}
    if job.status is JobStatus.DONE and not ended.keys() & {"failed", "stopped"}:
        told = {name: ended[name] for name in ("reply", "result_ref", "result_preview") if name in ended}
        outcome = success({"job_id": call["job"], **told})
    else:
        outcome = failure(str(error.get("message") or ended.get("reply") or "It was stopped."))
    # Nobody knows whose words are in the message of an error.
    return {"outcome": outcome, "sources": ended.get("sources", []) if ended else [f"the failure of job {job.id}"]}


def shown(action: dict[str, Any]) -> str:
    """The action as a person reads it before saying yes: all of it, or a clear word that it is longer."""
    arguments = {key: value for key, value in action["arguments"].items() if value is not None}
    told = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
    # What is short stands first, so that a long text cannot push it out of sight.
    lines = [f"{key}: {value}" for key, value in sorted(told.items(), key=lambda item: len(item[1]) > SHORT)]
    text = _readable("\n".join([f"[{action['tool']}]", *lines]))
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]}\n… and {len(text) - LONGEST_SHOWN} characters more: GET /approvals has all of it."


def _readable(text: str) -> str:
    """The text with everything that would hide or turn around other characters written out."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
