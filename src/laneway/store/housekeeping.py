"""Forgets what nobody needs any more: old events, plans and before-images, and the steps of what ended long ago."""

from __future__ import annotations

from laneway.store import arrivals, events, judgements, pairings, plans, sessions, strangers, undo, workflow_nodes
from laneway.store.database import Connection

_LOCK = 0x1A4F
AT_ONCE = 2000


async def tidy(tx: Connection, days: int) -> int:
    """What is older than `days` is gone, as far as one round goes; returns how much, 0 if another worker tidies."""
    cursor = await tx.execute("SELECT pg_try_advisory_xact_lock(%s)", (_LOCK,))
    row = await cursor.fetchone()
    if row is None or not row[0]:
        return 0
    files = await undo.prune(tx, days) + await sessions.prune(tx, days)
    people = await strangers.prune(tx) + await pairings.prune(tx) + await arrivals.prune(tx)
    files += await plans.prune(tx, days) + await workflow_nodes.prune(tx, days)
    return files + people + await events.prune(tx, days) + await judgements.prune(tx) + await _forget_steps(tx, days)


async def _forget_steps(tx: Connection, days: int) -> int:
    cursor = await tx.execute(
        """
        SELECT s.workflow_uuid FROM dbos.workflow_status s
        WHERE s.name = 'laneway.job' AND s.created_at < extract(epoch FROM now() - make_interval(days => %s)) * 1000
          AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = split_part(s.workflow_uuid, '.', 1)::uuid
                          AND (j.finished_at IS NULL OR j.finished_at > now() - make_interval(days => %s)))
        LIMIT %s
        """,
        (days, days, AT_ONCE),
    )
    old = [row[0] for row in await cursor.fetchall()]
    for table in ("operation_outputs", "workflow_input", "workflow_output", "workflow_status"):
        await tx.execute(f"DELETE FROM dbos.{table} WHERE workflow_uuid = ANY(%s)", (old,))
    return len(old)
