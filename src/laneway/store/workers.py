"""Workers: each beats its heart; one that stopped is declared gone, once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from laneway.store.database import Connection
from laneway.store.rows import Rows, columns

BEAT_SECONDS = 3.0
SILENCE_SECONDS = 12.0
"""A worker silent for this long is gone; with the beat it bounds how late a death is noticed (15 s)."""


@dataclass(frozen=True, slots=True)
class Worker:
    id: str
    host: str
    pid: int
    born: float
    version: str
    slots: int
    started_at: datetime
    beat_at: datetime
    gone_at: datetime | None


async def register(tx: Connection, worker_id: str, host: str, pid: int, born: float, version: str, slots: int) -> None:
    """The worker is known and alive."""
    await tx.execute(
        "INSERT INTO workers (id, host, pid, born, version, slots) VALUES (%s, %s, %s, %s, %s, %s)",
        (worker_id, host, pid, born, version, slots),
    )


async def beat(tx: Connection, worker_id: str) -> bool:
    """The worker's sign of life is stored; False if it was declared gone in the meantime."""
    cursor = await tx.execute("UPDATE workers SET beat_at = now() WHERE id = %s AND gone_at IS NULL", (worker_id,))
    return cursor.rowcount == 1


async def rejoin(tx: Connection, worker_id: str) -> None:
    """A worker that was declared gone, and has let go of everything, is alive again."""
    await tx.execute("UPDATE workers SET gone_at = NULL, beat_at = now() WHERE id = %s", (worker_id,))


async def leave(tx: Connection, worker_id: str) -> None:
    """The worker has said goodbye; what it was running may be taken at once."""
    await tx.execute("UPDATE workers SET gone_at = coalesce(gone_at, now()) WHERE id = %s", (worker_id,))


async def alive(tx: Connection) -> list[Worker]:
    """Workers that have not been declared gone, newest first."""
    return await Rows(tx, Worker).fetch_all(
        f"SELECT {columns(Worker)} FROM workers WHERE gone_at IS NULL ORDER BY started_at DESC"
    )


async def declare_silent_ones_gone(tx: Connection) -> list[str]:
    """Workers silent for too long are gone; returns those this call declared."""
    cursor = await tx.execute(
        "UPDATE workers SET gone_at = now() WHERE gone_at IS NULL AND beat_at < now() - make_interval(secs => %s) "
        "RETURNING id",
        (SILENCE_SECONDS,),
    )
    return [row[0] for row in await cursor.fetchall()]


async def gone_with_work(tx: Connection) -> list[str]:
    """Workers that are gone and still have running jobs or replies in their hands."""
    cursor = await tx.execute(
        "SELECT w.id FROM workers w WHERE w.gone_at IS NOT NULL AND ("
        "EXISTS (SELECT 1 FROM jobs j WHERE j.worker = w.id AND j.status = 'running') OR "
        "EXISTS (SELECT 1 FROM outbox o WHERE o.worker = w.id AND o.state = 'sending'))"
    )
    return [row[0] for row in await cursor.fetchall()]
