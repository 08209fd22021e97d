"""Schedules: kept, claimed when due by one worker only, and moved to their next time."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from uuid import UUID

from laneway.domain.ids import new_id
from laneway.domain.job import FINAL, JobStatus
from laneway.domain.schedule import Schedule
from laneway.errors import BadInput, Conflict, NotFound
from laneway.store import events, jobs
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns

_COLUMNS = columns(Schedule)
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
OPEN = sorted(set(JobStatus) - FINAL)


async def add(tx: Connection, *, name: str | None, **values: Any) -> Schedule:
    """The schedule is stored and waits for its first time; `values` are its other columns."""
    chosen = await _free_name(tx, name, str(values["text"]))
    row = {"id": new_id(), "name": chosen, **values}
    made = await Rows(tx, Schedule).fetch_one(
        f"INSERT INTO schedules ({', '.join(row)}) VALUES ({', '.join(f'%({key})s' for key in row)}) "
        f"RETURNING {_COLUMNS}",
        row,
    )
    assert made is not None
    await _told(tx, "schedule.added", made)
    return made


async def _free_name(tx: Connection, name: str | None, text: str) -> str:
    """The name asked for, or one made from the first words; Conflict or BadInput if it cannot be had."""
    if name is not None and not NAME.fullmatch(name):
        raise BadInput(f"`{name[:60]}` is no name.", hint="Use up to 60 small letters, digits and dashes.")
    wanted = name or "-".join(re.findall(r"[a-z0-9]+", text.lower())[:4])[:50].strip("-") or "schedule"
    # Two that take the same name at the same moment wait for each other here.
    await tx.execute("SELECT pg_advisory_xact_lock(hashtext('laneway.schedules'))")
    cursor = await tx.execute("SELECT name FROM schedules WHERE name LIKE %s", (f"{wanted}%",))
    taken = {row[0] for row in await cursor.fetchall()}
    if name is not None and name in taken:
        raise Conflict(f"There is a schedule `{name}` already.", hint="Choose another name, or remove that one.")
    number = 2
    free = wanted
    while free in taken:
        free, number = f"{wanted}-{number}", number + 1
    return free


async def get(tx: Connection, which: str, *, lock: bool = False) -> Schedule:
    """The schedule of this id or name, or NotFound."""
    found = await Rows(tx, Schedule).fetch_one(
        f"SELECT {_COLUMNS} FROM schedules WHERE id::text = %s OR name = %s {'FOR UPDATE' if lock else ''}",
        (which.lower(), which),
    )
    if found is None:
        raise NotFound(f"There is no schedule `{which[:60]}`.", hint="`laneway schedule list` lists them.")
    return found


async def of_id(tx: Connection, schedule_id: UUID) -> Schedule | None:
    """The schedule, locked, unless it was removed."""
    return await Rows(tx, Schedule).fetch_one(
        f"SELECT {_COLUMNS} FROM schedules WHERE id = %s FOR UPDATE", (schedule_id,)
    )


async def page(tx: Connection, *, limit: int = 50, before: UUID | None = None) -> list[Schedule]:
    """Schedules, newest first; `before` is the last one of the page before."""
    return await Rows(tx, Schedule).fetch_all(
        f"SELECT {_COLUMNS} FROM schedules WHERE (%s::uuid IS NULL OR id < %s) ORDER BY id DESC LIMIT %s",
        (before, before, limit),
    )


async def claim(tx: Connection, now: datetime) -> Schedule | None:
    """One schedule that is due, in the hands of this transaction and of no other."""
    return await Rows(tx, Schedule).fetch_one(
        f"SELECT {_COLUMNS} FROM schedules WHERE NOT paused AND next_at <= %s "
        "ORDER BY next_at, id LIMIT 1 FOR UPDATE SKIP LOCKED",
        (now,),
    )


async def is_open(tx: Connection, schedule: Schedule) -> bool:
    """Whether its last run has not ended."""
    return schedule.last_job_id is not None and (await jobs.get(tx, schedule.last_job_id)).status in OPEN


async def started(tx: Connection, schedule: Schedule, job_id: UUID, at: datetime, next_at: datetime | None) -> None:
    """A run of the schedule stands for `at`, and its next time is `next_at`."""
    await tx.execute(
        "UPDATE schedules SET last_at = %s, last_job_id = %s, next_at = %s WHERE id = %s",
        (at, job_id, next_at, schedule.id),
    )


async def skip(tx: Connection, schedule: Schedule, times: list[datetime], next_at: datetime) -> None:
    """These times passed without a run because the last one is still open; an event says so, the next result will."""
    await tx.execute(
        "UPDATE schedules SET skipped = skipped + %s, skipped_from = coalesce(skipped_from, %s), skipped_to = %s, "
        "next_at = %s WHERE id = %s",
        (len(times), times[0], times[-1], next_at, schedule.id),
    )
    body = {"times": [one.isoformat() for one in times[-10:]], "count": len(times), "open": str(schedule.last_job_id)}
    await _told(tx, "schedule.skipped", schedule, **body)


async def forget_skipped(tx: Connection, schedule: Schedule) -> None:
    """The skipped runs have been reported."""
    await tx.execute(
        "UPDATE schedules SET skipped = 0, skipped_from = NULL, skipped_to = NULL WHERE id = %s", (schedule.id,)
    )


async def missed(tx: Connection, schedule: Schedule, times: list[datetime]) -> None:
    """An event says which runs did not happen in time."""
    body = {"first": times[0].isoformat(), "last": times[-1].isoformat(), "count": len(times)}
    await _told(tx, "schedule.missed", schedule, **body)


async def pause(tx: Connection, schedule: Schedule, why: str | None = None) -> Schedule:
    """The schedule has no next time until it is resumed."""
    return await _set(tx, schedule, "schedule.paused", paused=True, why_paused=why, next_at=None)


async def resume(tx: Connection, schedule: Schedule, next_at: datetime) -> Schedule:
    """The schedule goes on at `next_at`; the times it was paused over were not missed."""
    return await _set(tx, schedule, "schedule.resumed", paused=False, why_paused=None, next_at=next_at)


async def remove(tx: Connection, schedule: Schedule) -> None:
    """The schedule is gone; its runs and their results stay."""
    await tx.execute("DELETE FROM schedules WHERE id = %s", (schedule.id,))
    await _told(tx, "schedule.removed", schedule)


async def seconds_to_next(tx: Connection, now: datetime) -> float | None:
    """How long until a schedule or a reminder is due; None if nothing ever is."""
    cursor = await tx.execute(
        "SELECT extract(epoch FROM least((SELECT min(next_at) FROM schedules WHERE NOT paused), "
        "(SELECT min(due_at) FROM reminders WHERE state = 'pending')) - %s)::float8",
        (now,),
    )
    row = await cursor.fetchone()
    return None if row is None or row[0] is None else max(0.0, float(row[0]))


async def wake(tx: Connection) -> None:
    """Every worker looks anew at what is due, once this is committed."""
    await tx.execute("SELECT pg_notify('laneway_due', '')")


async def _set(tx: Connection, schedule: Schedule, event: str, **values: Any) -> Schedule:
    assignments = ", ".join(f"{key} = %({key})s" for key in values)
    changed = await Rows(tx, Schedule).fetch_one(
        f"UPDATE schedules SET {assignments} WHERE id = %(id)s RETURNING {_COLUMNS}", {**values, "id": schedule.id}
    )
    assert changed is not None
    await _told(tx, event, changed)
    return changed


async def _told(tx: Connection, kind: str, schedule: Schedule, **more: Any) -> None:
    body = {"schedule": str(schedule.id), "name": schedule.name, **more}
    await events.append(tx, kind, body, thread_id=schedule.thread_id)
    await wake(tx)
