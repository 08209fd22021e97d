"""Runs of workflows as the API shows them: without secrets, and without the document they carry."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from laneway.domain.redaction import redacted
from laneway.domain.workflow_run import RUN_ENDED, NodeRecord, NodeStatus, RunStatus, WorkflowRun
from laneway.store.workflow_triggers import Trigger, problem_of
from laneway.web.shapes import Moment, Shape

LONGEST_TEXT = 4000


class _Posted(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RunPosted(_Posted):
    """What a run is started with."""

    inputs: dict[str, Any] = Field(default_factory=dict, description="Its input, `$input` in the workflow.")
    version: int | None = Field(None, ge=1, description="Which version; the newest if absent.")
    thread: str | None = Field(None, max_length=200, description="Where it asks and reports: id, name or channel/name.")
    id: str | None = Field(
        None, min_length=1, max_length=120, description="Your own id: the same again runs nothing again."
    )


class TestPosted(_Posted):
    """What a test is given: outputs for named nodes, in place of doing what they do."""

    inputs: dict[str, Any] = Field(default_factory=dict)
    pinned: dict[str, Any] = Field(default_factory=dict, description="Node id → the output it shall have given.")
    version: int | None = Field(None, ge=1)


class StartedShape(BaseModel):
    run_id: UUID
    job_id: UUID
    duplicate: bool = Field(description="Whether this occasion had its run already.")


class TriggerShape(Shape):
    number: int = Field(description="Its place in the document's `triggers`.")
    type: str
    next_at: Moment | None = Field(description="When a schedule starts the next run.")
    paused: bool = Field(description="Whether a schedule starts nothing, because its runs failed again and again.")
    last_run_id: UUID | None
    problem: str | None = Field(description="Why its condition could last not be worked out for an event.")
    problem_at: Moment | None = Field(description="When that was.")

    @classmethod
    def of(cls, trigger: Trigger) -> TriggerShape:
        known = {name: getattr(trigger, name) for name in ("number", "type", "next_at", "last_run_id")}
        paused, problem = trigger.type == "cron" and trigger.next_at is None, problem_of(trigger) or {}
        at = datetime.fromisoformat(problem["at"]) if problem else None
        return cls(**known, paused=paused, problem=problem.get("why"), problem_at=at)


class RunShape(Shape):
    id: UUID
    seq: int
    workflow: str = Field(description="Its tag.")
    version: int
    status: RunStatus
    cause: dict[str, Any] = Field(description="What started it: manual, cron, webhook, event, chat, node or test.")
    job_id: UUID
    parent_id: UUID | None
    waits_for: UUID | None = Field(description="The run before it, until whose end it does not begin.")
    test: bool
    input: Any
    output: Any
    error: dict[str, Any] | None
    ended_at: list[str] = Field(description="The nodes it ended at.")
    created_at: Moment
    finished_at: Moment | None

    @classmethod
    def of(cls, run: WorkflowRun) -> RunShape:
        names = (
            "id",
            "seq",
            "version",
            "status",
            "job_id",
            "parent_id",
            "waits_for",
            "test",
            "ended_at",
            "created_at",
            "finished_at",
        )
        shown = {name: redacted(getattr(run, name)) for name in ("cause", "input", "output", "error")}
        return cls(workflow=run.tag, **{name: getattr(run, name) for name in names}, **shown)


class NodeShape(Shape):
    node: str
    visit: int = Field(description="Nodes in a loop are visited more than once.")
    type: str
    status: NodeStatus
    attempts: int
    input: Any
    output: Any = Field(description="What it gave; of a large value a likeness, and all of it under `ref`.")
    ref: str | None
    error: dict[str, Any] | None
    waits: dict[str, Any] | None
    again_at: Moment | None
    sources: list[str]
    pinned: bool
    began_at: Moment | None
    ended_at: Moment | None

    @classmethod
    def of(cls, record: NodeRecord, run: WorkflowRun) -> NodeShape:
        names = (
            "node",
            "visit",
            "type",
            "attempts",
            "ref",
            "again_at",
            "sources",
            "pinned",
            "began_at",
            "ended_at",
        )
        shown = {name: redacted(getattr(record, name)) for name in ("input", "output", "error", "waits")}
        cut_off = run.status in RUN_ENDED and not record.ended
        status = NodeStatus.CANCELLED if cut_off else record.status
        return cls(status=status, **{name: getattr(record, name) for name in names}, **shown)


class EventPosted(_Posted):
    """Something that happened elsewhere, which workflows may be waiting for."""

    event: str = Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$", max_length=200, description="Like price.changed.")
    data: dict[str, Any] = Field(default_factory=dict, description="What is known of it: `$input.event` in a run.")
    id: str | None = Field(None, min_length=1, max_length=60, pattern=r"^[A-Za-z0-9_.:-]+$",
                           description="Your own id: the same again starts nothing again.")  # fmt: skip


class HookShape(BaseModel):
    id: UUID
    path: str = Field(description="Where signed requests are taken.")
    secret: str = Field(description="Shown now and never again; asked for again, it is replaced.")
