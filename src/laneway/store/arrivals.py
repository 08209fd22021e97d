"""What came in without being a message: presses of buttons and pairings, each once."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from laneway.store.database import Connection


async def note(tx: Connection, channel: str, external_id: str, kind: str, body: dict[str, Any]) -> bool:
    """The arrival is on record; False if it was here before."""
    cursor = await tx.execute(
        "INSERT INTO arrivals (channel, external_id, kind, body) VALUES (%s, %s, %s, %s) "
        "ON CONFLICT (channel, external_id) DO NOTHING",
        (channel, external_id, kind, Jsonb(body)),
    )
    return cursor.rowcount == 1


async def body_of(tx: Connection, channel: str, external_id: str) -> dict[str, Any] | None:
    """What is on record of the arrival, if it was here before."""
    cursor = await tx.execute(
        "SELECT body FROM arrivals WHERE channel = %s AND external_id = %s", (channel, external_id)
    )
    row = await cursor.fetchone()
    return None if row is None else dict(row[0])


async def prune(tx: Connection) -> int:
    """Arrivals that no provider repeats any more are forgotten."""
    cursor = await tx.execute("DELETE FROM arrivals WHERE created_at < now() - interval '30 days'")
    return cursor.rowcount
