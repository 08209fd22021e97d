"""The parts that change workflows, connected; runs are connected to them by `lane.go`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any

from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from laneway.clock import Clock
from laneway.engine.steps import Steps
from laneway.lanes.workflow import schema
from laneway.lanes.workflow.asking import Asking
from laneway.lanes.workflow.drafting import Drafting
from laneway.lanes.workflow.expiring import Expiring
from laneway.lanes.workflow.forwarding import Forwarding
from laneway.lanes.workflow.keeping import Keeping
from laneway.lanes.workflow.lane import WorkflowLane
from laneway.lanes.workflow.patches import Patches
from laneway.lanes.workflow.preview import Previews
from laneway.lanes.workflow.remembering import Remembering
from laneway.lanes.workflow.scenes import Scenes
from laneway.lanes.workflow.tool import toolbox_tool
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
