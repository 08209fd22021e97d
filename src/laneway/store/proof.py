"""What the crash test reads: how much work is open, and how each message's story ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from laneway.store.database import Connection


@dataclass(frozen=True, slots=True)
class Ending:
    """One message, its job's status, and a reply to it, if there is one."""

    text: str
    status: str
    reply_id: str | None
    reply: str | None


async def open_work(tx: Connection) -> int:
    """How many jobs have not ended and how many replies have not been sent, together."""
    cursor = await tx.execute(
        "SELECT (SELECT count(*) FROM jobs WHERE status NOT IN ('done', 'failed', 'cancelled')) + "
        "(SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending', 'uncertain'))"
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def endings(tx: Connection) -> list[Ending]:
    """How every message's story ended."""
    cursor = await tx.execute(
        "SELECT q.text, j.status, r.id::text, r.text FROM jobs j JOIN messages q ON q.id = j.message_id "
        "LEFT JOIN messages r ON r.meta->>'answers' = q.id::text"
    )
    return [Ending(*row) for row in await cursor.fetchall()]


async def tool_arguments(tx: Connection) -> list[dict[str, Any]]:
    """The arguments every tool was called with."""
    cursor = await tx.execute("SELECT body->'arguments' FROM events WHERE kind = 'tool.started'")
    return [row[0] for row in await cursor.fetchall()]


async def effects(tx: Connection) -> list[tuple[str, str, bool]]:
    """Every effect as (the item it was for, its state, whether an event says that it is uncertain)."""
    cursor = await tx.execute(
        "SELECT s.body->'arguments'->>'item', e.state, EXISTS (SELECT 1 FROM events u WHERE u.job_id = e.job_id "
        "AND u.kind = 'effect.uncertain' AND u.body->>'key' = e.key) FROM effects e "
        "JOIN events s ON s.job_id = e.job_id AND s.kind = 'tool.started' AND s.body->>'key' = e.key"
    )
    return [(row[0], row[1], row[2]) for row in await cursor.fetchall()]
