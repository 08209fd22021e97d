"""What starts workflows by itself: their schedules and events as of the version in force, and their webhooks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.ids import new_id
from laneway.domain.workflow import Workflow
from laneway.store import events
from laneway.store.database import DUE, Connection
from laneway.store.rows import Rows, columns

_WORKFLOW = columns(Workflow, "w.")


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger of the version in force; `number` is its place in the document."""

    workflow_id: UUID
    number: int
    type: str
    config: dict[str, Any]
    next_at: datetime | None
    last_run_id: UUID | None


@dataclass(frozen=True, slots=True)
class Hook:
    """A webhook's own secret; nobody is shown it twice."""

    id: UUID
    workflow_id: UUID
    secret: str
    created_at: datetime


_TRIGGER, _HOOK = columns(Trigger), columns(Hook)


_CHANGED = (
    "FROM workflows w LEFT JOIN workflow_watched s ON s.workflow_id = w.id "
    "WHERE s.version IS DISTINCT FROM CASE WHEN w.removed_at IS NULL THEN w.version ELSE -1 END"
)


async def any_changed(tx: Connection) -> bool:
    """Whether a workflow has triggers that are not looked after yet."""
    cursor = await tx.execute(f"SELECT 1 {_CHANGED} LIMIT 1")
    return await cursor.fetchone() is not None


async def changed(tx: Connection, limit: int = 50) -> list[Workflow]:
    """Workflows whose triggers are not those of their version yet, locked."""
    return await Rows(tx, Workflow).fetch_all(
        f"SELECT {_WORKFLOW} {_CHANGED} ORDER BY w.seq LIMIT %s FOR UPDATE OF w SKIP LOCKED",
        (limit,),
    )


async def put(tx: Connection, workflow: Workflow, triggers: list[Trigger]) -> None:
    """These are the workflow's triggers; one that stays as it was keeps its next time and its last run.

    A schedule that was paused goes on.
    """
    kept = {one.number: one for one in await of_workflow(tx, workflow.id)}
    await tx.execute("DELETE FROM workflow_triggers WHERE workflow_id = %s", (workflow.id,))
    for one in triggers:
        before = kept.get(one.number)
        same = before is not None and (before.type, before.config) == (one.type, one.config)
        await tx.execute(
            "INSERT INTO workflow_triggers (workflow_id, number, type, config, next_at, last_run_id) "
            "VALUES (%s, %s, %s, %s, %s, %s)",
            (
                workflow.id, one.number, one.type, Jsonb(one.config),
                before.next_at if same and before is not None and before.next_at is not None else one.next_at,
                before.last_run_id if same and before is not None else None,
            ),
        )  # fmt: skip
    await tx.execute(
        "INSERT INTO workflow_watched (workflow_id, version) VALUES (%s, %s) "
        "ON CONFLICT (workflow_id) DO UPDATE SET version = EXCLUDED.version",
        (workflow.id, workflow.version if workflow.removed_at is None else -1),
    )


async def of_workflow(tx: Connection, workflow_id: UUID) -> list[Trigger]:
    return await _many(tx, "workflow_id = %s ORDER BY number", (workflow_id,))


async def of_type(tx: Connection, kind: str) -> list[Trigger]:
    """All triggers of a type, in a fixed order."""
    return await _many(tx, "type = %s ORDER BY workflow_id, number", (kind,))


async def phrases_of(tx: Connection, principal_id: UUID) -> list[Trigger]:
    """The phrases that start this principal's workflows."""
    return await _many(
        tx, "type = 'chat' AND workflow_id IN (SELECT id FROM workflows WHERE principal_id = %s) "
        "ORDER BY workflow_id, number", (principal_id,),
    )  # fmt: skip


async def claim(tx: Connection, now: datetime) -> Trigger | None:
    """One schedule whose time has come, in the hands of this transaction and of no other."""
    found = await _many(tx, "next_at <= %s ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED", (now,))
    return found[0] if found else None


async def fired(tx: Connection, trigger: Trigger, next_at: datetime | None, run_id: UUID | None) -> None:
    """The trigger has had its occasion, and its next time is this."""
    await tx.execute(
        "UPDATE workflow_triggers SET next_at = %s, last_run_id = coalesce(%s, last_run_id) "
        "WHERE workflow_id = %s AND number = %s",
        (next_at, run_id, trigger.workflow_id, trigger.number),
    )


PROBLEM = "$problem"
"""Where a trigger's row keeps what was last wrong with its condition; gone when its workflow is changed."""


