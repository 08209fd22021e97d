"""Undo: what files were before a job changed them, in the order it changed them, and who took that back."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.conversation import Principal
from laneway.domain.files import Change, FileChange, Image
from laneway.domain.ids import new_id
from laneway.domain.job import Job
from laneway.store import events
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns

MOST_IN_EVENT = 50
AT_ONCE = 5000


@dataclass(frozen=True, slots=True)
class OpenSnapshot:
    """A look at a workspace before a step that may change anything in it; the look after it is still to come."""

    id: UUID
    began: int
    job_id: UUID
    thread_id: UUID
    tool: str


def shown(path: str) -> str:
    """A path as text; bytes that are no text are written out."""
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")


async def record(
    tx: Connection, job_id: UUID, thread_id: UUID, tool: str, changes: Sequence[Change], began: int | None = None
) -> None:
    """The changes are on record, in this order."""
    if began is None:
        began = await _next(tx)
    async with tx.cursor() as cursor:
        target = "COPY file_changes (began, job_id, thread_id, tool, path, name, before, after) FROM STDIN"
        async with cursor.copy(target) as copy:
            copy.set_types(["int8", "uuid", "uuid", "text", "text", "bytea", "jsonb", "jsonb"])
            for one in changes:
                images = Jsonb(one.before.as_dict()), Jsonb(one.after.as_dict())
                await copy.write_row(
                    (began, job_id, thread_id, tool, shown(one.path), os.fsencode(one.path), *images)
                )  # fmt: skip


async def is_own(tx: Connection, thread_id: UUID, content: str) -> bool:
    """Whether this is what we wrote in the thread ourselves, in turns in which nobody but the person had a say."""
    cursor = await tx.execute(
        """
        WITH RECURSIVE clean AS (
            SELECT f.tool, f.before->>'content' AS before, f.after->>'content' AS after
            FROM file_changes f JOIN jobs j ON j.id = f.job_id
            WHERE f.thread_id = %s AND j.lane = 'tools' AND j.status = 'done' AND j.result->'sources' IS NULL
        ), own AS (
            SELECT after FROM clean WHERE tool = 'write_file'
            UNION SELECT c.after FROM clean c JOIN own o ON c.tool = 'edit_file' AND c.before = o.after
        )
        SELECT EXISTS (SELECT FROM own WHERE after = %s)
        """,
        (thread_id, content),
    )
    return await cursor.fetchone() == (True,)


async def _next(tx: Connection) -> int:
    cursor = await tx.execute("SELECT nextval('file_changes_began')")
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def of_job(tx: Connection, job_id: UUID) -> list[FileChange]:
    """All changes of a job, oldest first, those that were undone included."""
    cursor = await tx.execute(
        "SELECT id, began, job_id, thread_id, tool, name, before, after, undone_at FROM file_changes "
        "WHERE job_id = %s ORDER BY id",
        (job_id,),
    )
    return [_change(row) for row in await cursor.fetchall()]


async def last_changing(tx: Connection, thread_id: UUID, named: str = "") -> UUID | None:
    """The last job of the thread with changes of files that were not taken back; the one named, if one is."""
    cursor = await tx.execute(
        "SELECT j.id FROM jobs j WHERE j.thread_id = %s AND (%s = '' OR j.id::text = lower(%s)) "
        "AND EXISTS (SELECT 1 FROM file_changes c WHERE c.job_id = j.id AND c.undone_at IS NULL) "
        "ORDER BY j.seq DESC LIMIT 1",
        (thread_id, named, named),
    )
    row = await cursor.fetchone()
    return None if row is None else UUID(str(row[0]))


def _change(row: tuple[Any, ...]) -> FileChange:
    id_, began, job_id, thread_id, tool, name, before, after, undone_at = row
    change = Change(os.fsdecode(bytes(name)), Image.of(before), Image.of(after))
    return FileChange(id_, began, job_id, thread_id, tool, change, undone_at)


async def later_jobs(tx: Connection, thread_id: UUID, after: int, paths: Sequence[str]) -> dict[str, UUID]:
    """Which other job changed a path last after the change `after` and did not take it back, by path."""
    cursor = await tx.execute(
        "SELECT DISTINCT ON (name) name, job_id FROM file_changes "
        "WHERE thread_id = %s AND id > %s AND name = ANY(%s) AND undone_at IS NULL ORDER BY name, id DESC",
        (thread_id, after, [os.fsencode(path) for path in paths]),
    )
    return {os.fsdecode(bytes(name)): job_id for name, job_id in await cursor.fetchall()}


async def open_snapshot(tx: Connection, id: UUID, job_id: UUID, thread_id: UUID, tool: str) -> OpenSnapshot:
    """The snapshot is on record as open."""
    made = await Rows(tx, OpenSnapshot).fetch_one(
        "INSERT INTO workspace_snapshots (id, job_id, thread_id, tool) VALUES (%s, %s, %s, %s) "
        f"RETURNING {columns(OpenSnapshot)}",
        (id, job_id, thread_id, tool),
    )
    assert made is not None
    return made


async def open_snapshots(tx: Connection, thread_id: UUID) -> list[OpenSnapshot]:
    """The thread's snapshots that have no look after them, oldest first."""
    return await Rows(tx, OpenSnapshot).fetch_all(
        f"SELECT {columns(OpenSnapshot)} FROM workspace_snapshots "
        "WHERE thread_id = %s AND closed_at IS NULL ORDER BY began",
        (thread_id,),
    )


