"""Reminders: texts that are put into their thread when they are due, once each and in order."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from laneway.domain.conversation import World
from laneway.domain.ids import new_id
from laneway.domain.schedule import LATE_SECONDS, Reminder, ReminderKind, ReminderState
from laneway.errors import Conflict, NotFound
from laneway.language.times import shown
from laneway.store import events, outbox, schedules
from laneway.store.database import Connection
from laneway.store.json_columns import in_order
from laneway.store.rows import Rows, columns, row_of

_COLUMNS = columns(Reminder)
MOST_PENDING = {World.OWNER: 200, World.CUSTOMER: 20}
"""How many reminders one thread may have waiting."""


async def add(
    tx: Connection,
    thread_id: UUID,
    text: str,
    due_at: datetime,
    *,
    words: str,
    zone: str,
    job_id: UUID | None = None,
    kind: ReminderKind = ReminderKind.REMINDER,
    meta: dict[str, Any] | None = None,
) -> Reminder:
    """The text will be delivered when it is due; the same request of the same job is stored once."""
    values = (new_id(), thread_id, job_id, kind, text, words, due_at, zone, in_order(meta or {}))
    made = await Rows(tx, Reminder).fetch_one(
        "INSERT INTO reminders (id, thread_id, job_id, kind, text, words, due_at, zone, meta) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) "
        "ON CONFLICT (job_id, kind, md5(text), md5(words)) DO UPDATE SET zone = EXCLUDED.zone "
        f"RETURNING {_COLUMNS}",
        values,
    )
    assert made is not None
    if made.id == values[0]:
        body = {"reminder": str(made.id), "kind": kind, "due_at": due_at.isoformat()}
        await events.append(tx, "reminder.added", body, thread_id=thread_id, job_id=job_id)
        await schedules.wake(tx)
    return made


async def check_room(tx: Connection, thread_id: UUID, world: World) -> None:
    """Returns only if the thread may have one more reminder waiting."""
    cursor = await tx.execute(
        "SELECT count(*) FROM reminders WHERE thread_id = %s AND state = 'pending' AND kind = 'reminder'", (thread_id,)
    )
    row = await cursor.fetchone()
    if row is not None and row[0] >= MOST_PENDING[world]:
        raise Conflict(f"{row[0]} reminders wait here already.", hint="Cancel some first.")


async def page(
    tx: Connection, *, state: ReminderState | None = None, limit: int = 50, before: int | None = None
) -> list[Reminder]:
    """Reminders, newest first; `before` is the `seq` of the last one of the page before."""
    return await Rows(tx, Reminder).fetch_all(
        f"SELECT {_COLUMNS} FROM reminders WHERE (%s::text IS NULL OR state = %s) "
        "AND (%s::bigint IS NULL OR seq < %s) ORDER BY seq DESC LIMIT %s",
        (state, state, before, before, limit),
    )


async def cancel(tx: Connection, reminder_id: UUID) -> Reminder:
    """The reminder will not be delivered; Conflict if it has been."""
    async with tx.cursor(row_factory=row_of(Reminder)) as cursor:
        await cursor.execute(f"SELECT {_COLUMNS} FROM reminders WHERE id = %s FOR UPDATE", (reminder_id,))
        found = await cursor.fetchone()
        if found is None:
            raise NotFound(f"There is no reminder {reminder_id}.", hint="`laneway reminders` lists them.")
        if found.state is not ReminderState.PENDING:
            raise Conflict(f"Reminder {reminder_id} is already {found.state}.", hint="There is nothing to cancel.")
        await cursor.execute(
            f"UPDATE reminders SET state = 'cancelled' WHERE id = %s RETURNING {_COLUMNS}", (reminder_id,)
        )
        cancelled = await cursor.fetchone()
    assert cancelled is not None
    body = {"reminder": str(reminder_id)}
    await events.append(tx, "reminder.cancelled", body, thread_id=found.thread_id, job_id=found.job_id)
    return cancelled


async def deliver_due(tx: Connection, now: datetime, pulled: Collection[str], limit: int = 50) -> int:
    """The first due reminder of each thread is in the outbox and will never be again; returns how many those were.

    Only the first, because another worker may hold an earlier one that is not committed yet.
    """
    due = await Rows(tx, Reminder).fetch_all(
        f"SELECT {columns(Reminder, 'r.')} FROM reminders r WHERE r.state = 'pending' AND r.due_at <= %s "
        "AND NOT EXISTS (SELECT 1 FROM reminders e WHERE e.thread_id = r.thread_id AND e.state = 'pending' "
        "AND (e.due_at, e.seq) < (r.due_at, r.seq)) ORDER BY r.due_at, r.seq LIMIT %s FOR UPDATE SKIP LOCKED",
        (now, limit),
    )
    for reminder in due:
        message = await outbox.write(
            tx, reminder.thread_id, said(reminder, now), external_id=f"reminder:{reminder.id}", pulled=pulled,
            meta={**reminder.meta, "reminder": str(reminder.id)}, job_id=reminder.job_id,
        )  # fmt: skip
        await tx.execute(
            "UPDATE reminders SET state = 'sent', sent_at = %s, message_id = %s WHERE id = %s",
            (now, message, reminder.id),
        )
    return len(due)


def said(reminder: Reminder, now: datetime) -> str:
    """The words of a reminder that is due; one that comes late says when it should have come."""
    if reminder.kind is ReminderKind.RESULT:
        return reminder.text
    late = (now - reminder.due_at).total_seconds() > LATE_SECONDS
    due = f" (due {shown(reminder.due_at, ZoneInfo(reminder.zone))}, late because Laneway was not running)"
    return f"Reminder{due if late else ''}: {reminder.text}"
