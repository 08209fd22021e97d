"""Events: append-only, read in an order that never changes and never skips."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.judgement import Event
from laneway.errors import BadInput
from laneway.store.database import Connection
from laneway.store.rows import Rows

START = "0-0"
_SELECT = "SELECT id, xact::text || '-' || id AS cursor, thread_id, job_id, kind, body, created_at FROM events"


async def append(
    tx: Connection, kind: str, body: dict[str, Any], *, thread_id: UUID | None = None, job_id: UUID | None = None
) -> None:
    """The event is stored with this transaction, and listeners are woken when it commits."""
    await tx.execute(
        "WITH e AS (INSERT INTO events (kind, body, thread_id, job_id) VALUES (%s, %s, %s, %s)) "
        "SELECT pg_notify('laneway_events', '')",
        (kind, Jsonb(body), thread_id, job_id),
    )


async def after(
    tx: Connection, cursor_text: str, *, limit: int = 500, job_id: UUID | None = None, thread_id: UUID | None = None
) -> list[Event]:
    """The events that follow a cursor, in order.

    Ids are handed out before commit, so a larger one can become visible first. Only events of transactions
    older than every open one are shown; nothing can appear later before something already shown.
    """
    xact, last = parse_cursor(cursor_text)
    return await Rows(tx, Event).fetch_all(
        f"{_SELECT} WHERE (xact, id) > (%s::text::xid8, %s) AND xact < pg_snapshot_xmin(pg_current_snapshot()) "
        "AND (%s::uuid IS NULL OR job_id = %s) AND (%s::uuid IS NULL OR thread_id = %s) "
        "ORDER BY xact, id LIMIT %s",
        (str(xact), last, job_id, job_id, thread_id, thread_id, limit),
    )


async def of_job(tx: Connection, job_id: UUID, limit: int = 1000) -> list[Event]:
    """All that happened in one job, oldest first."""
    return await Rows(tx, Event).fetch_all(f"{_SELECT} WHERE job_id = %s ORDER BY id LIMIT %s", (job_id, limit))


async def newest_cursor(tx: Connection) -> str:
    """The cursor after everything that has happened so far."""
    cursor = await tx.execute(
        "SELECT xact::text || '-' || id FROM events WHERE xact < pg_snapshot_xmin(pg_current_snapshot()) "
        "ORDER BY xact DESC, id DESC LIMIT 1"
    )
    row = await cursor.fetchone()
    return START if row is None else str(row[0])


async def prune(tx: Connection, days: int) -> int:
    """Events older than `days` are gone, at most some thousand at once; returns how many."""
    cursor = await tx.execute(
        "DELETE FROM events WHERE id IN (SELECT id FROM events WHERE created_at < now() - make_interval(days => %s) "
        "ORDER BY id LIMIT 5000)",
        (days,),
    )
    return cursor.rowcount


def parse_cursor(text: str) -> tuple[int, int]:
    """The two numbers of a cursor, or BadInput."""
    xact, dash, last = text.partition("-")
    if not (dash and xact.isdecimal() and last.isdecimal() and len(text) < 40):
        raise BadInput(f"`{text[:40]}` is not an event cursor.", hint="Use the id of an event you received, as it was.")
    return int(xact), int(last)