async def all_open(tx: Connection) -> set[UUID]:
    """The ids of all snapshots that have no look after them."""
    cursor = await tx.execute("SELECT id FROM workspace_snapshots WHERE closed_at IS NULL")
    return {row[0] for row in await cursor.fetchall()}


async def close_snapshot(tx: Connection, snapshot: OpenSnapshot, changes: Sequence[Change], note: str | None) -> bool:
    """What changed since the snapshot is on record as its job's; False if somebody closed it before."""
    cursor = await tx.execute(
        "UPDATE workspace_snapshots SET closed_at = now(), note = %s WHERE id = %s AND closed_at IS NULL",
        (note, snapshot.id),
    )
    if not cursor.rowcount:
        return False
    if changes:
        await record(tx, snapshot.job_id, snapshot.thread_id, snapshot.tool, changes, snapshot.began)
    return True


async def finish(
    tx: Connection, job: Job, by: Principal, undone: Sequence[int], restored: Mapping[str, str],
    refused: Mapping[str, str],
) -> None:  # fmt: skip
    """The undoing is on record: whose it was, which changes it took back, and what it could not."""
    await tx.execute("UPDATE file_changes SET undone_at = now() WHERE id = ANY(%s)", (list(undone),))
    done = {shown(path): what for path, what in restored.items()}
    left = {shown(path): why for path, why in refused.items()}
    await tx.execute(
        "INSERT INTO undos (id, job_id, principal_id, restored, refused) VALUES (%s, %s, %s, %s, %s)",
        (new_id(), job.id, by.id, Jsonb(done), Jsonb(left)),
    )
    body = {"by": str(by.id), "restored": len(done), "refused": len(left), "paths": list(done)[:MOST_IN_EVENT],
            "refused_paths": list(left)[:MOST_IN_EVENT]}  # fmt: skip
    await events.append(tx, "job.undone", body, thread_id=job.thread_id, job_id=job.id)


async def last_undone(tx: Connection, job_id: UUID) -> datetime | None:
    """When the job was last undone."""
    cursor = await tx.execute("SELECT max(created_at) FROM undos WHERE job_id = %s", (job_id,))
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def needed_copies(tx: Connection) -> set[str]:
    """The names of all copies some change could still need."""
    cursor = await tx.execute(
        "SELECT DISTINCT before->>'content' FROM file_changes WHERE undone_at IS NULL AND before->>'content' <> ''"
    )
    return {str(row[0]) for row in await cursor.fetchall()}


async def prune(tx: Connection, days: int) -> int:
    """Changes and snapshots older than `days` are forgotten, at most some thousand at once; returns how many."""
    gone = 0
    for table in ("file_changes", "workspace_snapshots"):
        cursor = await tx.execute(
            f"DELETE FROM {table} WHERE id IN (SELECT id FROM {table} "
            "WHERE created_at < now() - make_interval(days => %s) ORDER BY created_at LIMIT %s)",
            (days, AT_ONCE),
        )
        gone += cursor.rowcount
    return gone
