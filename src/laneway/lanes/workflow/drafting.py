"""A request in words becomes a proposed change: by a model that calls `patch_workflow`, or offline by rules."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic_ai import Agent, AgentRunResult, ToolOutput
from pydantic_ai.durable_exec.dbos import DBOSDurability
from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from laneway.clock import Clock
from laneway.domain.workflow import Workflow
from laneway.engine.steps import Steps
from laneway.lanes.contract import Request
from laneway.lanes.workflow import schema
from laneway.lanes.workflow.asking import Wanted
from laneway.lanes.workflow.patches import Patches
from laneway.lanes.workflow.refusing import refuse
from laneway.lanes.workflow.secrets import secrets
from laneway.lanes.workflow.sentences.find import DraftContext
from laneway.lanes.workflow.sentences.planner import plan_change
from laneway.lanes.workflow.tool import NAME, Proposed, Sight, patch_workflow
from laneway.language.refusal import Refusal
from laneway.language.times import moment_of
from laneway.llm.guard import guarded_by
from laneway.llm.live import LiveModel
from laneway.llm.meter import Account, charged_to, prompted_by
from laneway.llm.prompts import Prompts
from laneway.transcript import as_message

MOST_CALLS = 6
MOST_SHOWN = 60_000
"""Characters of a workflow that a model is shown."""
NO_END = "No change that passes the checks was found. Say it in other words, or in smaller parts."


@dataclass(frozen=True)
class Scene:
    """What a request is about: whose workflows, which one, and what was offered before."""

    owner: UUID
    tag: str | None
    workflows: Mapping[str, Workflow]
    offer: dict[str, Any] | None = None


@dataclass(frozen=True)
class Drafted:
    """A wanted change, or words to answer with; `spent` says what a model did for it.

    `refused` says that no change was found in the request, so that nothing was done.
    """

    wanted: Wanted | None
    said: str = ""
    spent: dict[str, Any] = field(default_factory=dict)
    refused: bool = False


class Drafting:
    """Turns requests into wanted changes; nothing is stored here."""

    def __init__(
        self, model: Model, settings: ModelSettings, prompts: Prompts, steps: Steps, patches: Patches, clock: Clock,
        zone: str,
    ) -> None:  # fmt: skip
        self._offline = model.system == "offline"
        self._prompts, self._steps, self._patches, self._clock, self._zone = prompts, steps, patches, clock, zone
        proposing: ToolOutput[Proposed] = ToolOutput(patch_workflow, name=NAME)
        self._agent: Agent[Sight, str | Proposed] = Agent(
            LiveModel(model), name="workflow", deps_type=Sight, model_settings=settings,
            output_type=[str, proposing], retries=MOST_CALLS - 1,
            capabilities=[DBOSDurability()],
        )  # fmt: skip

    async def draft(self, request: Request, scene: Scene) -> Drafted:
        """What the request asks to change."""
        if self._offline:
            return await self._by_rules(request, scene)
        try:
            ended = await self._by_model(request, scene)
        except (UsageLimitExceeded, UnexpectedModelBehavior):
            return Drafted(None, NO_END, refused=True)
        spent, output = _spent(ended.all_messages()), ended.output
        if isinstance(output, str):
            return Drafted(None, output, spent)
        wanted = Wanted(scene.owner, output.tag, output.operations, output.description, output.valid_until)
        return Drafted(wanted, spent=spent)

    async def _by_rules(self, request: Request, scene: Scene) -> Drafted:
        documents = {tag: one.document for tag, one in scene.workflows.items()}

        async def plan() -> dict[str, Any]:
            # A step: what the words mean depends on the time they are read at.
            known = DraftContext(self._clock.now(), self._zone, scene.tag, documents, scene.offer)
            found = await asyncio.to_thread(plan_change, request.message.text, known)
            if isinstance(found, Refusal):
                return {"said": found.sentence}
            wanted = Wanted(
                scene.owner, found.tag, found.operations, found.description, found.valid_until, found.notes
            )  # fmt: skip
            return {"wanted": wanted.action(0)}

        found = await self._steps.step("draft", plan)
        spent = {"tool_calls": [NAME] if "wanted" in found else [], "llm_model": "offline"}
        if "said" in found:
            return Drafted(None, found["said"], spent, refused=True)
        return Drafted(Wanted.of(found["wanted"]), spent=spent)

    async def _by_model(self, request: Request, scene: Scene) -> AgentRunResult[str | Proposed]:
        job = request.job
        sight = Sight(
            scene.tag, scene.workflows, self._patches,
            lambda words: moment_of(words, self._clock.now(), ZoneInfo(self._zone)),
        )  # fmt: skip
        with (
            charged_to(Account(job.scope, job.thread_id, job.id, lane="workflow")),
            prompted_by(self._prompts.version("workflow")),
            guarded_by(self._steps.check_lease),
        ):
            return await self._agent.run(
                _asked(request, scene),
                deps=sight,
                # The schema stands where it never changes, so that providers need not read it anew.
                instructions=f"{self._prompts.text('workflow')}\n\nThe JSON Schema of workflows:\n"
                + json.dumps(schema.schema(), separators=(",", ":")),
                message_history=[as_message(turn) for turn in request.turns[:-1]],
                usage_limits=UsageLimits(request_limit=MOST_CALLS),
            )


def _asked(request: Request, scene: Scene) -> str:
    """The request with what it is about; a workflow from before secrets were looked for may hold one."""
    parts = [request.turns[-1].whole if request.turns else request.message.text]
    current = scene.workflows.get(scene.tag) if scene.tag else None
    if current is not None:
        refuse([*secrets(current.document)])
        shown = json.dumps(current.document, ensure_ascii=False)[:MOST_SHOWN]
        parts.append(f"The current workflow `{current.tag}`, version {current.version}:\n{shown}")
    elif len(scene.workflows) == 1:
        (only,) = scene.workflows.values()
        refuse([*secrets(only.document)])
        parts.append(
            f"The only workflow there is, `{only.tag}`:\n{json.dumps(only.document, ensure_ascii=False)[:MOST_SHOWN]}"
        )
    others = [f"`{tag}` ({_about(one)})" for tag, one in scene.workflows.items() if tag != scene.tag]
    if others:
        parts.append("Workflows there are: " + ", ".join(others[:50]))
    if scene.offer is not None:
        parts.append(f"What was last done once, and may be made permanent: {json.dumps(scene.offer)[:8000]}")
    return "\n\n".join(parts)


def _about(workflow: Workflow) -> str:
    described = str(workflow.document.get("metadata", {}).get("description", ""))[:100]
    return described or ", ".join(node["id"] for node in workflow.document["nodes"][:10])


def _spent(messages: list[ModelMessage]) -> dict[str, Any]:
    said = [message for message in messages if isinstance(message, ModelResponse) and message.model_name]
    cached = sum(message.usage.cache_read_tokens for message in said)
    return {
        "tool_calls": [call.tool_name for message in said for call in message.tool_calls],
        "llm_model": said[-1].model_name if said else None, "cache_hit": cached > 0,
        "cache_kind": "provider" if cached else None,
    }  # fmt: skip
