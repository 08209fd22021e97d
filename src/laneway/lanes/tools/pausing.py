"""How a run of the tools lane ends at a question, and how the next one goes on at the answer.

Nothing waits in memory: the messages so far and the calls that may not be made yet are a row. Each call is asked for by
itself; when all are answered, exactly the stored calls are made, and no model is asked before that.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic_ai import DeferredToolRequests
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from laneway.domain.judgement import ApprovalState
from laneway.engine.running import current_run
from laneway.engine.steps import Steps
from laneway.lanes.tools.gate import NEVER_STANDING
from laneway.lanes.tools.work import Work
from laneway.store import approvals, ledger, pauses
from laneway.store.database import Database
from laneway.store.pauses import Pause
from laneway.store.questions import NOT_APPROVED, Question, may_i

LONGEST_SHOWN, SHORT = 3000, 200


@dataclass(frozen=True)
class Paused:
    """Where the job stands: a question still open, a no, or the answers the run goes on with."""

    messages: list[ModelMessage] = field(default_factory=list)
    answers: dict[str, bool] = field(default_factory=dict)
    open: Question | None = None
    refused: str | None = None


class Pausing:
    """Stores runs that must wait, and finds them again."""

    def __init__(self, db: Database, steps: Steps, seconds: int) -> None:
        self._db, self._steps, self._seconds = db, steps, seconds

    async def stop(self, work: Work, asked: DeferredToolRequests, messages: list[ModelMessage]) -> Question:
        """The run is stored as it stands; returns the first question to ask."""
        calls = [asked.metadata[part.tool_call_id] for part in asked.approvals]
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
        return await self._question(work, calls[0])

    async def look(self, work: Work) -> Paused | None:
        """Where an earlier run of the job stopped, if one did; `work` knows again what that run knew."""
        job = work.request.job
        if not work.request.resumes:
            return None

        async def read() -> dict[str, Any] | None:
            async with self._db.transaction() as tx:
                found = await pauses.of_job(tx, job.id)
                if found is None:
                    return None
                asked = [await approvals.of_action(tx, job.id, approvals.action_hash(c["action"])) for c in found.calls]
            states = [None if one is None else str(one.state) for one in asked]
            return asdict(found) | {"states": states}

        stored = await self._steps.step("paused", read)
        return None if stored is None else await self._standing(work, stored)

    async def _standing(self, work: Work, stored: dict[str, Any]) -> Paused:
        current_run().calls = dict(stored["counts"])
        work.found |= set(stored["found"])
        for source in stored["sources"]:
            work.read(source)
        work.heard |= stored["calls"][0].get("heard", {})
        for call, state in zip(stored["calls"], stored["states"], strict=True):
            if state in (None, ApprovalState.PENDING):
                return Paused(open=await self._question(work, call))
            if state != ApprovalState.APPROVED:
                return Paused(refused=NOT_APPROVED[ApprovalState(state)])
        messages = ModelMessagesTypeAdapter.validate_python(stored["messages"])
        return Paused(messages, {call["action"]["call"].partition(".")[2]: True for call in stored["calls"]})

    async def _question(self, work: Work, call: dict[str, Any]) -> Question:
        action, once = call["action"], call["rule"] in NEVER_STANDING
        async with self._db.transaction() as tx:
            cost = await ledger.usual_cost(tx, work.request.job.id)
        text = f"May I do this?\n{shown(action)}\n{call['why']}"
        return may_i(action, text, call["why"], self._seconds, call["shown"], once=once, cost=cost)


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
