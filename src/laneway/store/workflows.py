"""Workflows: one per owner and tag, every version of each kept, changed only from the version one has seen."""

from __future__ import annotations

from typing import LiteralString
from uuid import UUID

from psycopg.errors import UniqueViolation
from psycopg.types.json import Json

from laneway.domain.ids import new_id
from laneway.domain.workflow import Cause, Document, Operations, Patch, PatchKind, Workflow, WorkflowVersion
from laneway.errors import Conflict, NotFound
from laneway.store import events
from laneway.store.database import DUE, Connection
from laneway.store.rows import Rows, columns, row_of

_COLUMNS = columns(Workflow)
_PATCH = columns(Patch)
_VERSIONS = (
    "SELECT v.workflow_id, v.number, v.document, v.patch_id, p.kind, p.description, v.created_at "
    "FROM workflow_versions v JOIN workflow_patches p ON p.id = v.patch_id"
)
EMPTY: Document = {"nodes": [], "edges": []}
"""What a workflow is before its first version."""


async def stored(tx: Connection, principal_id: UUID, tag: str, *, lock: bool = False) -> Workflow | None:
    """The workflow of this owner with this tag, if there is one."""
    held: LiteralString = "FOR UPDATE" if lock else ""
    return await _one(tx, f"principal_id = %s AND tag = %s AND removed_at IS NULL {held}", (principal_id, tag))


async def get(tx: Connection, principal_id: UUID, tag: str, *, lock: bool = False) -> Workflow:
    """The workflow of this owner with this tag, or NotFound."""
    found = await stored(tx, principal_id, tag, lock=lock)
    if found is None:
        raise NotFound(f"There is no workflow `{tag[:80]}`.", hint="`laneway workflow list` lists them.")
    return found


async def by_id(tx: Connection, workflow_id: UUID, *, lock: bool = False) -> Workflow | None:
    """The workflow, even if it was removed."""
    return await _one(tx, f"id = %s {'FOR UPDATE' if lock else ''}", (workflow_id,))


async def page(
    tx: Connection, principal_id: UUID | None, *, limit: int = 50, before: int | None = None, removed: bool = False
) -> list[Workflow]:
    """Workflows of an owner, or of everybody, newest first; `before` is the `seq` of the last one before."""
    return await Rows(tx, Workflow).fetch_all(
        f"SELECT {_COLUMNS} FROM workflows WHERE (removed_at IS NOT NULL) = %s "
        "AND (%s::uuid IS NULL OR principal_id = %s) "
        "AND (%s::bigint IS NULL OR seq < %s) ORDER BY seq DESC LIMIT %s",
        (removed, principal_id, principal_id, before, before, limit),
    )


async def create(
    tx: Connection, tag: str, document: Document, operations: Operations, cause: Cause, *,
    owner: UUID | None = None, kind: PatchKind = PatchKind.CREATE, description: str = "",
) -> tuple[Workflow, Patch]:  # fmt: skip
    """The workflow is stored at version 1; Conflict if its owner has one with this tag."""
    cursor = await tx.execute(
        "INSERT INTO workflows (id, principal_id, tag, document) VALUES (%s, %s, %s, %s) "
        "ON CONFLICT (principal_id, tag) WHERE removed_at IS NULL DO NOTHING RETURNING id",
        (new_id(), owner or cause.principal_id, tag, Json(EMPTY)),
    )
    row = await cursor.fetchone()
    if row is None:
        raise _taken(tag)
    made = await by_id(tx, row[0])
    assert made is not None
    inverse: Operations = [{"op": "replace", "path": "", "value": EMPTY}]
    return await add_version(tx, made, document, operations, inverse, cause, kind=kind, description=description)


async def add_version(
    tx: Connection, workflow: Workflow, document: Document, operations: Operations, inverse: Operations,
    cause: Cause, *, kind: PatchKind = PatchKind.PATCH, description: str = "", undoes: UUID | None = None,
) -> tuple[Workflow, Patch]:  # fmt: skip
    """The workflow has one more version, made from exactly the one given; Conflict names both if another came first."""
    changed = await Rows(tx, Workflow).fetch_one(
        "UPDATE workflows SET version = version + 1, document = %s, changed_at = now() "
        f"WHERE id = %s AND version = %s AND removed_at IS NULL RETURNING {_COLUMNS}",
        (Json(document), workflow.id, workflow.version),
    )
    if changed is None:
        raise await _overtaken(tx, workflow)
    patch = await Rows(tx, Patch).fetch_one(
        "INSERT INTO workflow_patches (id, workflow_id, kind, base_version, version, operations, inverse, "
        "description, sentence, principal_id, approved_by, message_id, job_id, undoes, valid_until, once) "
        f"VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING {_PATCH}",
        (
            new_id(), workflow.id, kind, workflow.version, changed.version, Json(operations), Json(inverse),
            description, cause.sentence, cause.principal_id, cause.approved_by, cause.message_id, cause.job_id,
            undoes, cause.valid_until, cause.once,
        ),
    )  # fmt: skip
    assert patch is not None
    await tx.execute(
        "INSERT INTO workflow_versions (workflow_id, number, document, patch_id) VALUES (%s, %s, %s, %s)",
        (workflow.id, changed.version, Json(document), patch.id),
    )
    await _told(tx, f"workflow.{kind}", changed, patch)
    return changed, patch


