"""What starts workflows by itself: schedules and events, each occasion once, on whichever worker comes first.

One transaction claims an occasion, writes the run with its job and moves on; a crash leaves all of that or nothing.
The same loop wakes runs that wait for a moment, for an event or for another run.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from laneway.clock import Clock
from laneway.domain.judgement import Event
from laneway.domain.workflow import Workflow
from laneway.domain.workflow_run import RunStatus, WorkflowRun
from laneway.engine import recurrence
from laneway.engine.faults import FAULTS, ended
from laneway.engine.rounds import Told, listen, rounds
from laneway.errors import BadInput, Conflict, TooMany
from laneway.lanes.workflow.conditions import Erred
from laneway.lanes.workflow.hearing import Heard, heard_of, verdict
from laneway.lanes.workflow.runs import Order, Runs
from laneway.lanes.workflow.starting import DEEPEST
from laneway.store import events, jobs, notices, principals, workflow_nodes, workflow_runs, workflows
from laneway.store import workflow_triggers as triggers
from laneway.store.database import DUE, EVENTS, Connection, Database
from laneway.store.workflow_triggers import Trigger

LOOK_ANYWAY_SECONDS = 20.0
BREATH_SECONDS = 0.2
"""Events come in swarms; between two readings of them there is so much time."""
MOST_EVENTS = 200
MOST_STARTS = 30
"""Runs of one workflow that events may start in a minute."""
ALIASES = {
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}  # fmt: skip
REFUSED, ERRED = "workflow.run.refused", "workflow.trigger.erred"
Problem = tuple[Trigger, Event, str]
"""A trigger whose condition could not be worked out for an event, and why."""
_log = logging.getLogger("laneway.workflow.triggers")


class Triggers:
    """Keeps triggers going on this worker."""

    def __init__(self, db: Database, runs: Runs, clock: Clock) -> None:
        self._db, self._runs, self._clock = db, runs, clock
        self._wake = asyncio.Event()
        self._hears = True

    async def keep_going(self) -> None:
        """Runs until cancelled; a database that goes away is waited for."""
        listening = listen(self._db, self._told, DUE, EVENTS)
        await rounds(self._wake, self._turn_or_wait, listening, breath=BREATH_SECONDS)

    async def turn(self) -> float:
        """Everything due has been started or woken; returns how many seconds nothing can be due."""
        while await self._sync():
            pass
        while await self._fire_one():
            pass
        more = await self._hear()
        async with self._db.transaction() as tx:
            now = self._clock.now()
            await workflow_runs.rouse(tx, now)
            due = [await triggers.seconds_to_next(tx, now), await workflow_runs.seconds_to_rouse(tx, now)]
        soon = min((one for one in due if one is not None), default=LOOK_ANYWAY_SECONDS)
        return 0.05 if more else min(max(soon + 0.01, 0.1), LOOK_ANYWAY_SECONDS)

    async def _turn_or_wait(self) -> float:
        try:
            return await self.turn()
        except FAULTS as error:
            if ended():
                raise asyncio.CancelledError from error
            _log.warning("No workflow is started by itself: %s Trying again in a second.", error)
            return 1.0

    async def _sync(self) -> int:
        """Triggers are those of the versions in force; returns how many workflows had changed."""
        async with self._db.transaction() as tx:
            found = await triggers.changed(tx)
            for workflow in found:
                await triggers.put(tx, workflow, self._wanted(workflow))
        return len(found)

    def _wanted(self, workflow: Workflow) -> list[Trigger]:
        given = [] if workflow.removed_at is not None else workflow.document.get("triggers") or []
        found: list[Trigger] = []
        for number, one in enumerate(given):
            if one.get("enabled") is False:
                continue
            # What only a trigger's row may say is not for its document to say.
            given_here = {key: value for key, value in one.items() if key != triggers.PROBLEM}
            trigger = Trigger(workflow.id, number, str(one.get("type")), given_here, None, None)
            try:
                if trigger.type == "cron":
                    next_at = recurrence.following(*when(trigger.config), self._clock.now())
                    trigger = replace(trigger, next_at=next_at)
                found.append(trigger)
            except BadInput as error:
                _log.warning("A trigger of workflow %s starts nothing: %s", workflow.tag, error)
        return found

    async def _fire_one(self) -> bool:
        async with self._db.transaction() as tx:
            now = self._clock.now()
            trigger = await triggers.claim(tx, now)
            if trigger is None:
                return False
            assert trigger.next_at is not None
            cron, zone = when(trigger.config)
            due, next_at = recurrence.due(cron, zone, trigger.next_at, now), recurrence.following(cron, zone, now)
            workflow = await workflows.by_id(tx, trigger.workflow_id)
            if workflow is None or workflow.removed_at is not None:
                await triggers.fired(tx, trigger, None, None)
                return True
            run_id = await self._on_time(tx, workflow, trigger, due)
            await triggers.fired(tx, trigger, next_at, run_id)
            return True

    async def _on_time(self, tx: Connection, workflow: Workflow, trigger: Trigger, due: list[Any]) -> UUID | None:
        """A run for the last of the times that came; while the last one has not ended, what the workflow says then."""
        at = due[-1].isoformat()
        last = await workflow_runs.get(tx, trigger.last_run_id) if trigger.last_run_id else None
        is_open = last is not None and last.status in (RunStatus.RUNNING, RunStatus.WAITING)
        overlap = workflow.document.get("overlap", "skip")
        if last is not None and is_open and overlap == "cancel":
            await workflow_runs.cancel(tx, last.id)
        elif last is not None and is_open and overlap == "skip":
            body = {"workflow": workflow.tag, "at": at, "open": str(last.id)}
            await events.append(tx, "workflow.run.skipped", body)
            return None
        cause = {"type": "cron", "trigger": trigger.number, "at": at, "missed": len(due) - 1}
        order = Order(
            {"at": at, **dict(trigger.config.get("input") or {})}, cause,
            f"{workflow.id}:cron:{trigger.number}:{at}", program=True,
        )  # fmt: skip
        return await self._started(tx, workflow, order)

    async def _started(self, tx: Connection, workflow: Workflow, order: Order) -> UUID | None:
        owner = await principals.by_id(tx, workflow.principal_id)
        if owner is None or owner.blocked_at is not None:
            return None
        try:
            # In a block of its own: what cannot start must not take the others' occasions with it.
            async with tx.transaction():
                return (await self._runs.start(tx, workflow, owner, order))[0]
        except (BadInput, TooMany, Conflict) as error:
            _log.warning("Workflow %s is not started: %s", workflow.tag, error)
            await _refused(tx, workflow, str(error), order.cause.get("event"))
            if isinstance(error, BadInput):
                # It stays so until somebody mends it: said once for each version.
                told = f"The workflow `{workflow.tag}` was to start ({order.cause['type']}) and cannot run. {error}"
                key = f"workflow:{workflow.id}:{workflow.version}:refused"
                await notices.tell_owner(tx, told, key=key, kind="workflow", pulled=self._runs.pulled)
            return None

    async def _hear(self) -> bool:
        """Events up to now have started what they start; returns whether there are more."""
        async with self._db.transaction() as tx:
            listening = await triggers.of_type(tx, "event")
            waits = await workflow_nodes.any_waits_for_events(tx)
            self._hears = bool(listening) or waits
            place = await triggers.event_place(tx)
            if place is None:
                return False
            found = await events.after(tx, place, limit=MOST_EVENTS) if self._hears else []
            newest = found[-1].cursor if found else None if self._hears else await events.newest_cursor(tx)
            if newest is not None and await self._has_come(tx):
                # Before the last of these events: it may be its occasion, so it must listen first.
                return True
            problems = [one for event in found for one in await self._heard(tx, event, listening)]
            # Last: whoever stores triggers anew holds their rows after that of the workflow, which a run is bound to.
            for trigger, event, why in problems:
                await self._not_judged(tx, trigger, event, why)
            if newest is not None:
                await triggers.move_event_place(tx, newest)
        return len(found) == MOST_EVENTS

    async def _has_come(self, tx: Connection) -> bool:
        """Whether there are triggers, or a node that waits while nobody did, that were not there when we looked."""
        if await triggers.any_changed(tx):
            return True
        return not self._hears and await workflow_nodes.any_waits_for_events(tx)

    async def _heard(self, tx: Connection, event: Event, listening: list[Trigger]) -> list[Problem]:
        """Whoever waits for the event, or is started by it, is; returns the triggers that could not be judged."""
        heard, problems = heard_of(event), list[Problem]()
        for record in await workflow_nodes.waiting_for_event(tx, event.kind, event.job_id):
            if verdict((record.waits or {}).get("condition"), heard) is True:
                await workflow_nodes.came(tx, record, heard.kept, self._clock.now())
        meant = [one for one in listening if one.config.get("event") == event.kind]
        cause = await workflow_runs.of_job(tx, event.job_id) if meant and event.job_id else None
        for trigger in meant:
            workflow = await workflows.by_id(tx, trigger.workflow_id)
            if workflow is None or workflow.removed_at is not None or not _concerns(cause, workflow):
                continue
            found = verdict(trigger.config.get("condition"), heard)
            if isinstance(found, Erred):
                problems.append((trigger, event, found.why))
            elif found:
                await self._on_event(tx, workflow, trigger, event, heard, 0 if cause is None else cause.depth + 1)
        return problems

    async def _on_event(
        self, tx: Connection, workflow: Workflow, trigger: Trigger, event: Event, heard: Heard, depth: int
    ) -> None:
        """A run for this event, unless the workflow would start without end."""
        if depth >= DEEPEST:
            return
        since = self._clock.now() - timedelta(minutes=1)
        if await workflow_runs.begun_since(tx, workflow.id, "event", since) >= MOST_STARTS:
            await _refused(tx, workflow, f"{MOST_STARTS} events started it within a minute.", event.kind)
            return
        # Whoever sent it may have sent it twice, under a name of its own.
        named = heard.about.get("sent_as")
        order = Order(
            {"event": heard.seen, **dict(trigger.config.get("input") or {})},
            {"type": "event", "trigger": trigger.number, "event": event.kind, **heard.about},
            f"{workflow.id}:event:{trigger.number}:{named or event.id}", sources=["an event"], depth=depth,
            program=event.job_id is not None and await jobs.is_programs(tx, event.job_id),
        )  # fmt: skip
        await self._started(tx, workflow, order)

    async def _not_judged(self, tx: Connection, trigger: Trigger, event: Event, why: str) -> None:
        """The trigger's row says what is wrong with its condition; the same again is not told again."""
        told = f"The condition `{trigger.config['condition']}` could not be worked out for an event: {why.rstrip('.')}."
        now = self._clock.now()
        if await triggers.note_problem(tx, trigger, told, now) == told:
            return
        workflow = await workflows.by_id(tx, trigger.workflow_id)
        tag = workflow.tag if workflow is not None else str(trigger.workflow_id)
        _log.warning("Trigger %d of workflow %s starts nothing. %s", trigger.number, tag, told)
        if event.kind != ERRED:
            # One that listens for just this must not be told of itself without end.
            body = {"workflow": tag, "trigger": trigger.number, "event": event.kind, "event_id": event.id, "why": told}
            await events.append(tx, ERRED, body)

    def _told(self, notification: Told) -> None:
        if notification is None or notification[0] == DUE or self._hears:
            self._wake.set()


def _concerns(cause: WorkflowRun | None, workflow: Workflow) -> bool:
    """Whether an event of this run is for the workflow: not its own echo, nor a run of somebody else's workflows."""
    return cause is None or (cause.workflow_id != workflow.id and cause.principal_id == workflow.principal_id)


async def _refused(tx: Connection, workflow: Workflow, why: str, by: Any) -> None:
    """It is told that the workflow was not started; not if that was to be started by being told just this."""
    if by != REFUSED:
        await events.append(tx, REFUSED, {"workflow": workflow.tag, "why": why})


def when(config: dict[str, Any]) -> tuple[str, str]:
    """The cron line and the zone of a trigger."""
    line = str(config.get("schedule") or "").strip()
    return ALIASES.get(line.lower(), line), str(config.get("timezone") or "UTC")
