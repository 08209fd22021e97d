"""Does what is due: starts the runs of schedules and delivers reminders, each once, on whichever worker comes first.

One transaction claims a schedule, moves it to its next time and writes the run's message and job; a crash leaves all
of that or nothing. Between two turns the loop sleeps until something is due, or until somebody says it is earlier.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from laneway.clock import Clock
from laneway.domain.conversation import Incoming, Receipt
from laneway.domain.ids import new_id
from laneway.domain.job import JobMode, Scope
from laneway.domain.judgement import Intent
from laneway.domain.schedule import LATE_SECONDS, Schedule
from laneway.engine import recurrence
from laneway.engine.faults import FAULTS, ended
from laneway.engine.rounds import listen, rounds
from laneway.errors import BadInput, Conflict
from laneway.language.times import shown
from laneway.store import conversations, events, intake, principals, proactive, reminders, schedules
from laneway.store.database import DUE, Connection, Database

_log = logging.getLogger("laneway.engine.schedules")
LOOK_ANYWAY_SECONDS = 30.0
"""A notification can be missed while the listener reconnects, and a machine can sleep; this bounds the delay."""


class Initiative:
    """Keeps schedules and reminders going on this worker."""

    def __init__(self, db: Database, clock: Clock, pulled: Collection[str]) -> None:
        self._db, self._clock, self._pulled = db, clock, frozenset(pulled)
        self._wake = asyncio.Event()

    async def keep_going(self) -> None:
        """Runs until cancelled; a database that goes away is waited for."""
        await rounds(self._wake, self._turn_or_wait, listen(self._db, lambda told: self._wake.set(), DUE))

    async def turn(self) -> float:
        """Everything due has been started or delivered; returns how many seconds nothing can be due."""
        # What was held back overnight is older than what begins now.
        while await self._deliver():
            pass
        while await self._fire_one():
            pass
        async with self._db.transaction() as tx:
            due = await schedules.seconds_to_next(tx, self._clock.now())
        # What is due and still there is in the hands of another worker; it need not be asked for all the time.
        return LOOK_ANYWAY_SECONDS if due is None else min(max(due + 0.01, 0.25), LOOK_ANYWAY_SECONDS)

    async def _turn_or_wait(self) -> float:
        try:
            return await self.turn()
        except FAULTS as error:
            if ended():
                # A query that was cancelled with us ends with an error of the database.
                raise asyncio.CancelledError from error
            _log.warning("Nothing is started by schedule: %s Trying again in a second.", error)
            return 1.0

    async def _fire_one(self) -> bool:
        async with self._db.transaction() as tx:
            now = self._clock.now()
            schedule = await schedules.claim(tx, now)
            if schedule is None:
                return False
            try:
                next_at = recurrence.following(schedule.cron, schedule.zone, now)
            except BadInput as error:
                await self._give_up(tx, schedule, error)
                return True
            await self._fire(tx, schedule, now, next_at)
            return True

    async def _fire(self, tx: Connection, schedule: Schedule, now: datetime, next_at: datetime) -> None:
        """The claimed schedule runs once for every time that has come, or is skipped while its last run is open."""
        assert schedule.next_at is not None
        times = recurrence.due(schedule.cron, schedule.zone, schedule.next_at, now)
        if await schedules.is_open(tx, schedule):
            return await schedules.skip(tx, schedule, times, next_at)
        on_time = (now - times[-1]).total_seconds() <= LATE_SECONDS
        missed = times[:-1] if on_time else times
        if missed:
            await schedules.missed(tx, schedule, missed)
            # Removed and made again under the same times it would be another schedule, with another id.
            key = f"missed:{schedule.id}:{missed[-1].isoformat()}"
            text = missed_notice(schedule, missed)
            await proactive.say(tx, schedule, text, external_id=key, pulled=self._pulled, now=now)
        await start(tx, schedule, times[-1], next_at, key=times[-1].isoformat(), missed=missed)
        return None

    async def _give_up(self, tx: Connection, schedule: Schedule, error: BadInput) -> None:
        """A schedule whose time can no longer be told is paused, and its owner knows why."""
        await schedules.pause(tx, schedule, str(error))
        text = f"The schedule `{schedule.name}` is paused: {error.message} Remove it and add it again."
        await proactive.say(
            tx, schedule, text, external_id=f"paused:{schedule.id}:{new_id()}", pulled=self._pulled,
            now=self._clock.now(),
        )  # fmt: skip

    async def _deliver(self) -> int:
        async with self._db.transaction() as tx:
            return await reminders.deliver_due(tx, self._clock.now(), self._pulled)


async def start(
    tx: Connection, schedule: Schedule, at: datetime, next_at: datetime | None, *, key: str,
    missed: list[datetime] | None = None,
) -> Receipt:  # fmt: skip
    """A run of the schedule is written down as a proactive message with its job; once per `key`."""
    thread = await conversations.thread(tx, schedule.thread_id)
    who = await principals.by_id(tx, schedule.principal_id)
    assert thread is not None
    assert who is not None
    told = {"schedule": str(schedule.id), "name": schedule.name, "at": at.isoformat(), "missed": len(missed or ())}
    incoming = Incoming(
        thread.channel, thread.external_id, f"schedule:{schedule.id}:{key}", schedule.text, who,
        mode=JobMode.EXECUTE, lane="tools", payload={"classification": _judged(schedule), **told},
        meta={"schedule": str(schedule.id)},
    )  # fmt: skip
    receipt = await intake.write(tx, incoming, scope=Scope.PROACTIVE)
    await schedules.started(tx, schedule, receipt.job_id, at, next_at)
    await events.append(tx, "schedule.started", told, thread_id=schedule.thread_id, job_id=receipt.job_id)
    return receipt


async def run_now(tx: Connection, schedule: Schedule, now: datetime) -> Receipt:
    """The schedule runs once, beside its times; Conflict while its last run is open."""
    if await schedules.is_open(tx, schedule):
        told = f"The last run of `{schedule.name}` has not ended: job {schedule.last_job_id}."
        raise Conflict(told, hint="Wait for it, or stop it with `laneway stop`.")
    return await start(tx, schedule, now, schedule.next_at, key=f"now:{new_id()}")


def missed_notice(schedule: Schedule, times: list[datetime]) -> str:
    """What the owner is told about runs that did not happen in time."""
    zone = ZoneInfo(schedule.zone)
    if len(times) == 1:
        return f"Missed 1 run of `{schedule.name}` at {shown(times[0], zone)}. It runs once now."
    many = f"{len(times)}{' or more' if len(times) >= recurrence.MOST_COUNTED - 1 else ''}"
    between = f"between {shown(times[0], zone)} and {shown(times[-1], zone)}"
    return f"Missed {many} runs of `{schedule.name}` {between}. It runs once now."


def _judged(schedule: Schedule) -> dict[str, Any]:
    """The judgement a scheduled run brings along: its owner wrote the order down, so nobody asks what was meant."""
    return {
        "intent": Intent.COMMAND, "summary": f"A run of the schedule {schedule.name}.",
        "plan": "Look, and report only what is worth saying.", "needs_confirmation": False, "confidence": 1.0,
    }  # fmt: skip
