"""What starts workflows by itself: schedules and events, each occasion once, on whichever worker comes first.

One transaction claims an occasion, writes the run with its job and moves on; a crash leaves all of that or nothing.
The same loop wakes runs that wait for a moment, for an event or for another run.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from laneway.clock import Clock
from laneway.domain.judgement import Event
from laneway.domain.workflow import Workflow
from laneway.domain.workflow_run import RunStatus
from laneway.engine import recurrence
from laneway.engine.faults import FAULTS, ended
from laneway.errors import BadInput, LanewayError, TooMany, Unavailable
from laneway.lanes.workflow.conditions import compiled
from laneway.lanes.workflow.runs import Order, Runs
from laneway.lanes.workflow.starting import DEEPEST
from laneway.store import events, notices, principals, workflow_nodes, workflow_runs, workflows
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
_log = logging.getLogger("laneway.workflow.triggers")


class Triggers:
    """Keeps triggers going on this worker."""

    def __init__(self, db: Database, runs: Runs, clock: Clock) -> None:
        self._db, self._runs, self._clock = db, runs, clock
        self._wake = asyncio.Event()
        self._hears = True

    async def keep_going(self) -> None:
        """Runs until cancelled; a database that goes away is waited for."""
        listener = asyncio.create_task(self._keep_listening(), name="workflow triggers")
        try:
            while not ended():
                self._wake.clear()
                pause = await self._turn_or_wait()
                try:
                    async with asyncio.timeout(pause):
                        await self._wake.wait()
                        await asyncio.sleep(BREATH_SECONDS)
                except TimeoutError:
                    pass
        finally:
            listener.cancel()
            await asyncio.gather(listener, return_exceptions=True)

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
            trigger = Trigger(workflow.id, number, str(one.get("type")), dict(one), None, None)
            try:
                found.append(self._timed(trigger) if trigger.type == "cron" else trigger)
            except BadInput as error:
                _log.warning("A trigger of workflow %s starts nothing: %s", workflow.tag, error)
        return found

    def _timed(self, trigger: Trigger) -> Trigger:
        return replace(trigger, next_at=recurrence.following(*when(trigger.config), self._clock.now()))

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
        """A run for the last of the times that came; none while the last one still works."""
        at = due[-1].isoformat()
        last = await workflow_runs.get(tx, trigger.last_run_id) if trigger.last_run_id else None
        if last is not None and last.status is RunStatus.RUNNING:
            body = {"workflow": workflow.tag, "at": at, "open": str(last.id)}
            await events.append(tx, "workflow.run.skipped", body)
            return None
        cause = {"type": "cron", "trigger": trigger.number, "at": at, "missed": len(due) - 1}
        order = Order(
            {"at": at, **dict(trigger.config.get("input") or {})}, cause,
            f"{workflow.id}:cron:{trigger.number}:{at}",
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
        except (BadInput, TooMany) as error:
            _log.warning("Workflow %s is not started: %s", workflow.tag, error)
            await events.append(tx, "workflow.run.refused", {"workflow": workflow.tag, "why": str(error)})
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
            if not self._hears:
                await triggers.skip_events(tx)
                return False
            found = await events.after(tx, place, limit=MOST_EVENTS)
            for event in found:
                await self._heard(tx, event, listening)
            if found:
                await triggers.move_event_place(tx, found[-1].cursor)
        return len(found) == MOST_EVENTS

    async def _heard(self, tx: Connection, event: Event, listening: list[Trigger]) -> None:
        seen = seen_as(event)
        for record in await workflow_nodes.waiting_for_event(tx, event.kind):
            if str(event.body.get("run")) != str(record.run_id) and fits((record.waits or {}).get("condition"), seen):
                await workflow_nodes.came(tx, record, seen, self._clock.now())
        for trigger in listening:
            if trigger.config.get("event") == event.kind and fits(trigger.config.get("condition"), seen):
                await self._on_event(tx, trigger, event, seen)

    async def _on_event(self, tx: Connection, trigger: Trigger, event: Event, seen: dict[str, Any]) -> None:
        """A run for this event, unless the workflow would only hear its own echo, or start without end."""
        workflow = await workflows.by_id(tx, trigger.workflow_id)
        if workflow is None or workflow.removed_at is not None:
            return
        cause = await workflow_runs.of_job(tx, event.job_id) if event.job_id else None
        depth = 0 if cause is None else cause.depth + 1
        if cause is not None and (cause.workflow_id == workflow.id or depth >= DEEPEST):
            return
        since = self._clock.now() - timedelta(minutes=1)
        if await workflow_runs.begun_since(tx, workflow.id, "event", since) >= MOST_STARTS:
            told = {"workflow": workflow.tag, "why": f"{MOST_STARTS} events started it within a minute."}
            await events.append(tx, "workflow.run.refused", told)
            return
        # Whoever sent it may have sent it twice, under a name of its own.
        named = event.body.get("sent_as") if event.job_id is None else None
        order = Order(
            {"event": seen, **dict(trigger.config.get("input") or {})},
            {"type": "event", "trigger": trigger.number, "event": event.kind, "id": event.id},
            f"{workflow.id}:event:{trigger.number}:{named or event.id}", sources=["an event"], depth=depth,
        )  # fmt: skip
        await self._started(tx, workflow, order)

    async def _keep_listening(self) -> None:
        while not ended():
            try:
                async with aclosing(self._db.listen(DUE, EVENTS)) as notifications:
                    async for notification in notifications:
                        if ended():
                            return
                        if notification is None or notification[0] == DUE or self._hears:
                            self._wake.set()
            except Unavailable:
                await asyncio.sleep(1)


def when(config: dict[str, Any]) -> tuple[str, str]:
    """The cron line and the zone of a trigger."""
    line = str(config.get("schedule") or "").strip()
    return ALIASES.get(line.lower(), line), str(config.get("timezone") or "UTC")


def seen_as(event: Event) -> dict[str, Any]:
    """An event as conditions and runs see it: its body, and around it what and when."""
    about = {"kind": event.kind, "id": event.id, "at": event.created_at.isoformat()}
    about |= {"job_id": str(event.job_id) if event.job_id else None}
    return {**event.body, **about}


def fits(condition: str | None, seen: dict[str, Any]) -> bool:
    """Whether the condition is true; one that cannot be worked out starts nothing."""
    if not condition:
        return True
    try:
        return compiled(condition).value(seen, {}) is True
    except LanewayError:
        return False
