"""What Laneway does of its own accord: schedules, the reminders it owes, and whether a result is worth saying."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from laneway.errors import BadInput
from laneway.language.times import time_of_day

NOTHING = "NOTHING"
"""What a proactive run answers when there is nothing to say; the proactive prompt asks for exactly this."""

LATE_SECONDS = 60.0
"""A run or a reminder later than this is late enough to be said so."""


def worth_saying(text: str) -> bool:
    """Whether a proactive answer is for the owner; only the bare word NOTHING, or no word at all, is not."""
    return re.sub(r"^[\W_]+|[\W_]+$", "", text).upper() not in ("", NOTHING)


@dataclass(frozen=True, slots=True)
class Schedule:
    """An order that is carried out at its times; `cron` and `zone` say when, `words` how that was said."""

    id: UUID
    name: str
    thread_id: UUID
    principal_id: UUID
    text: str
    words: str
    cron: str
    zone: str
    paused: bool
    why_paused: str | None
    next_at: datetime | None
    last_at: datetime | None
    last_job_id: UUID | None
    budget_usd: Decimal | None
    quiet_from: time | None
    quiet_to: time | None
    urgent: bool
    skipped: int
    skipped_from: datetime | None
    skipped_to: datetime | None
    created_at: datetime

    def held_until(self, now: datetime) -> datetime | None:
        """When the quiet hours end that `now` lies in; None if what is said now may be said."""
        if self.urgent or self.quiet_from is None or self.quiet_to is None:
            return None
        return quiet_until(self.quiet_from, self.quiet_to, now, ZoneInfo(self.zone))


def quiet_hours(text: str) -> tuple[time, time]:
    """Beginning and end of quiet hours written like 22:00-07:00."""
    parts = [time_of_day(part.strip()) for part in re.split(r"[-–]", text)]
    if len(parts) != 2 or parts[0] is None or parts[1] is None or parts[0] == parts[1]:
        raise BadInput(f"`{text[:40]}` are no quiet hours.", hint="Write them like 22:00-07:00.")
    return parts[0], parts[1]


def quiet_until(begin: time, end: time, now: datetime, zone: ZoneInfo) -> datetime | None:
    """When the quiet hours around `now` end, in UTC; None outside them."""
    here = now.astimezone(zone)
    clock = here.time()
    quiet = begin <= clock < end if begin < end else clock >= begin or clock < end
    if not quiet:
        return None
    day = here.date() + timedelta(days=1 if clock >= end else 0)
    return datetime.combine(day, end, tzinfo=zone).astimezone(UTC)


class ReminderState(StrEnum):
    PENDING = "pending"
    SENT = "sent"
    CANCELLED = "cancelled"


class ReminderKind(StrEnum):
    """What is delivered later: something a person asked for, or a result that waits for quiet hours to end."""

    REMINDER = "reminder"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class Reminder:
    """A text that is put into its thread when it is due."""

    id: UUID
    seq: int
    thread_id: UUID
    job_id: UUID | None
    kind: ReminderKind
    text: str
    words: str
    due_at: datetime
    zone: str
    state: ReminderState
    message_id: UUID | None
    created_at: datetime
    sent_at: datetime | None
    meta: dict[str, Any] = field(default_factory=dict)
