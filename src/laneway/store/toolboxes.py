"""The toolbox of a thread: how often each tool was found there, and which have stayed.

A thread belongs to one trust world, so what is kept for it is kept for that world alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from laneway.errors import NotFound
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns

OFTEN = 3
"""Found so many times, a tool stays."""


@dataclass(frozen=True, slots=True)
class Found:
    """A tool that was found in a thread."""

    thread_id: UUID
    tool: str
    found: int
    kept: bool
    found_at: datetime


async def note_found(tx: Connection, thread_id: UUID, job_id: UUID, tools: Sequence[str]) -> list[Found]:
    """Each tool has been found once more, by this job; one found often enough stays."""
    return await Rows(tx, Found).fetch_all(
        "INSERT INTO toolbox (thread_id, tool, found, kept, job_id) "
        "SELECT %(thread)s, tool, 1, 1 >= %(often)s, %(job)s FROM unnest(%(tools)s::text[]) tool "
        "ON CONFLICT (thread_id, tool) DO UPDATE SET found = toolbox.found + 1, "
        "kept = toolbox.kept OR toolbox.found + 1 >= %(often)s, job_id = EXCLUDED.job_id, found_at = now() "
        f"RETURNING {columns(Found)}",
        {"thread": thread_id, "job": job_id, "tools": sorted(set(tools)), "often": OFTEN},
    )


async def at_hand(tx: Connection, thread_id: UUID, job_id: UUID) -> set[str]:
    """The tools that have stayed in the thread, and those this very job has found."""
    cursor = await tx.execute(
        "SELECT tool FROM toolbox WHERE thread_id = %s AND (kept OR job_id = %s)", (thread_id, job_id)
    )
    return {str(row[0]) for row in await cursor.fetchall()}


async def of_thread(tx: Connection, thread_id: UUID) -> list[Found]:
    """Everything found in the thread, what has stayed first."""
    return await Rows(tx, Found).fetch_all(
        f"SELECT {columns(Found)} FROM toolbox WHERE thread_id = %s ORDER BY kept DESC, found DESC, tool",
        (thread_id,),
    )


async def drop(tx: Connection, thread_id: UUID, tool: str) -> Found:
    """The tool no longer stays in the thread, and its count begins anew; what it was before is returned."""
    gone = await Rows(tx, Found).fetch_one(
        f"DELETE FROM toolbox WHERE thread_id = %s AND tool = %s RETURNING {columns(Found)}", (thread_id, tool)
    )
    if gone is None:
        raise NotFound(
            f"The tool `{tool[:80]}` was never found in thread {thread_id}.", hint="`laneway tools kept` lists them."
        )
    return gone
