"""What channels note of themselves among the events, read back by those who come after them."""

from __future__ import annotations

from collections.abc import Sequence

from laneway.domain.judgement import Event
from laneway.store.database import Connection
from laneway.store.rows import Rows


async def recent(tx: Connection, kinds: Sequence[str], *, hours: int) -> list[Event]:
    """The events of these kinds in the last hours, oldest first."""
    return await Rows(tx, Event).fetch_all(
        "SELECT id, xact::text || '-' || id AS cursor, thread_id, job_id, kind, body, created_at FROM events "
        "WHERE kind = ANY(%s) AND created_at > now() - make_interval(hours => %s) ORDER BY id LIMIT 10000",
        (list(kinds), hours),
    )


async def addresses(tx: Connection, channel: str) -> int:
    """How many addresses on this channel belong to somebody we know."""
    cursor = await tx.execute("SELECT count(*) FROM addresses WHERE starts_with(address, %s)", (f"{channel}:",))
    row = await cursor.fetchone()
    return 0 if row is None else int(row[0])
