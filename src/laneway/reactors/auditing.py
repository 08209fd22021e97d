"""Puts what happened in Laneway itself into the audit: one process at a time follows the events and appends.

The place in the stream is stored in the same transaction as the entries, so that nothing is lost or put down twice,
over restarts too. Events are kept for weeks; the audit is behind by seconds.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from laneway.clock import Clock, SystemClock
from laneway.domain.audit import Note
from laneway.domain.judgement import Approval, Event
from laneway.engine.faults import ended
from laneway.store import audit, events
from laneway.store.database import Connection, Database

EVERY_SECONDS = 2.0
PAGE = 500
KINDS = (
    "approval.", "permission.", "principal.", "pairing.", "budget.set", "budget.removed", "budget.reached",
    "reactor.killed", "reactor.notified", "reactor.failed", "tool.started", "tool.finished", "tool.refused",
    "effect.uncertain", "job.cancelled", "job.undone", "schedule.added", "schedule.removed", "schedule.changed",
    "schedule.paused", "schedule.resumed", "memory.", "hook.", "settings.", "classification.correct",
)  # fmt: skip
"""How the kinds of events that are audited begin; a tool's only if it can change something."""
SETTINGS = "settings.changed"


class Auditing:
    """The duty of following the events."""

    def __init__(self, db: Database, settings: Mapping[str, Any] | None = None, clock: Clock | None = None) -> None:
        self._db, self._settings, self._clock = db, dict(settings or {}), clock or SystemClock()

    async def keep_auditing(self) -> None:
        """Runs until cancelled."""
        await self.note_settings()
        while not ended():
            if await self.catch_up() < PAGE and not ended():
                await asyncio.sleep(EVERY_SECONDS)

    async def catch_up(self) -> int:
        """The next events are audited; returns how many were looked at."""
        async with self._db.transaction() as tx:
            found = await events.after(tx, await audit.place(tx), limit=PAGE)
            if found:
                await audit.append(tx, await _notes(tx, [event for event in found if is_audited(event)]))
                await audit.move_place(tx, found[-1].cursor)
        return len(found)

    async def note_settings(self) -> None:
        """If a setting has changed since the last start, there is an entry that says which, and its value now."""
        async with self._db.transaction() as tx:
            last = await audit.newest(tx, SETTINGS)
            before = {} if last is None else json.loads(last.body)
            marks = [f"{_mark(value)} {name}" for name, value in sorted(self._settings.items())]
            if last is not None and before.get("digest") == _mark(marks):
                return
            changed = sorted({mark.partition(" ")[2] for mark in {*before.get("marks", []), *marks}
                              if (mark in marks) != (mark in before.get("marks", []))})  # fmt: skip
            # Told in words: under names like these, values would be taken for secrets.
            told = [f"{name} is {self._settings.get(name, 'as it comes')}" for name in changed]
            body = {"changed": told, "marks": marks, "digest": _mark(marks)}
            await audit.append(tx, [Note(self._clock.now(), "laneway", SETTINGS, body)])


def _mark(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def is_audited(event: Event) -> bool:
    """Whether the event is worth an entry."""
    if not event.kind.startswith(KINDS):
        return False
    return event.kind not in ("tool.started", "tool.finished") or event.body.get("changes") is not False


async def _notes(tx: Connection, found: Sequence[Event]) -> list[Note]:
    asking = await audit.askers(tx, [event.job_id for event in found if event.job_id is not None])
    answered = await audit.answers(tx, found)
    return [_note(event, asking, answered) for event in found]


def _note(event: Event, asking: Mapping[UUID, str], answered: Mapping[str, Approval]) -> Note:
    body = dict(event.body)
    # How long, what model and the like belong to the job; the audit says who did what.
    for name in ("key", "result", "changes", "vouched", "cause"):
        body.pop(name, None)
    if event.job_id is not None:
        body["job"] = str(event.job_id)
    approval = answered.get(str(body.get("approval_id")))
    if approval is not None and approval.answered_by is not None:
        body |= {"by": str(approval.answered_by), "answered": _time(approval.answered_at), "choice": approval.choice}
    return Note(event.created_at, _actor(event, body, asking), event.kind, body)


def _actor(event: Event, body: Mapping[str, Any], asking: Mapping[UUID, str]) -> str:
    if event.kind.startswith("reactor."):
        return f"reactor {body.get('reactor', '')}"
    if body.get("by"):
        return str(body["by"])
    asked_by = asking.get(event.job_id) if event.job_id is not None else None
    # A tool runs for whoever asked; what is asked, and what expires, is our own doing.
    return asked_by if asked_by and not event.kind.startswith("approval.") else "laneway"


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
