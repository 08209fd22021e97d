"""Context and judgement in, model and tools in turn, an answer out — or a question, if a person must say yes first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import UUID

from pydantic_ai import Agent, AgentRunResult, DeferredToolRequests, DeferredToolResults
from pydantic_ai.durable_exec.dbos import DBOSDurability
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import UsageLimits

from laneway.domain.conversation import Author, World
from laneway.domain.job import JobMode, Scope, node_of
from laneway.domain.judgement import Intent
from laneway.domain.report import what_was_done
from laneway.engine.running import current_run
from laneway.engine.steps import Steps
from laneway.lanes.contract import Answer, Request
from laneway.lanes.tools.pausing import Paused, Pausing
from laneway.lanes.tools.toolbox import Toolbox
from laneway.lanes.tools.watch import Watch
from laneway.lanes.tools.work import Work
from laneway.llm.guard import guarded_by
from laneway.llm.live import LiveModel, heard_by
from laneway.llm.meter import Account, charged_to, prompted_by
from laneway.llm.named import ChosenModel, answered_by, found
from laneway.llm.offline.turn import NOTHING_ASKED
from laneway.llm.prompts import Prompts
from laneway.store import effects
from laneway.store.database import Database
from laneway.store.questions import Question
from laneway.transcript import Turn, heard_in

MOST_CALLS = 15
STOPPED_SHORT = f"I stopped after {MOST_CALLS} rounds with the tools without reaching an end."
PLAN_ONLY = "\n\nAnswer with a short numbered plan of how you would do this. Do nothing yet."
PROMPT = {Scope.REACTIVE: "execution", Scope.PROACTIVE: "proactive"}
CUSTOMERS = "business"
"""The prompt customers are answered by, never one of the owner's."""

Output = str | DeferredToolRequests


class ToolsLane:
    """A model with tools, every call of either stored before the next."""

    name = "tools"

    def __init__(
        self, model: Model, settings: ModelSettings, prompts: Prompts, toolbox: Toolbox, steps: Steps, db: Database,
        pausing: Pausing, workspace: Callable[[UUID], Path], named: Mapping[str, Model] | None = None,
    ) -> None:  # fmt: skip
        self._toolbox, self._steps, self._db, self._pausing = toolbox, steps, db, pausing
        self._prompts, self._workspace, self._named = prompts, workspace, named or {}
        self._can_plan = model.system != "offline"
        self._agent: Agent[Work, Output] = Agent(
            LiveModel(ChosenModel(model)),
            name="tools",
            deps_type=Work,
            output_type=[str, DeferredToolRequests],
            model_settings=settings,
            capabilities=[DBOSDurability()],
        )

    async def run(self, request: Request) -> Answer | Question:
        """The work is done, or stands where a person's answer is needed; the next run goes on from there."""
        job = request.job
        if job.mode is JobMode.PLAN and not self._can_plan:
            # The offline model has no plans of its own; the judgement has one.
            return Answer(f"{request.judged.summary}\nPlan: {request.judged.plan}\nNothing was done.")
        at_hand = await self._toolbox.at_hand(request)
        # The very list of the run, so that whatever is said on its way out carries what was read.
        work = Work(request, self._workspace(job.thread_id), current_run().sources, at_hand, heard_in(request.turns))
        paused = await self._pausing.look(work)
        if paused is not None and paused.open is not None:
            return paused.open
        if paused is not None and paused.refused is not None:
            return Answer(await self._told(paused.refused, work), {"stopped": "not approved"})
        try:
            ended = await self._go(work, paused)
        except UsageLimitExceeded:
            told = await self._told(STOPPED_SHORT, work)
            return Answer(f"{told} Ask for a smaller part of it.", {"stopped": "step limit"})
        if isinstance(ended.output, DeferredToolRequests):
            return await self._pausing.stop(work, ended.output, ended.all_messages())
        return Answer(ended.output, _result(ended.all_messages()))

    async def _told(self, ending: str, work: Work) -> str:
        """The ending and, in plain words, what had been done before it."""
        async with self._db.transaction() as tx:
            done = what_was_done(await effects.of_job(tx, work.request.job.id))
        return f"{ending} {done}".strip()

    async def _go(self, work: Work, paused: Paused | None) -> AgentRunResult[Output]:
        """The model and its tools have had their turns, from the start or from where they were paused."""
        job, node = work.request.job, node_of(work.request.job)
        # What a node of a workflow asks for is a task like any other, whoever started the run.
        prompt = PROMPT[Scope.REACTIVE if node else job.scope] if work.request.world is World.OWNER else CUSTOMERS
        with (
            charged_to(Account(job.scope, job.thread_id, job.id, lane=self.name)),
            prompted_by(self._prompts.version(prompt)),
            guarded_by(self._steps.check_lease),
            heard_by(Watch(self._db, job.thread_id, job.id)),
            answered_by(found(self._named, str(node.get("model") or ""))),
        ):
            return await self._agent.run(
                None if paused else _asked(work.request),
                deps=work,
                instructions=self._prompts.text(prompt),
                message_history=paused.messages if paused else [_message(turn) for turn in work.request.turns[:-1]],
                deferred_tool_results=DeferredToolResults(approvals={**paused.answers}) if paused else None,
                usage_limits=UsageLimits(request_limit=MOST_CALLS),
                toolsets=[FunctionToolset(self._toolbox.tools())],
            )


def _asked(request: Request) -> str:
    judged, text = request.judged, request.turns[-1].whole
    if judged.intent is Intent.OTHER and not node_of(request.job):
        text += f"\n\n[Understood as: {NOTHING_ASKED}]"
    elif judged.decided_by in ("model", "request") and not node_of(request.job):
        text += f"\n\n[Understood as: {judged.summary} Plan: {judged.plan}]"
    return text + (PLAN_ONLY if request.job.mode is JobMode.PLAN else "")


def _message(turn: Turn) -> ModelMessage:
    if turn.author is Author.USER:
        return ModelRequest([UserPromptPart(turn.whole)])
    return ModelResponse([TextPart(turn.text)])


def _result(messages: list[ModelMessage]) -> dict[str, object]:
    said = [message for message in messages if isinstance(message, ModelResponse) and message.model_name]
    return {
        "model": said[-1].model_name if said else None,
        "tool_calls": [call.tool_name for message in said for call in message.tool_calls],
        "tokens_input": sum(message.usage.input_tokens for message in said),
        "tokens_output": sum(message.usage.output_tokens for message in said),
    }
