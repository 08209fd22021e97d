"""Tasks: work people see, moved along their state machine."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.conversation import World
from laneway.domain.task import Task, TaskPriority, TaskStatus, TaskType, check_move
from laneway.errors import BadInput, Conflict, NotFound
from laneway.store import events
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns, row_of

_COLUMNS = columns(Task)
LONGEST_TITLE, LONGEST_DESCRIPTION, LONGEST_NAME = 200, 10_000, 120
MOST_OPEN = {World.OWNER: 1000, World.CUSTOMER: 20}
"""How many open tasks one thread may have made."""


async def create(
    tx: Connection,
    title: str,
    description: str = "",
    *,
    task_type: TaskType = TaskType.MANUAL,
    priority: int = TaskPriority.NORMAL,
    assigned_agent: str | None = None,
    due_at: datetime | None = None,
    parent_task_id: int | None = None,
    input_data: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
    max_retries: int = 3,
    thread_id: UUID | None = None,
    message_id: UUID | None = None,
    job_id: UUID | None = None,
) -> Task:
    """The task is stored as pending; the same title and description of the same job is stored once."""
    _check(title, description, assigned_agent)
    if parent_task_id is not None:
        await get(tx, parent_task_id)
    values = {
        "task_type": task_type, "priority": int(priority), "assigned_agent": assigned_agent, "title": title.strip(),
        "description": description, "due_at": due_at, "parent_task_id": parent_task_id, "max_retries": max_retries,
        "input_data": Jsonb(input_data or {}), "metadata": Jsonb(metadata or {}), "thread_id": thread_id,
        "message": message_id, "job_id": job_id,
    }  # fmt: skip
    async with tx.cursor(row_factory=row_of(Task)) as cursor:
        await cursor.execute(
            f"""
            INSERT INTO tasks (task_type, priority, assigned_agent, title, description, due_at, parent_task_id,
                               max_retries, input_data, metadata, thread_id, job_id, chat_id, message_id)
            SELECT %(task_type)s, %(priority)s, %(assigned_agent)s, %(title)s, %(description)s, %(due_at)s,
                   %(parent_task_id)s, %(max_retries)s, %(input_data)s, %(metadata)s, %(thread_id)s, %(job_id)s,
                   (SELECT external_id FROM threads WHERE id = %(thread_id)s),
                   (SELECT external_id FROM messages WHERE id = %(message)s)
            ON CONFLICT (job_id, md5(title), md5(description)) DO NOTHING RETURNING {_COLUMNS}
            """,
            values,
        )
        made = await cursor.fetchone()
        if made is None:
            await cursor.execute(
                f"SELECT {_COLUMNS} FROM tasks WHERE job_id = %(job_id)s AND title = %(title)s "
                "AND description = %(description)s",
                values,
            )
            made = await cursor.fetchone()
            assert made is not None
            return made
    await _told(tx, "task.created", made)
    return made


async def check_room(tx: Connection, thread_id: UUID, world: World) -> None:
    """Returns only if the thread may make one more task."""
    cursor = await tx.execute(
        "SELECT count(*) FROM tasks WHERE thread_id = %s AND status IN ('pending', 'in_progress')", (thread_id,)
    )
    row = await cursor.fetchone()
    if row is not None and row[0] >= MOST_OPEN[world]:
        raise Conflict(f"{row[0]} tasks of this thread are open already.", hint="Finish some first.")


async def get(tx: Connection, task_id: int, *, lock: bool = False) -> Task:
    """The task, or NotFound."""
    found = await Rows(tx, Task).fetch_one(
        f"SELECT {_COLUMNS} FROM tasks WHERE id = %s {'FOR UPDATE' if lock else ''}", (min(task_id, 2**63 - 1),)
    )
    if found is None:
        raise NotFound(f"There is no task {task_id}.", hint="`laneway tasks` lists them.")
    return found


async def page(
    tx: Connection, *, status: TaskStatus | None = None, open_only: bool = False, limit: int = 50,
    before: int | None = None,
) -> list[Task]:  # fmt: skip
    """Tasks, newest first; `before` is the id of the last one of the page before."""
    return await Rows(tx, Task).fetch_all(
        f"SELECT {_COLUMNS} FROM tasks WHERE (%s::text IS NULL OR status = %s) "
        "AND (NOT %s OR status IN ('pending', 'in_progress')) AND (%s::bigint IS NULL OR id < %s) "
        "ORDER BY id DESC LIMIT %s",
        (status, status, open_only, before, before, limit),
    )


async def move(tx: Connection, task_id: int, target: TaskStatus, output: dict[str, Any] | None = None) -> Task:
    """The task has the status `target`, its times and its event say so; IllegalTransition if it may not."""
    check_move(await get(tx, task_id, lock=True), target)
    moved = await Rows(tx, Task).fetch_one(
        f"""
            UPDATE tasks SET status = %(target)s, output_data = output_data || %(output)s,
                   started_at = CASE %(target)s WHEN 'in_progress' THEN now() WHEN 'pending' THEN NULL
                                ELSE started_at END,
                   completed_at = CASE WHEN %(target)s IN ('completed', 'failed', 'cancelled') THEN now() END,
                   retry_count = retry_count + CASE WHEN %(target)s = 'pending' THEN 1 ELSE 0 END
            WHERE id = %(id)s RETURNING {_COLUMNS}
            """,
        {"target": target, "output": Jsonb(output or {}), "id": task_id},
    )
    assert moved is not None
    await _told(tx, f"task.{target}", moved)
    return moved


async def change(tx: Connection, task_id: int, *, output: dict[str, Any] | None = None, **values: Any) -> Task:
    """These columns of the task have these values, `output` is kept beside its output; `move` changes its status."""
    found = await get(tx, task_id, lock=True)
    _check(values.get("title", found.title), values.get("description", found.description), values.get("assigned_agent"))
    if output:
        values["output_data"] = Jsonb({**found.output_data, **output})
    if not values:
        return found
    changed = await Rows(tx, Task).fetch_one(
        f"UPDATE tasks SET {', '.join(f'{key} = %({key})s' for key in values)} WHERE id = %(id)s RETURNING {_COLUMNS}",
        {**values, "id": task_id},
    )
    assert changed is not None
    await _told(tx, "task.changed", changed)
    return changed


def _check(title: str, description: str, assigned_agent: str | None) -> None:
    if not title.strip() or len(title) > LONGEST_TITLE:
        raise BadInput(f"A task's title has 1 to {LONGEST_TITLE} characters.", hint="Put the rest in its description.")
    if len(description) > LONGEST_DESCRIPTION:
        raise BadInput(f"A task's description has at most {LONGEST_DESCRIPTION} characters.", hint="Shorten it.")
    if assigned_agent is not None and len(assigned_agent) > LONGEST_NAME:
        raise BadInput(f"A name has at most {LONGEST_NAME} characters.", hint="Shorten it.")
    if "\x00" in title + description + (assigned_agent or ""):
        raise BadInput("The text holds a NUL character.", hint="Send plain text.")


async def _told(tx: Connection, kind: str, task: Task) -> None:
    body = {"task": task.id, "status": task.status, "title": task.title}
    await events.append(tx, kind, body, thread_id=task.thread_id, job_id=task.job_id)
