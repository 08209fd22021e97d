"""A job: a durable unit of work for the engine, and the only ways its status may change."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from laneway.errors import IllegalTransition


class JobStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobMode(StrEnum):
    """What a request wants of us; AUTO lets the classification decide between ANSWER and EXECUTE."""

    AUTO = "AUTO"
    CLASSIFY = "CLASSIFY"
    EXECUTE = "EXECUTE"
    ANSWER = "ANSWER"
    PLAN = "PLAN"


class Scope(StrEnum):
    """Whose initiative the work is: a person asked (reactive), or a schedule did (proactive)."""

    REACTIVE = "reactive"
    PROACTIVE = "proactive"


TRANSITIONS: dict[JobStatus, frozenset[JobStatus]] = {
    JobStatus.QUEUED: frozenset({JobStatus.RUNNING, JobStatus.CANCELLED}),
    JobStatus.RUNNING: frozenset(
        {JobStatus.QUEUED, JobStatus.WAITING, JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED}
    ),
    JobStatus.WAITING: frozenset({JobStatus.QUEUED, JobStatus.CANCELLED}),
    JobStatus.DONE: frozenset(),
    JobStatus.FAILED: frozenset({JobStatus.QUEUED}),
    JobStatus.CANCELLED: frozenset(),
}
"""From a status to those that may follow. RUNNING → QUEUED is a retry, FAILED → QUEUED a person's retry."""

FINAL = frozenset({JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED})


def sources(target: JobStatus) -> list[JobStatus]:
    """The statuses from which `target` may be reached."""
    return [status for status, following in TRANSITIONS.items() if target in following]


def check_transition(job_id: UUID, current: JobStatus, target: JobStatus) -> None:
    """Returns only if a job may go from `current` to `target`."""
    if target not in TRANSITIONS[current]:
        allowed = ", ".join(sorted(TRANSITIONS[current])) or "nothing: it has ended"
        raise IllegalTransition(
            f"Job {job_id} is {current} and cannot become {target}.",
            hint=f"From {current} it may become {allowed}.",
        )


@dataclass(frozen=True, slots=True)
class Job:
    id: UUID
    seq: int
    thread_id: UUID
    message_id: UUID
    mode: JobMode
    lane: str | None
    scope: Scope
    owner: bool
    program: bool
    aside: bool
    status: JobStatus
    run: int
    epoch: int
    worker: str | None
    attempts: int
    resume: bool
    not_before: datetime | None
    cancel_requested_at: datetime | None
    payload: dict[str, Any]
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def first(self) -> bool:
        """Whether the owner or staff asked for it themselves: it goes before others and may take the owner's slots."""
        return self.owner and not self.program

    @property
    def run_id(self) -> str:
        """The engine's name for this run of the job: a waiting or retried job runs more than once."""
        return f"{self.id}.{self.run}"


DELEGATED = "delegated"
"""In the payload of a job to which another handed work: nobody said it, so it takes no open question's place."""
AWAITED_BY = "awaited_by"
"""In the payload of a job to which another handed work: that other job, which goes on when this one has ended."""
NODE_OF = "node_of"
"""In the payload of a job that does the work of a workflow's node: its run, its node, its tools and its model."""


def node_of(job: Job) -> dict[str, Any]:
    """The node of a workflow this job works for; empty if it works for none."""
    found: dict[str, Any] = job.payload.get(NODE_OF) or {}
    return found
