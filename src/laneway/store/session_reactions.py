"""What reactors said about watched sessions; what was said once is known after every restart."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from laneway.domain.keepable import keepable
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns
from laneway.store.sessions import KeptSession


@dataclass(frozen=True, slots=True)
class KeptReaction:
    """One reaction: `weight` is warning, notification or kill; `told` says whether somebody was told."""

    id: int
    session: UUID
    at: datetime
    reactor: str
    weight: str
    text: str
    told: bool


_COLUMNS = columns(KeptReaction)


async def note(tx: Connection, kept: KeptSession, key: str, at: datetime, reactor: str, weight: str, text: str) -> bool:
    """The reaction is kept; False if it was before."""
    cursor = await tx.execute(
        "INSERT INTO session_reactions (session, key, at, reactor, weight, text) VALUES (%s, %s, %s, %s, %s, %s) "
        "ON CONFLICT (key) DO NOTHING",
        (kept.id, key, at, keepable(reactor), weight, keepable(text)),
    )
    return bool(cursor.rowcount)


async def note_told(tx: Connection, key: str) -> None:
    """Somebody has been told of it."""
    await tx.execute("UPDATE session_reactions SET told = true WHERE key = %s", (key,))


async def of_session(tx: Connection, session: UUID, limit: int = 50) -> list[KeptReaction]:
    """What was said about a session, newest first."""
    return await Rows(tx, KeptReaction).fetch_all(
        f"SELECT {_COLUMNS} FROM session_reactions WHERE session = %s ORDER BY id DESC LIMIT %s", (session, limit)
    )
