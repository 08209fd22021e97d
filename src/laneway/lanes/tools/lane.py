"""Context and judgement in, model and tools in turn, an answer out."""

from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.durable_exec.dbos import DBOSDurability
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from laneway.domain.conversation import Author
from laneway.domain.job import JobMode
from laneway.engine.steps import Steps
from laneway.lanes.contract import Answer, Request
from laneway.lanes.tools.toolbox import Toolbox
from laneway.lanes.tools.watch import Watch
from laneway.llm.guard import guarded_by
from laneway.llm.live import LiveModel, heard_by
from laneway.llm.meter import Account, charged_to, prompted_by
from laneway.store.database import Database
from laneway.transcript import Turn

MOST_CALLS = 15
STOPPED_SHORT = (
    f"I stopped after {MOST_CALLS} rounds with the tools without reaching an end. Ask for a smaller part of it."
)
PLAN_ONLY = "\n\nAnswer with a short numbered plan of how you would do this. Do nothing yet."


class ToolsLane:
    """A model with tools, every call of either stored before the next."""

    name = "tools"

    def __init__(
        self, model: Model, settings: ModelSettings, prompt: str, prompt_version: str, toolbox: Toolbox,
        steps: Steps, db: Database,
    ) -> None:  # fmt: skip
        self._toolbox, self._steps, self._db = toolbox, steps, db
        self._can_plan = model.system != "offline"
        self._prompt_version = prompt_version
        self._agent: Agent[Request, str] = Agent(
            LiveModel(model),
            name="tools",
            deps_type=Request,
            instructions=prompt,
            model_settings=settings,
            tools=toolbox.tools(),
            capabilities=[DBOSDurability()],
        )

    @property
    def acts(self) -> bool:
        return self._toolbox.changes

    async def run(self, request: Request) -> Answer:
        job = request.job
        if job.mode is JobMode.PLAN and not self._can_plan:
            # The offline model has no plans of its own; the judgement has one.
            return Answer(f"{request.judged.summary}\nPlan: {request.judged.plan}\nNothing was done.")
        with (
            charged_to(Account(job.scope, job.thread_id, job.id)),
            prompted_by(self._prompt_version),
            guarded_by(self._steps.check_lease),
            heard_by(Watch(self._db, job.thread_id, job.id)),
        ):
            try:
                ended = await self._agent.run(
                    _asked(request),
                    deps=request,
                    message_history=[_message(turn) for turn in request.turns[:-1]],
                    usage_limits=UsageLimits(request_limit=MOST_CALLS),
                )
            except UsageLimitExceeded:
                return Answer(STOPPED_SHORT, {"stopped": "step limit"})
        return Answer(ended.output, _result(ended.all_messages()))


def _asked(request: Request) -> str:
    judged, text = request.judged, request.turns[-1].text
    if judged.decided_by in ("model", "request"):
        text += f"\n\n[Understood as: {judged.summary} Plan: {judged.plan}]"
    return text + (PLAN_ONLY if request.job.mode is JobMode.PLAN else "")


def _message(turn: Turn) -> ModelMessage:
    if turn.author is Author.USER:
        return ModelRequest([UserPromptPart(turn.text)])
    return ModelResponse([TextPart(turn.text)])


def _result(messages: list[ModelMessage]) -> dict[str, object]:
    said = [message for message in messages if isinstance(message, ModelResponse) and message.model_name]
    return {
        "model": said[-1].model_name if said else None,
        "tool_calls": [call.tool_name for message in said for call in message.tool_calls],
        "tokens_input": sum(message.usage.input_tokens for message in said),
        "tokens_output": sum(message.usage.output_tokens for message in said),
    }
