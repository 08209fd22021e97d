"""Context and judgement in, model and tools in turn, an answer out — or a question, if a person must say yes first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic_ai import Agent, AgentRunResult, DeferredToolRequests
from pydantic_ai.durable_exec.dbos import DBOSDurability
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import UsageLimits

from laneway.domain.conversation import World
from laneway.domain.job import JobMode, Scope, node_of
from laneway.domain.judgement import Intent
from laneway.engine.running import current_run
from laneway.engine.steps import Steps
from laneway.lanes.contract import Answer, Request, Wait
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
from laneway.store.database import Database
from laneway.store.questions import Question
from laneway.transcript import as_message, heard_in

MOST_CALLS = 15
STOPPED_SHORT = f"I stopped after {MOST_CALLS} rounds with the tools without reaching an end."
PLAN_ONLY = "\n\nAnswer with a short numbered plan of how you would do this. Do nothing yet."
PROMPT = {Scope.REACTIVE: "execution", Scope.PROACTIVE: "proactive"}
CUSTOMERS = "business"
"""The prompt customers are answered by, never one of the owner's."""

Output = str | DeferredToolRequests


class Turns:
    """The turns of a model and tools: from the start, or from where an earlier run of the job had to wait."""

    def __init__(
        self, prompts: Prompts, toolbox: Toolbox, steps: Steps, pausing: Pausing, workspace: Callable[[UUID], Path], *,
        lane: str, of_ours: frozenset[str] | None = None,
    ) -> None:  # fmt: skip
        self._prompts, self._toolbox, self._steps, self._pausing = prompts, toolbox, steps, pausing
        self._workspace, self._lane, self._of_ours = workspace, lane, of_ours

    async def take(
        self, request: Request, agent: Agent[Any, Any], prompt: str, asked: str, *, resumes: bool = True
    ) -> AgentRunResult[Any] | Answer | Question | Wait:  # fmt: skip
        """What the model said in the end; or that the job must wait, or may not go on."""
        job, at_hand = request.job, await self._toolbox.at_hand(request)
        # The very list of the run, so that whatever is said on its way out carries what was read.
        work = Work(request, self._workspace(job.thread_id), current_run().sources, at_hand, heard_in(request.turns))
        paused = await self._pausing.look(work) if resumes else None
        if paused is not None and not isinstance(paused, Paused):
            return paused
        with (
            charged_to(Account(job.scope, job.thread_id, job.id, lane=self._lane)),
            prompted_by(self._prompts.version(prompt)),
            guarded_by(self._steps.check_lease),
        ):
            ended = await agent.run(
                None if paused else asked,
                deps=work,
                instructions=self._prompts.text(prompt),
                message_history=paused.messages if paused else [as_message(turn) for turn in request.turns[:-1]],
                deferred_tool_results=paused.results if paused else None,
                usage_limits=UsageLimits(request_limit=MOST_CALLS),
                toolsets=[FunctionToolset(self._toolbox.tools(self._of_ours))],
            )
        if isinstance(ended.output, DeferredToolRequests):
            return await self._pausing.stop(work, ended.output, ended.all_messages())
        return ended


class ToolsLane:
    """A model with tools, every call of either stored before the next."""

    name = "tools"

    def __init__(
        self, model: Model, settings: ModelSettings, turns: Turns, db: Database, pausing: Pausing,
        named: Mapping[str, Model] | None = None,
    ) -> None:  # fmt: skip
        self._turns, self._db, self._pausing, self._named = turns, db, pausing, named or {}
        self._can_plan = model.system != "offline"
        self._agent: Agent[Work, Output] = Agent(
            LiveModel(ChosenModel(model)),
            name="tools",
            deps_type=Work,
            output_type=[str, DeferredToolRequests],
            model_settings=settings,
            capabilities=[DBOSDurability()],
        )

    async def run(self, request: Request) -> Answer | Question | Wait:
        """The work is done, or stands where it must wait for an answer; the next run goes on from there."""
        job, node = request.job, node_of(request.job)
        if job.mode is JobMode.PLAN and not self._can_plan:
            # The offline model has no plans of its own; the judgement has one.
            return Answer(f"{request.judged.summary}\nPlan: {request.judged.plan}\nNothing was done.")
        # What a node of a workflow asks for is a task like any other, whoever started the run.
        prompt = PROMPT[Scope.REACTIVE if node else job.scope] if request.world is World.OWNER else CUSTOMERS
        watch, model = Watch(self._db, job.thread_id, job.id), found(self._named, str(node.get("model") or ""))
        try:
            with heard_by(watch), answered_by(model):
                ended = await self._turns.take(request, self._agent, prompt, _asked(request))
        except UsageLimitExceeded:
            told = await self._pausing.told(STOPPED_SHORT, job)
            return Answer(f"{told} Ask for a smaller part of it.", {"stopped": "step limit"})
        return Answer(ended.output, _result(ended.all_messages())) if isinstance(ended, AgentRunResult) else ended


def _asked(request: Request) -> str:
    judged, text = request.judged, request.turns[-1].whole
    if judged.intent is Intent.OTHER and not node_of(request.job):
        text += f"\n\n[Understood as: {NOTHING_ASKED}]"
    elif judged.decided_by in ("model", "request") and not node_of(request.job):
        text += f"\n\n[Understood as: {judged.summary} Plan: {judged.plan}]"
    return text + (PLAN_ONLY if request.job.mode is JobMode.PLAN else "")


def _result(messages: list[ModelMessage]) -> dict[str, object]:
    said = [message for message in messages if isinstance(message, ModelResponse) and message.model_name]
    return {
        "model": said[-1].model_name if said else None,
        "tool_calls": [call.tool_name for message in said for call in message.tool_calls],
        "tokens_input": sum(message.usage.input_tokens for message in said),
        "tokens_output": sum(message.usage.output_tokens for message in said),
    }
