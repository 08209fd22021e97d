"""What became of a message that its sender has edited: how it stood last, and whether it was worked on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from laneway.store.database import Connection
from laneway.store.rows import Rows


@dataclass(frozen=True, slots=True)
class Earlier:
    """The message as it stood before."""

    text: str
    sources: list[dict[str, Any]]
    """Where its files come from."""
    done_minutes_ago: float | None
    """How long ago it was written, if all that was to be done for it is over; None if nothing was, or is not yet."""


async def before(tx: Connection, thread_id: UUID, channel: str, key: str) -> Earlier | None:
    """The newest version of the message that its provider calls so; None if nothing is known of it."""
    return await Rows(tx, Earlier).fetch_one(
        """
        WITH versions AS (
            SELECT m.id, m.seq, m.text, m.created_at, j.status FROM messages m
            LEFT JOIN jobs j ON j.message_id = m.id
            WHERE m.thread_id = %s AND m.channel = %s AND m.meta->>'message_key' = %s AND m.meta ? 'message_key')
        SELECT v.text,
            (SELECT coalesce(json_agg(a.meta->'source' ORDER BY a.id) FILTER (WHERE a.meta ? 'source'), '[]')
             FROM attachments a WHERE a.message_id = v.id) AS sources,
            (SELECT CASE WHEN NOT bool_or(status IN ('queued', 'running', 'waiting'))
                    THEN extract(epoch FROM now() - max(created_at))::float8 / 60 END
             FROM versions WHERE status IS NOT NULL) AS done_minutes_ago
        FROM versions v ORDER BY v.seq DESC LIMIT 1
        """,
        (thread_id, channel, key),
    )
