"""Effects once: an outside effect's intent is stored before it, its outcome after it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from laneway.domain.judgement import Effect
from laneway.store import events
from laneway.store.database import Connection
from laneway.store.json_columns import in_order
from laneway.store.rows import Rows, columns


async def intend(tx: Connection, job_id: UUID, key: str, tool: str, about: str = "") -> Effect | None:
    """The intent is stored and None returned, or the earlier effect under this key is returned."""
    cursor = await tx.execute(
        "INSERT INTO effects (job_id, key, tool, state, about) VALUES (%s, %s, %s, 'intent', %s) "
        "ON CONFLICT DO NOTHING",
        (job_id, key, tool, about),
    )
    return None if cursor.rowcount else await get(tx, job_id, key)


async def get(tx: Connection, job_id: UUID, key: str) -> Effect | None:
    return await Rows(tx, Effect).fetch_one(
        f"SELECT {columns(Effect)} FROM effects WHERE job_id = %s AND key = %s", (job_id, key)
    )


async def done(tx: Connection, job_id: UUID, key: str, outcome: Any) -> bool:
    """The effect's outcome is stored; False if it was already."""
    cursor = await tx.execute(
        "UPDATE effects SET state = 'done', outcome = %s, finished_at = now() "
        "WHERE job_id = %s AND key = %s AND state <> 'done'",
        (in_order(outcome), job_id, key),
    )
    return cursor.rowcount == 1


async def uncertain(tx: Connection, thread_id: UUID, job_id: UUID, key: str, tool: str) -> None:
    """The effect is on record as one nobody can be sure of, and an event says so."""
    await tx.execute(
        "UPDATE effects SET state = 'uncertain' WHERE job_id = %s AND key = %s AND state = 'intent'", (job_id, key)
    )
    await events.append(tx, "effect.uncertain", {"tool": tool, "key": key}, thread_id=thread_id, job_id=job_id)


async def of_job(tx: Connection, job_id: UUID) -> list[Effect]:
    """Everything the job did or began, in order."""
    return await Rows(tx, Effect).fetch_all(
        f"SELECT {columns(Effect)} FROM effects WHERE job_id = %s ORDER BY created_at, key", (job_id,)
    )
