"""Schedules, reminders, tasks and what is remembered, as clients see them."""

from __future__ import annotations

from datetime import time
from typing import Any
from uuid import UUID

from pydantic import Field

from laneway.domain.conversation import World
from laneway.domain.schedule import ReminderKind, ReminderState
from laneway.domain.task import TaskStatus, TaskType
from laneway.web.shapes import Moment, Shape


class ScheduleShape(Shape):
    id: UUID
    name: str
    thread_id: UUID
    text: str
    words: str = Field(description="When it runs, as it was said.")
    cron: str
    zone: str
    paused: bool
    why_paused: str | None
    next_at: Moment | None
    last_at: Moment | None
    last_job_id: UUID | None
    budget_usd: float | None = Field(description="Most dollars its runs may cost a day.")
    quiet_from: time | None
    quiet_to: time | None
    urgent: bool = Field(description="Whether results are sent in quiet hours, too.")
    skipped: int = Field(description="Runs skipped because the one before had not ended, not reported yet.")
    created_at: Moment


class ReminderShape(Shape):
    id: UUID
    seq: int
    thread_id: UUID
    job_id: UUID | None
    kind: ReminderKind
    text: str
    words: str
    due_at: Moment
    zone: str
    state: ReminderState
    message_id: UUID | None
    created_at: Moment
    sent_at: Moment | None


class TaskShape(Shape):
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
    created_at: Moment
    started_at: Moment | None
    completed_at: Moment | None
    retry_count: int
    max_retries: int
    title: str
    description: str
    due_at: Moment | None
    thread_id: UUID | None
    job_id: UUID | None


class FactShape(Shape):
    id: UUID
    world: World
    thread_id: UUID
    key: str = Field(description="What it is kept under; one that begins with # was not given.")
    text: str
    source: str | None = Field(description="Whose words it rests on, if they were a stranger's.")
    job_id: UUID | None
    created_at: Moment
    changed_at: Moment