def problem_of(trigger: Trigger) -> dict[str, Any] | None:
    """What was last wrong with the trigger's condition, `why` and `at`; None if nothing was."""
    return trigger.config.get(PROBLEM)


async def note_problem(tx: Connection, trigger: Trigger, why: str, at: datetime) -> str | None:
    """The trigger's row says that this is wrong with it; returns what it said before.

    A row that somebody stores anew just now is left alone, and not waited for.
    """
    cursor = await tx.execute(
        "WITH old AS (SELECT workflow_id, number, config #>> %s AS why FROM workflow_triggers "
        "WHERE workflow_id = %s AND number = %s FOR UPDATE SKIP LOCKED) "
        "UPDATE workflow_triggers t SET config = t.config || %s FROM old "
        "WHERE t.workflow_id = old.workflow_id AND t.number = old.number RETURNING old.why",
        (
            [PROBLEM, "why"], trigger.workflow_id, trigger.number,
            Jsonb({PROBLEM: {"why": why, "at": at.isoformat()}}),
        ),
    )  # fmt: skip
    row = await cursor.fetchone()
    return None if row is None or row[0] is None else str(row[0])


async def pause(tx: Connection, workflow_id: UUID, number: int) -> bool:
    """The schedule has no next time; False if it had none before."""
    cursor = await tx.execute(
        "UPDATE workflow_triggers SET next_at = NULL WHERE workflow_id = %s AND number = %s AND type = 'cron' "
        "AND next_at IS NOT NULL",
        (workflow_id, number),
    )
    return cursor.rowcount == 1


async def go_on(tx: Connection, workflow_id: UUID) -> None:
    """Paused schedules of the workflow get their next time from whoever looks after triggers."""
    cursor = await tx.execute(
        "DELETE FROM workflow_watched s WHERE s.workflow_id = %s AND s.version > 0 AND EXISTS (SELECT 1 "
        "FROM workflow_triggers t WHERE t.workflow_id = s.workflow_id AND t.type = 'cron' AND t.next_at IS NULL)",
        (workflow_id,),
    )
    if cursor.rowcount:
        await tx.execute("SELECT pg_notify(%s, '')", (DUE,))


async def seconds_to_next(tx: Connection, now: datetime) -> float | None:
    """How long until a schedule is due; None if none ever is."""
    cursor = await tx.execute(
        "SELECT extract(epoch FROM min(next_at) - %s)::float8 FROM workflow_triggers WHERE next_at IS NOT NULL", (now,)
    )
    row = await cursor.fetchone()
    return None if row is None or row[0] is None else max(0.0, float(row[0]))


async def event_place(tx: Connection) -> str | None:
    """Where reading events has come to, locked; None if another worker reads just now."""
    # Whoever asks first begins at what happens from now on.
    await tx.execute(
        "INSERT INTO workflow_event_place (cursor) VALUES (%s) ON CONFLICT DO NOTHING",
        (await events.newest_cursor(tx),),
    )
    cursor = await tx.execute("SELECT cursor FROM workflow_event_place FOR UPDATE SKIP LOCKED")
    row = await cursor.fetchone()
    return None if row is None else str(row[0])


async def move_event_place(tx: Connection, cursor_text: str) -> None:
    await tx.execute("UPDATE workflow_event_place SET cursor = %s", (cursor_text,))


async def make_hook(tx: Connection, workflow_id: UUID, secret: str) -> Hook:
    """The workflow's webhook has this secret and an address of its own; an earlier secret opens nothing any more."""
    made = await Rows(tx, Hook).fetch_one(
        "INSERT INTO workflow_hooks (id, workflow_id, secret) VALUES (%s, %s, %s) "
        "ON CONFLICT (workflow_id) DO UPDATE SET secret = EXCLUDED.secret, created_at = now() "
        f"RETURNING {_HOOK}",
        (new_id(), workflow_id, secret),
    )
    assert made is not None
    return made


async def hook(tx: Connection, hook_id: UUID) -> Hook | None:
    return await Rows(tx, Hook).fetch_one(f"SELECT {_HOOK} FROM workflow_hooks WHERE id = %s", (hook_id,))


async def _many(tx: Connection, which: str, values: tuple[object, ...]) -> list[Trigger]:
    return await Rows(tx, Trigger).fetch_all(f"SELECT {_TRIGGER} FROM workflow_triggers WHERE {which}".encode(), values)
