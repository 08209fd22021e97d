"""What is kept about bridges to WhatsApp: which hidden id is which number, and how far each session was heard."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from laneway.domain.job import JobStatus
from laneway.store import jobs
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns

CHANNEL = "waha"


@dataclass(frozen=True, slots=True)
class SessionState:
    """How a session of the bridge was when it was last looked at."""

    session: str
    status: str
    says: str
    down_since: datetime | None
    told_at: datetime | None
    """When the owner was told that it does not work; None if there is nothing to take back."""
    heard_until: datetime
    """Everything that was said before is stored."""
    looked_at: datetime


async def learn(tx: Connection, lid: str, phone: str) -> None:
    """The hidden id is known to be this number; a person who changed numbers keeps the id."""
    await tx.execute(
        "INSERT INTO waha_lids (lid, phone) VALUES (%s, %s) "
        "ON CONFLICT (lid) DO UPDATE SET phone = EXCLUDED.phone, learned_at = now() "
        "WHERE waha_lids.phone <> EXCLUDED.phone",
        (lid, phone),
    )


async def phone_of(tx: Connection, lid: str) -> str | None:
    cursor = await tx.execute("SELECT phone FROM waha_lids WHERE lid = %s", (lid,))
    row = await cursor.fetchone()
    return None if row is None else str(row[0])


async def lid_of(tx: Connection, phone: str) -> str | None:
    cursor = await tx.execute("SELECT lid FROM waha_lids WHERE phone = %s ORDER BY learned_at DESC LIMIT 1", (phone,))
    row = await cursor.fetchone()
    return None if row is None else str(row[0])


async def lids(tx: Connection) -> int:
    """How many hidden ids are known."""
    cursor = await tx.execute("SELECT count(*) FROM waha_lids")
    row = await cursor.fetchone()
    return int(row[0]) if row else 0


async def event_known(tx: Connection, event_id: str) -> bool:
    """Whether this event of the bridge was worked on already."""
    cursor = await tx.execute("SELECT 1 FROM arrivals WHERE channel = %s AND external_id = %s", (CHANNEL, event_id))
    return await cursor.fetchone() is not None


async def known(tx: Connection, external_ids: Collection[str]) -> set[str]:
    """Those of the messages that are stored, and those of strangers that were turned away."""
    cursor = await tx.execute(
        "SELECT external_id FROM messages WHERE channel = %(channel)s AND external_id = ANY(%(ids)s) "
        "UNION SELECT external_id FROM arrivals WHERE channel = %(channel)s AND external_id = ANY(%(ids)s)",
        {"channel": CHANNEL, "ids": list(external_ids)},
    )
    return {row[0] for row in await cursor.fetchall()}


async def may_write(tx: Connection, thread_id: UUID) -> bool:
    """Whether somebody in the thread wrote to us first, or it is the owner's own."""
    cursor = await tx.execute(
        "SELECT EXISTS (SELECT 1 FROM messages m WHERE m.thread_id = t.id AND m.author = 'user' "
        "AND NOT m.meta ? 'schedule') OR p.role = 'owner' "
        "FROM threads t JOIN principals p ON p.id = t.principal_id WHERE t.id = %s",
        (thread_id,),
    )
    row = await cursor.fetchone()
    return row is not None and bool(row[0])


async def take_back(tx: Connection, key: str) -> int:
    """What was being done for a message that its sender deleted has been told to stop."""
    cursor = await tx.execute(
        "SELECT j.id FROM jobs j JOIN messages m ON m.id = j.message_id WHERE m.channel = %s "
        "AND m.meta->>'message_key' = %s AND j.status = ANY(%s)",
        (CHANNEL, key, [JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.WAITING]),
    )
    found = [row[0] for row in await cursor.fetchall()]
    for job_id in found:
        await jobs.cancel_if_open(tx, job_id)
    return len(found)


async def state(tx: Connection, session: str) -> SessionState | None:
    return await Rows(tx, SessionState).fetch_one(
        f"SELECT {columns(SessionState)} FROM waha_sessions WHERE session = %s", (session,)
    )


async def looked(tx: Connection, session: str, status: str, says: str, works: bool, now: datetime) -> SessionState:
    """What was seen is on record; since when it does not work is the first time it was seen so."""
    found = await Rows(tx, SessionState).fetch_one(
        "INSERT INTO waha_sessions AS s (session, status, says, down_since, heard_until, looked_at) "
        "VALUES (%(session)s, %(status)s, %(says)s, %(down)s, %(now)s, %(now)s) "
        "ON CONFLICT (session) DO UPDATE SET status = EXCLUDED.status, says = EXCLUDED.says, "
        "down_since = CASE WHEN %(works)s THEN NULL ELSE coalesce(s.down_since, EXCLUDED.down_since) END, "
        f"looked_at = EXCLUDED.looked_at RETURNING {columns(SessionState)}",
        {
            "session": session, "status": status, "says": says[:300], "works": works, "now": now,
            "down": None if works else now,
        },
    )  # fmt: skip
    assert found is not None
    return found


async def told(tx: Connection, session: str, at: datetime | None) -> None:
    """The owner knows that the session does not work; None: that it works again."""
    await tx.execute("UPDATE waha_sessions SET told_at = %s WHERE session = %s", (at, session))


async def heard(tx: Connection, session: str, until: datetime) -> None:
    """Everything that was said before this moment is stored."""
    await tx.execute(
        "UPDATE waha_sessions SET heard_until = greatest(heard_until, %s) WHERE session = %s", (until, session)
    )
