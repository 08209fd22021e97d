"""The parts that change workflows, connected; runs are connected to them by `lane.go`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr
from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from laneway.clock import Clock
from laneway.engine.steps import Steps
from laneway.errors import PermanentFault
from laneway.lanes.contract import Request
from laneway.lanes.workflow import schema
from laneway.lanes.workflow.asking import Asking
from laneway.lanes.workflow.drafting import Drafting
from laneway.lanes.workflow.expiring import Expiring, Keeping
from laneway.lanes.workflow.forwarding import Forwarding
from laneway.lanes.workflow.hands import Hands, ToolCall
from laneway.lanes.workflow.lane import WorkflowLane
from laneway.lanes.workflow.mail import Mail
from laneway.lanes.workflow.patches import Patches
from laneway.lanes.workflow.preview import Previews
from laneway.lanes.workflow.remembering import Remembering
from laneway.lanes.workflow.runs import Runs
from laneway.lanes.workflow.scenes import Scenes
from laneway.lanes.workflow.tool import toolbox_tool
from laneway.llm.guard import guarded_by
from laneway.llm.meter import Account, charged_to
from laneway.llm.named import ChosenModel, answered_by, found
from laneway.llm.prompts import Prompts
from laneway.sandbox.exchange import Exchange
from laneway.sandbox.hosts import Allowed
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database


@dataclass(frozen=True)
class Choices:
    """What the owner's settings say about workflows."""

    approval: bool
    approval_seconds: int
    replays: int
    zone: str
    orchestrator_url: str | None


@dataclass(frozen=True)
class Workflows:
    """Everything that changes workflows."""

    lane: WorkflowLane
    patches: Patches
    previews: Previews
    keeping: Keeping
    tool: Callable[..., Awaitable[dict[str, Any]]]
    """`patch_workflow` for a toolbox."""


def composed(
    db: Database, steps: Steps, clock: Clock, model: Model, model_settings: ModelSettings, prompts: Prompts,
    pulled: Collection[str], choices: Choices, originals: Artifacts,
) -> Workflows:  # fmt: skip
    """All parts, connected, nothing started yet; a schema that cannot be read is noticed here."""
    schema.load()
    url = choices.orchestrator_url
    forwarding = Forwarding(db, clock, url, Exchange(Allowed()), pulled) if url else None
    patches = Patches(*([forwarding.changed] if forwarding else []))
    previews = Previews(Remembering(originals).recorded, choices.replays)
    lane = WorkflowLane(
        db, steps, clock, Scenes(db, steps, patches),
        Drafting(model, model_settings, prompts, steps, patches, clock, choices.zone),
        Asking(db, steps, patches, previews, choices.approval_seconds), approval=choices.approval,
    )  # fmt: skip
    keeping = Keeping(db, clock, Expiring(db, clock, patches, pulled), forwarding)
    return Workflows(lane, patches, previews, keeping, toolbox_tool(db, patches))


RunPlan = Callable[[dict[str, Any], Mapping[str, list[dict[str, Any]]], str | None], Awaitable[dict[str, Any]]]


def runs_of(
    db: Database, steps: Steps, exchange: Exchange, artifacts: Artifacts, *, model: Model, settings: ModelSettings,
    run_plan: RunPlan, call_tool: Callable[[ToolCall], Awaitable[dict[str, Any]]],
    named: Mapping[str, Model], tools: Callable[[], Collection[str]],
    variables: Callable[[], Mapping[str, str]], ours: Collection[str],
    mail: tuple[SecretStr | None, str | None, str | None], pulled: Collection[str], question_seconds: int,
) -> Runs:  # fmt: skip
    """Runs with all their hands. Secrets are read when they are used; our own settings (`ours`) are none of theirs."""
    kept = frozenset(ours)

    def secret(name: str) -> str | None:
        return None if name in kept or name.startswith("LANEWAY_") else variables().get(name)

    hands = Hands(
        exchange, artifacts, run_plan, asking(model, settings, steps, named), call_tool, secret,
        lambda name: found(named, name) is not None, tools, Mail.of(*mail), pulled, question_seconds,
    )  # fmt: skip
    return Runs(db, steps, hands)


def asking(
    model: Model, settings: ModelSettings, steps: Steps, models: Mapping[str, Model]
) -> Callable[[Request, str, str | None], Awaitable[dict[str, Any]]]:
    """Asks the model that executes, or the one that is named, on the account of the run's job."""
    agent: Agent[None, str] = Agent(ChosenModel(model), name="workflow", output_type=str, model_settings=settings)

    async def ask(request: Request, prompt: str, named: str | None) -> dict[str, Any]:
        job = request.job
        account = Account(job.scope, job.thread_id, job.id, lane="workflow")
        with charged_to(account), guarded_by(steps.check_lease), answered_by(found(models, named or "")):
            try:
                ran = await agent.run(prompt)
            except AgentRunError as error:
                raise PermanentFault(f"The model did not answer: {error}.") from error
        used = ran.usage
        tokens = {"input": used.input_tokens, "output": used.output_tokens}
        return {"text": ran.output, "model": str(ran.response.model_name or "model"), "tokens": tokens}

    return ask
