"""`create_task`: work for a person, listed until somebody has done it."""

from __future__ import annotations

from typing import Literal

from laneway.clock import Clock
from laneway.domain.task import TaskPriority
from laneway.errors import BadInput, Conflict
from laneway.lanes.tools.entry import Call, Outcome, ToolEntry, failure, success
from laneway.language.times import moment_of, zone_named
from laneway.store import tasks
from laneway.store.database import Database

Priority = Literal["urgent", "high", "normal", "low", "background"]


def task_entry(db: Database, clock: Clock, zone: str) -> ToolEntry:
    """The tool, over this database; `zone` is the owner's time zone."""

    async def create_task(
        call: Call,
        title: str,
        description: str = "",
        priority: Priority = "normal",
        assignee: str | None = None,
        due: str | None = None,
    ) -> Outcome:
        """Write down work that a person has to do; it stays listed until it is completed or cancelled.

        `assignee` is the person's name, if it is known; `due` is like "tomorrow at 9" or "2026-11-20T09:00".
        """
        try:
            due_at = moment_of(due, clock.now(), zone_named(zone)) if due else None
            async with db.transaction() as tx:
                await tasks.check_room(tx, call.thread_id, call.world)
                made = await tasks.create(
                    tx, title, description, priority=TaskPriority[priority.upper()], assigned_agent=assignee,
                    due_at=due_at, input_data={"message": {"body": call.request.message.text}},
                    metadata={"world": call.world, "sources": list(call.sources)}, thread_id=call.thread_id,
                    message_id=call.request.message.id, job_id=call.job_id,
                )  # fmt: skip
        except (BadInput, Conflict) as error:
            return failure(str(error))
        return success({"id": made.id, "status": made.status, "title": made.title})

    return ToolEntry(
        create_task, changes=True, idempotent=True, seconds=10,
        tags=("task", "todo", "ticket", "person", "colleague"),
    )  # fmt: skip
