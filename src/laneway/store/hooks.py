"""Decisions about other agents' calls, read back from the events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from laneway.store.database import EVENTS, Connection


async def record(tx: Connection, told: list[tuple[str, dict[str, Any]]]) -> None:
    """These events, each a kind and a body, are stored with this transaction, and listeners are woken once."""
    if not told:
        return
    async with tx.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO events (kind, body) VALUES (%s, %s)", [(kind, Jsonb(body)) for kind, body in told]
        )
    await tx.execute("SELECT pg_notify(%s, '')", (EVENTS,))


async def denied(
    tx: Connection, *, session_id: str | None = None, minutes: int = 60, limit: int = 1000
) -> list[tuple[dict[str, Any], datetime]]:
    """The calls denied lately that nobody saw running, oldest first, each as its decision tells it."""
    cursor = await tx.execute(
        "SELECT body, created_at FROM events d WHERE kind = 'hook.decision' AND body ->> 'said' = 'deny' "
        "AND created_at > now() - make_interval(mins => %s) AND (%s::text IS NULL OR body ->> 'session_id' = %s) "
        "AND NOT EXISTS (SELECT FROM events r WHERE r.kind = 'hook.ran_anyway' AND r.id > d.id "
        "AND r.body ->> 'session_id' = d.body ->> 'session_id' AND r.body ->> 'call_id' = d.body ->> 'call_id') "
        "ORDER BY id LIMIT %s",
        (minutes, session_id, session_id, limit),
    )
    return [(row[0], row[1]) for row in await cursor.fetchall()]
