"""A task: work people see, owned by a person or a specialist, and the only ways its status may change."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any
from uuid import UUID

from laneway.errors import IllegalTransition


class TaskType(StrEnum):
    """What kind of work it is; `manual` is a person's task, the others are the secretary's."""

    MANUAL = "manual"
    TRIAGE = "triage"
    APPOINTMENT_BOOKING = "appointment_booking"
    APPOINTMENT_RESCHEDULE = "appointment_reschedule"
    APPOINTMENT_CANCEL = "appointment_cancel"
    INQUIRY = "inquiry"
    FILE_PROCESSING = "file_processing"
    REMINDER = "reminder"
    HUMAN_HANDOFF = "human_handoff"
    OTHER = "other"


class TaskStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TaskPriority(IntEnum):
    """From 1, before everything else, to 10, when there is nothing else."""

    URGENT = 1
    HIGH = 3
    NORMAL = 5
    LOW = 7
    BACKGROUND = 10


TRANSITIONS: dict[TaskStatus, frozenset[TaskStatus]] = {
    TaskStatus.PENDING: frozenset({TaskStatus.IN_PROGRESS, TaskStatus.CANCELLED}),
    TaskStatus.IN_PROGRESS: frozenset({TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED}),
    TaskStatus.COMPLETED: frozenset(),
    TaskStatus.FAILED: frozenset({TaskStatus.PENDING}),
    TaskStatus.CANCELLED: frozenset(),
}
"""From a status to those that may follow. FAILED → PENDING is a retry, and there are only so many."""

OPEN = frozenset({TaskStatus.PENDING, TaskStatus.IN_PROGRESS})


@dataclass(frozen=True, slots=True)
class Task:
    """Its columns are those of the secretary's document; the last five are ours."""

    id: int
    task_type: TaskType
    status: TaskStatus
    priority: int
    chat_id: str | None
    message_id: str | None
    assigned_agent: str | None
    input_data: dict[str, Any]
    output_data: dict[str, Any]
    metadata: dict[str, Any]
    parent_task_id: int | None
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    retry_count: int
    max_retries: int
    title: str
    description: str
    due_at: datetime | None
    thread_id: UUID | None
    job_id: UUID | None


def check_move(task: Task, target: TaskStatus) -> None:
    """Returns only if the task may go to `target`."""
    following = TRANSITIONS[task.status]
    if target not in following:
        allowed = " or ".join(sorted(following))
        raise IllegalTransition(
            f"Task {task.id} is {task.status} and cannot become {target}.",
            hint=f"From {task.status} it may become {allowed}." if allowed else "It has ended.",
        )
    if target is TaskStatus.PENDING and task.retry_count >= task.max_retries:
        raise IllegalTransition(
            f"Task {task.id} has failed {task.retry_count + 1} times; that was its last try.",
            hint="Make a new task if it is still wanted.",
        )
