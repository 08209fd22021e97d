"""Patches of workflows: found, marked as taken back, due to end by themselves, and on their way outside."""

from __future__ import annotations

from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Json

from laneway.domain.workflow import Forward, ForwardState, Patch
from laneway.errors import NotFound
from laneway.store import workflows
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns

_COLUMNS = columns(Patch)
_FORWARD = columns(Forward)
_CHANGES = "kind IN ('patch', 'rollback', 'create')"


async def get(tx: Connection, workflow_id: UUID, patch_id: UUID) -> Patch:
    """The patch of this workflow, or NotFound."""
    found = await _one(tx, "workflow_id = %s AND id = %s", (workflow_id, patch_id))
    if found is None:
        raise NotFound(f"The workflow has no patch {patch_id}.", hint="`laneway workflow history` lists them.")
    return found


async def of_id(tx: Connection, patch_id: UUID) -> Patch:
    """The patch of whichever workflow, or NotFound."""
    found = await _one(tx, "id = %s", (patch_id,))
    if found is None:
        raise NotFound(f"There is no patch {patch_id}.", hint="`laneway workflow history` lists them.")
    return found


async def under(tx: Connection, once: str) -> Patch | None:
    """The patch that was stored under this name, if it was."""
    return await _one(tx, "once = %s", (once,))


async def made_version(tx: Connection, workflow_id: UUID, version: int) -> Patch | None:
    """The patch that made this version."""
    return await _one(tx, "workflow_id = %s AND version = %s", (workflow_id, version))


async def newest_in_force(tx: Connection, workflow_id: UUID) -> Patch | None:
    """The last change that nobody has taken back; making the workflow is the first."""
    return await _one(
        tx, f"workflow_id = %s AND {_CHANGES} AND undone_by IS NULL ORDER BY version DESC LIMIT 1",
        (workflow_id,),
    )  # fmt: skip


async def last_of_thread(tx: Connection, owner: UUID, thread_id: UUID) -> Patch | None:
    """The last change of this owner's workflows that a message of the thread caused and nobody has taken back."""
    return await _one(
        tx,
        "id = (SELECT p.id FROM workflow_patches p JOIN messages m ON m.id = p.message_id "
        "JOIN workflows w ON w.id = p.workflow_id WHERE m.thread_id = %s AND w.principal_id = %s "
        "AND w.removed_at IS NULL AND p.kind IN ('patch', 'rollback', 'create') AND p.undone_by IS NULL "
        "ORDER BY p.seq DESC LIMIT 1)",
        (thread_id, owner),
    )


async def last_undo(tx: Connection, workflow_id: UUID) -> Patch | None:
    """The last undoing that still holds."""
    return await _one(
        tx, "workflow_id = %s AND kind IN ('undo', 'expiry') AND undone_by IS NULL ORDER BY version DESC LIMIT 1",
        (workflow_id,),
    )  # fmt: skip


async def page(tx: Connection, workflow_id: UUID, *, limit: int = 50, before: int | None = None) -> list[Patch]:
    """The patches of a workflow, newest first; `before` is the `seq` of the last one before."""
    return await Rows(tx, Patch).fetch_all(
        f"SELECT {_COLUMNS} FROM workflow_patches WHERE workflow_id = %s AND (%s::bigint IS NULL OR seq < %s) "
        "ORDER BY seq DESC LIMIT %s",
        (workflow_id, before, before, limit),
    )


async def since(tx: Connection, workflow_id: UUID, version: int) -> list[Patch]:
    """The patches that came after a version, oldest first."""
    return await Rows(tx, Patch).fetch_all(
        f"SELECT {_COLUMNS} FROM workflow_patches WHERE workflow_id = %s AND version > %s ORDER BY version",
        (workflow_id, version),
    )


async def mark_undone(tx: Connection, patch_id: UUID, by: UUID | None) -> None:
    """The patch is taken back by this one, or in force again."""
    await tx.execute("UPDATE workflow_patches SET undone_by = %s WHERE id = %s", (by, patch_id))


