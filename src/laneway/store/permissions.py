"""Permissions: "always allow exactly this here", given by a person, visible and removable."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.ids import new_id
from laneway.domain.judgement import Approval
from laneway.domain.redaction import redacted
from laneway.errors import BadInput, NotFound
from laneway.store import events
from laneway.store.approvals import action_hash
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns


@dataclass(frozen=True, slots=True)
class Permission:
    """A standing yes to one exact action in one thread."""

    id: UUID
    thread_id: UUID
    action: dict[str, Any]
    given_by: UUID
    used: int
    created_at: datetime


def without_call(action: dict[str, Any]) -> dict[str, Any]:
    """The action itself, whichever call of a model asks for it."""
    return {key: value for key, value in action.items() if key != "call"}


async def give(tx: Connection, approval: Approval, principal_id: UUID) -> Permission:
    """What the approval asks for is allowed in its thread from now on."""
    if "tool" not in approval.action:
        raise BadInput("Only a tool's action can be allowed always.", hint="Say only yes or no.")
    action = without_call(approval.action)
    given = await Rows(tx, Permission).fetch_one(
        "INSERT INTO permissions (id, thread_id, action, action_hash, given_by) VALUES (%s, %s, %s, %s, %s) "
        "ON CONFLICT (thread_id, action_hash) DO UPDATE SET given_by = EXCLUDED.given_by "
        f"RETURNING {columns(Permission)}",
        (new_id(), approval.thread_id, Jsonb(action), action_hash(action), principal_id),
    )
    assert given is not None
    body = {"permission": str(given.id), "action": redacted(action), "by": str(principal_id)}
    await events.append(tx, "permission.given", body, thread_id=given.thread_id, job_id=approval.job_id)
    return given


async def covers(tx: Connection, thread_id: UUID, action: dict[str, Any]) -> bool:
    """Whether exactly this action is allowed in the thread; its use is counted."""
    cursor = await tx.execute(
        "UPDATE permissions SET used = used + 1 WHERE thread_id = %s AND action_hash = %s",
        (thread_id, action_hash(without_call(action))),
    )
    return cursor.rowcount > 0


async def page(tx: Connection, *, limit: int = 50, before: UUID | None = None) -> list[Permission]:
    """Permissions, newest first; `before` is the last one of the page before."""
    return await Rows(tx, Permission).fetch_all(
        f"SELECT {columns(Permission)} FROM permissions WHERE (%s::uuid IS NULL OR id < %s) ORDER BY id DESC LIMIT %s",
        (before, before, limit),
    )


async def remove(tx: Connection, permission_id: UUID, by: UUID | None = None) -> Permission:
    """The action is asked for again from now on; returns what was taken back."""
    removed = await Rows(tx, Permission).fetch_one(
        f"DELETE FROM permissions WHERE id = %s RETURNING {columns(Permission)}", (permission_id,)
    )
    if removed is None:
        raise NotFound(f"There is no permission {permission_id}.", hint="`laneway permissions` lists them.")
    body = {"permission": str(removed.id), "action": redacted(removed.action), "by": str(by) if by else None}
    await events.append(tx, "permission.removed", body, thread_id=removed.thread_id)
    return removed
