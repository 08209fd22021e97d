"""One run of a workflow, and one visit to one of its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class RunStatus(StrEnum):
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


RUN_ENDED = frozenset({RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED})


class NodeStatus(StrEnum):
    RUNNING = "running"
    RETRYING = "retrying"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """Never stored: how a node that was under way is shown when its run has ended."""


NODE_ENDED = frozenset({NodeStatus.DONE, NodeStatus.FAILED})


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A run: the very document it runs, what it was given, and how it stands."""

    id: UUID
    seq: int
    workflow_id: UUID
    version: int
    document: dict[str, Any]
    input: dict[str, Any]
    cause: dict[str, Any]
    """What started it: its `type` (manual, cron, webhook, event, chat, node, test) and what is known of that."""
    principal_id: UUID
    job_id: UUID
    parent_id: UUID | None
    parent_node: str | None
    previous_id: UUID | None
    """The last run of the workflow that had ended well when this one began; when its turn came, if it looks back."""
    depth: int
    """How many runs led to this one, one by the other."""
    test: bool
    pinned: dict[str, Any]
    status: RunStatus
    visits: dict[str, int]
    """Which visit of a node counts, for nodes that a loop came back to."""
    sources: list[str]
    """Whose words its input holds besides the owner's."""
    output: Any
    error: dict[str, Any] | None
    ended_at: list[str]
    created_at: datetime
    finished_at: datetime | None
    tag: str = ""
    waits_for: UUID | None = None
    """The run before it, until whose end one that looks back does not begin."""


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """One visit to a node: what it was given and what came of it. Large outputs lie in an artifact."""

    run_id: UUID
    node: str
    visit: int
    type: str
    status: NodeStatus
    attempts: int
    input: Any
    output: Any
    ref: str | None
    error: dict[str, Any] | None
    taken: list[int]
    """The places in the document's edges that were followed from here."""
    waits: dict[str, Any] | None
    """What it waits for: a moment, an answer, another run, an event."""
    again_at: datetime | None
    sources: list[str] = field(default_factory=list)
    earlier: int = 0
    """Attempts made before somebody let the failed run go on."""
    pinned: bool = False
    began_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def ended(self) -> bool:
        return self.status in NODE_ENDED


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run as it is replayed through a changed workflow: what each node had given, and where it ended."""

    id: UUID
    version: int
    input: dict[str, Any]
    outputs: dict[str, Any]
    ended_at_nodes: list[str]
    status: RunStatus
    previous: dict[str, Any] = field(default_factory=dict)
    """What the nodes of the run before had given, as `ctx.previous` was."""