async def due(tx: Connection, now: datetime) -> Patch | None:
    """One patch whose time is up; whoever ends it holds its workflow first, and looks again."""
    return await _one(
        tx, "valid_until <= %s AND expiry IS NULL AND undone_by IS NULL "
        "ORDER BY valid_until LIMIT 1", (now,),
    )  # fmt: skip


async def expired(tx: Connection, patch_id: UUID, how: str) -> None:
    """The patch's time is up and dealt with: `done`, or `conflict` if it had to stay."""
    await tx.execute("UPDATE workflow_patches SET expiry = %s WHERE id = %s", (how, patch_id))


async def forward(
    tx: Connection, patch_id: UUID, method: str, path: str, user_id: str, body: dict[str, Any], now: datetime
) -> None:
    """The patch will be sent to the orchestrator, once."""
    await tx.execute(
        "INSERT INTO workflow_forwards (patch_id, method, path, user_id, body, not_before) "
        "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (patch_id) DO NOTHING",
        (patch_id, method, path, user_id, Json(body), now),
    )
    await workflows.wake(tx)


async def claim_forward(tx: Connection, now: datetime) -> Forward | None:
    """The first patch that is to be sent now, marked as being sent; none overtakes an earlier one of its workflow."""
    return await Rows(tx, Forward).fetch_one(
        f"""
        UPDATE workflow_forwards SET state = 'sending', attempts = attempts + 1 WHERE id = (
            SELECT f.id FROM workflow_forwards f JOIN workflow_patches p ON p.id = f.patch_id
            WHERE f.state = 'pending' AND f.not_before <= %s AND NOT EXISTS (
                SELECT 1 FROM workflow_forwards e JOIN workflow_patches q ON q.id = e.patch_id
                WHERE q.workflow_id = p.workflow_id AND e.id < f.id AND e.state IN ('pending', 'sending'))
            ORDER BY f.id LIMIT 1 FOR UPDATE OF f SKIP LOCKED)
        RETURNING {_FORWARD}
        """,
        (now,),
    )


async def cut_off(tx: Connection) -> list[Forward]:
    """Forwards whose sender died in the middle, now uncertain: whoever begins to send asks first."""
    return await Rows(tx, Forward).fetch_all(
        "UPDATE workflow_forwards SET state = 'uncertain', error = 'Cut off while it was sent.' "
        f"WHERE state = 'sending' RETURNING {_FORWARD}"
    )


async def settle_forward(
    tx: Connection, forward_id: int, state: ForwardState, error: str | None = None, not_before: datetime | None = None
) -> None:
    """It is known how the sending went."""
    await tx.execute(
        "UPDATE workflow_forwards SET state = %s, error = %s, not_before = coalesce(%s, not_before) WHERE id = %s",
        (state, error, not_before, forward_id),
    )


async def forward_of(tx: Connection, patch_id: UUID) -> Forward | None:
    """How the forwarding of a patch stands, if it is forwarded."""
    return await Rows(tx, Forward).fetch_one(
        f"SELECT {_FORWARD} FROM workflow_forwards WHERE patch_id = %s", (patch_id,)
    )


async def seconds_to_next(tx: Connection, now: datetime) -> float | None:
    """How long until a patch ends or is to be sent; None if none ever is."""
    cursor = await tx.execute(
        "SELECT extract(epoch FROM least((SELECT min(valid_until) FROM workflow_patches WHERE valid_until IS NOT NULL "
        "AND expiry IS NULL AND undone_by IS NULL), "
        "(SELECT min(not_before) FROM workflow_forwards WHERE state = 'pending')) - %s)::float8",
        (now,),
    )
    row = await cursor.fetchone()
    return None if row is None or row[0] is None else max(0.0, float(row[0]))


async def _one(tx: Connection, which: LiteralString, values: tuple[object, ...]) -> Patch | None:
    return await Rows(tx, Patch).fetch_one(f"SELECT {_COLUMNS} FROM workflow_patches WHERE {which}", values)
