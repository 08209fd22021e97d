"""A call's surroundings, for tests that call a tool without a whole Laneway around it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from laneway.domain.conversation import Author, Message, World
from laneway.domain.ids import new_id
from laneway.domain.job import Job, JobMode, JobStatus, Scope
from laneway.domain.judgement import Classification
from laneway.lanes.contract import Request
from laneway.lanes.tools.entry import Call
from laneway.transcript import Turn

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_job(thread_id: UUID, message_id: UUID) -> Job:
    empty: dict[str, Any] = dict.fromkeys(
        ("lane", "worker", "not_before", "cancel_requested_at", "result", "error", "started_at", "finished_at")
    )
    return Job(
        id=new_id(), seq=1, thread_id=thread_id, message_id=message_id, mode=JobMode.AUTO, scope=Scope.REACTIVE,
        owner=True, program=False, aside=False, status=JobStatus.RUNNING, run=1, epoch=1, attempts=1, resume=False,
        payload={}, created_at=NOW, **empty,
    )  # fmt: skip


def a_request(text: str = "do it", world: World = World.OWNER, thread_id: UUID | None = None) -> Request:
    """A message in a thread, with its job and its judgement."""
    thread_id = thread_id or new_id()
    message = Message(new_id(), 1, thread_id, Author.USER, "http", "1", None, text, {}, NOW)
    judged = Classification.given(
        {"intent": "command", "summary": "A task.", "plan": "Do it.", "needs_confirmation": False, "confidence": 1.0}
    )
    turns = [Turn(message.id, Author.USER, text)]
    return Request(a_job(thread_id, message.id), message, world, turns, judged)


def a_call(text: str = "do it", world: World = World.OWNER, thread_id: UUID | None = None) -> Call:
    return Call(a_request(text, world, thread_id), Path("/nowhere"))