async def version(tx: Connection, workflow_id: UUID, number: int) -> WorkflowVersion:
    """The workflow as it was at this version, or NotFound."""
    found = await Rows(tx, WorkflowVersion).fetch_one(
        f"{_VERSIONS} WHERE v.workflow_id = %s AND v.number = %s", (workflow_id, number)
    )
    if found is None:
        raise NotFound(f"The workflow has no version {number}.", hint="`laneway workflow history` lists them.")
    return found


async def document_at(tx: Connection, workflow_id: UUID, number: int) -> Document:
    """The document of a version; before the first there is none."""
    return EMPTY if number == 0 else (await version(tx, workflow_id, number)).document


async def versions(
    tx: Connection, workflow_id: UUID, *, limit: int = 50, before: int | None = None
) -> list[WorkflowVersion]:
    """The versions of a workflow, newest first; `before` is the last number of the page before."""
    return await Rows(tx, WorkflowVersion).fetch_all(
        f"{_VERSIONS} WHERE v.workflow_id = %s AND (%s::int IS NULL OR v.number < %s) ORDER BY v.number DESC LIMIT %s",
        (workflow_id, before, before, limit),
    )


async def remove(tx: Connection, workflow: Workflow, by: UUID) -> None:
    """The workflow is listed no more and its tag is free; its versions and runs stay for the record."""
    await tx.execute("UPDATE workflows SET removed_at = now() WHERE id = %s", (workflow.id,))
    await _noted(tx, "workflow.removed", workflow, by)


async def last_removed(tx: Connection, principal_id: UUID, tag: str) -> Workflow | None:
    """The workflow with this tag that was removed last, held until the transaction ends."""
    wanted: LiteralString = "principal_id = %s AND tag = %s AND removed_at IS NOT NULL"
    return await _one(tx, f"{wanted} ORDER BY removed_at DESC, seq DESC LIMIT 1 FOR UPDATE", (principal_id, tag))


async def restore(tx: Connection, workflow: Workflow, by: UUID) -> Workflow:
    """The workflow is there again as it was when it was removed; Conflict if its owner has one with this tag."""
    async with tx.cursor(row_factory=row_of(Workflow)) as cursor:
        try:
            await cursor.execute(
                f"UPDATE workflows SET removed_at = NULL WHERE id = %s RETURNING {_COLUMNS}", (workflow.id,)
            )
        except UniqueViolation:
            raise _taken(workflow.tag) from None
        restored = await cursor.fetchone()
    assert restored is not None
    await _noted(tx, "workflow.restored", restored, by)
    return restored


def _taken(tag: str) -> Conflict:
    return Conflict(f"There is a workflow `{tag}` already.", hint="Patch it, or choose another tag.")


async def _noted(tx: Connection, what: str, workflow: Workflow, by: UUID) -> None:
    body = {"workflow": str(workflow.id), "tag": workflow.tag, "version": workflow.version, "by": str(by)}
    await events.append(tx, what, body)
    await wake(tx)


async def wake(tx: Connection) -> None:
    """Whoever waits for something to become due looks anew, once this is committed."""
    await tx.execute("SELECT pg_notify(%s, '')", (DUE,))


async def _overtaken(tx: Connection, workflow: Workflow) -> Conflict:
    now = await by_id(tx, workflow.id)
    if now is None or now.removed_at is not None:
        return Conflict(f"Workflow `{workflow.tag}` was removed.", hint="Import it again, or choose another.")
    return Conflict(
        f"Workflow `{workflow.tag}` is at version {now.version}; this change was made for version {workflow.version}.",
        hint="Look at what changed in between and make the change anew.",
    )


async def _told(tx: Connection, kind: str, workflow: Workflow, patch: Patch) -> None:
    body = {
        "workflow": str(workflow.id), "tag": workflow.tag, "version": workflow.version, "patch": str(patch.id),
        "description": patch.description[:500],
    }  # fmt: skip
    await events.append(tx, kind, body, job_id=patch.job_id)
    await wake(tx)


async def _one(tx: Connection, which: LiteralString, values: tuple[object, ...]) -> Workflow | None:
    return await Rows(tx, Workflow).fetch_one(f"SELECT {_COLUMNS} FROM workflows WHERE {which}", values)
