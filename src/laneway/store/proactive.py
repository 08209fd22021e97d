"""What a proactive run says: its result, now or after the quiet hours, or nothing at all."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from laneway.clock import SystemClock
from laneway.domain.job import Job, node_of
from laneway.domain.schedule import ReminderKind, Schedule, worth_saying
from laneway.language.times import shown
from laneway.store import events, outbox, reminders, schedules
from laneway.store.database import Connection


class Said(StrEnum):
    NOW = "now"
    HELD = "held"
    NOTHING = "nothing"


async def answer(
    tx: Connection, job: Job, text: str, *, key: str, pulled: Collection[str], meta: dict[str, Any],
    now: datetime | None = None,
) -> Said:  # fmt: skip
    """The result of a proactive job is in the outbox, waits for the quiet hours to end, or is kept to ourselves."""
    # What was done for a node of a workflow is for its run to make something of.
    if not worth_saying(text) or node_of(job):
        return await _hush(tx, job)
    schedule = await of_job(tx, job)
    if schedule is None:
        await outbox.write_reply(tx, job, text, key=key, pulled=pulled, meta=meta)
        return Said.NOW
    if schedule.skipped:
        text = f"{text}\n\n{_skipped(schedule)}"
        await schedules.forget_skipped(tx, schedule)
    about = {"answers": str(job.message_id), "schedule": str(schedule.id), **meta}
    return await say(
        tx, schedule, text, external_id=f"reply:{job.id}:{key}", pulled=pulled, now=now or SystemClock().now(),
        meta=about, job_id=job.id,
    )  # fmt: skip


async def say(
    tx: Connection, schedule: Schedule, text: str, *, external_id: str, pulled: Collection[str], now: datetime,
    meta: dict[str, Any] | None = None, job_id: UUID | None = None,
) -> Said:  # fmt: skip
    """The schedule's thread has the text, now or when its quiet hours end; once per `external_id`."""
    about = meta or {"schedule": str(schedule.id)}
    until = schedule.held_until(now)
    if until is None:
        await outbox.write(
            tx, schedule.thread_id, text, external_id=external_id, pulled=pulled, meta=about, job_id=job_id
        )
        return Said.NOW
    await reminders.add(
        tx, schedule.thread_id, text, until, words=external_id, zone=schedule.zone, job_id=job_id,
        kind=ReminderKind.RESULT, meta=about,
    )  # fmt: skip
    return Said.HELD


async def of_job(tx: Connection, job: Job) -> Schedule | None:
    """The schedule that started the job, locked, unless it was removed meanwhile."""
    given = job.payload.get("schedule")
    return None if given is None else await schedules.of_id(tx, UUID(str(given)))


async def _hush(tx: Connection, job: Job) -> Said:
    """Nobody is told; models do not see the run in the conversation, and an event keeps it."""
    await tx.execute("UPDATE messages SET meta = meta || '{\"hushed\": true}' WHERE id = %s", (job.message_id,))
    body = {"schedule": job.payload.get("schedule")}
    await events.append(tx, "schedule.nothing", body, thread_id=job.thread_id, job_id=job.id)
    return Said.NOTHING


def _skipped(schedule: Schedule) -> str:
    zone = ZoneInfo(schedule.zone)
    assert schedule.skipped_from is not None
    assert schedule.skipped_to is not None
    if schedule.skipped == 1:
        when = f"1 run was skipped at {shown(schedule.skipped_from, zone)}"
    else:
        between = f"between {shown(schedule.skipped_from, zone)} and {shown(schedule.skipped_to, zone)}"
        when = f"{schedule.skipped} runs were skipped {between}"
    return f"({when}: the one before had not ended.)"
