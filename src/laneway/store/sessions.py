"""Sessions that were watched: their events, kept without secrets after the agent has deleted its log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.ids import new_id
from laneway.domain.keepable import keepable
from laneway.domain.session import EventKind, SessionEvent, SessionState, Tokens
from laneway.errors import NotFound
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns

_LARGEST = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session as it is kept; `life` and `read_to` say how far its file was read."""

    id: UUID
    provider: str
    session_id: str
    source: str
    cwd: str
    model: str
    started_at: datetime | None
    last_activity: datetime | None
    ended: bool
    state: Mapping[str, Any]
    life: int
    read_to: int
    file_id: str
    gone_at: datetime | None
    created_at: datetime
    changed_at: datetime


_COLUMNS = columns(KeptSession)


async def opened(tx: Connection, provider: str, session_id: str, source: str, file_id: str = "") -> KeptSession:
    """The session is known; a file that took another's place begins a new life of it."""
    kept = await Rows(tx, KeptSession).fetch_one(
        "INSERT INTO sessions AS s (id, provider, session_id, source, file_id) VALUES (%s, %s, %s, %s, %s) "
        "ON CONFLICT (provider, session_id, source) DO UPDATE SET gone_at = NULL, "
        "life = s.life + (s.file_id <> EXCLUDED.file_id AND s.file_id <> '')::integer, "
        "read_to = CASE WHEN s.file_id <> EXCLUDED.file_id THEN 0 ELSE s.read_to END, file_id = EXCLUDED.file_id "
        f"RETURNING {_COLUMNS}",
        (new_id(), provider, keepable(session_id), keepable(source), file_id),
    )
    assert kept is not None
    return kept


async def keep(tx: Connection, kept: KeptSession, events: Iterable[SessionEvent]) -> int:
    """The events are stored, each once however often it is given; returns how many were new."""
    rows = [
        (kept.id, kept.life, _place(event), event.part, event.kind, event.at, Jsonb(_body(event))) for event in events
    ]
    if not rows:
        return 0
    async with tx.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO session_events (session, life, place, part, kind, at, body) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (session, life, place, part) DO NOTHING",
            rows,
        )
        new = cursor.rowcount
    await tx.execute(
        "UPDATE sessions SET read_to = greatest(read_to, %s), changed_at = now() WHERE id = %s",
        (max(row[2] for row in rows), kept.id),
    )
    return new


async def note_state(tx: Connection, kept: KeptSession, state: SessionState) -> None:
    """What the session adds up to is kept beside its events."""
    await tx.execute(
        "UPDATE sessions SET cwd = %s, model = %s, started_at = %s, last_activity = %s, ended = %s, state = %s, "
        "changed_at = now() WHERE id = %s",
        (
            keepable(state.cwd),
            keepable(state.model),
            state.started_at,
            state.last_activity,
            state.ended,
            Jsonb(_figures(state)),
            kept.id,
        ),
    )


async def note_read(tx: Connection, kept: KeptSession, place: int) -> None:
    """The session's file was read to this byte, whether or not anything happened there."""
    await tx.execute("UPDATE sessions SET read_to = greatest(read_to, %s) WHERE id = %s", (place, kept.id))


async def note_gone_from(tx: Connection, source: str, session_id: str | None) -> None:
    """The file of these sessions is gone; of a store with several, only the one named."""
    await tx.execute(
        "UPDATE sessions SET gone_at = coalesce(gone_at, now()) WHERE source = %s AND (%s::text IS NULL "
        "OR session_id = %s)",
        (keepable(source), session_id, session_id),
    )


async def all_kept(tx: Connection) -> list[KeptSession]:
    """Every session whose file was still there when last looked at; to go on where watching ended."""
    return await Rows(tx, KeptSession).fetch_all(f"SELECT {_COLUMNS} FROM sessions WHERE gone_at IS NULL")


async def note_gone(tx: Connection, kept: KeptSession) -> None:
    """The agent deleted its file; what was kept of it stays."""
    await tx.execute("UPDATE sessions SET gone_at = coalesce(gone_at, now()) WHERE id = %s", (kept.id,))


async def one(tx: Connection, session: UUID) -> KeptSession:
    """The session, or NotFound."""
    kept = await Rows(tx, KeptSession).fetch_one(f"SELECT {_COLUMNS} FROM sessions WHERE id = %s", (session,))
    if kept is None:
        raise NotFound(f"There is no kept session {session}.", hint="`laneway sessions list` shows what is there.")
    return kept


async def page(
    tx: Connection, *, provider: str | None = None, limit: int = 50, before: UUID | None = None
) -> list[KeptSession]:
    """Kept sessions, the one first seen last first; `before` is the last one of the page before."""
    return await Rows(tx, KeptSession).fetch_all(
        f"SELECT {_COLUMNS} FROM sessions WHERE (%s::text IS NULL OR provider = %s) "
        "AND (%s::uuid IS NULL OR id < %s) ORDER BY id DESC LIMIT %s",
        (provider, provider, before, before, limit),
    )


async def events_of(
    tx: Connection, kept: KeptSession, *, life: int | None = None, after: int = 0, limit: int = 1000
) -> list[tuple[int, SessionEvent]]:
    """Events of one life of a session (the newest if none is named) in the order they came, each with its number."""
    cursor = await tx.execute(
        "SELECT id, kind, at, place, part, body FROM session_events WHERE session = %s AND life = %s AND id > %s "
        "ORDER BY id LIMIT %s",
        (kept.id, kept.life if life is None else life, after, limit),
    )
    return [(row[0], _event(kept, *row[1:])) for row in await cursor.fetchall()]


async def prune(tx: Connection, days: int) -> int:
    """Sessions that nothing happened in for so many days are gone, some at a time; returns how many."""
    cursor = await tx.execute(
        "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions "
        "WHERE coalesce(last_activity, changed_at) < now() - make_interval(days => %s) ORDER BY id LIMIT 200)",
        (days,),
    )
    return cursor.rowcount


def _place(event: SessionEvent) -> int:
    return min(max(event.offset, 0), _LARGEST)


def _body(event: SessionEvent) -> dict[str, Any]:
    """What is stored of an event besides its kind, time and place; empty fields are left out."""
    told = {
        "text": event.text,
        "tool": event.tool,
        "call_id": event.call_id,
        "arguments": event.arguments,
        "failed": event.failed,
        "result_hash": event.result_hash,
        "model": event.model,
        "cwd": event.cwd,
        "context_window": event.context_window,
        "context_used": event.context_used,
        "side": event.side,
        "turn_ended": event.turn_ended,
        "cost": None if event.cost is None else str(event.cost),
    }
    body: dict[str, Any] = keepable({name: value for name, value in told.items() if value})
    # Added afterwards: the word looks like the name of a secret.
    return body | ({"tokens": asdict(event.tokens)} if event.tokens else {})


def _event(kept: KeptSession, kind: str, at: datetime, place: int, part: int, body: dict[str, Any]) -> SessionEvent:
    fields = {name: value for name, value in body.items() if name not in {"tokens", "cost"}}
    return SessionEvent(
        kept.session_id,
        kept.provider,
        EventKind(kind),
        at,
        tokens=Tokens(**body.get("tokens", {})),
        cost=Decimal(body["cost"]) if "cost" in body else None,
        offset=place,
        part=part,
        **fields,
    )


def _figures(state: SessionState) -> dict[str, Any]:
    return {
        "tokens": asdict(state.tokens),
        "cost": str(state.cost),
        "errors": state.errors,
        "consecutive_errors": state.consecutive_errors,
        "turns": state.turns,
        "open_calls": len(state.open_calls),
        "context_used": state.context_used,
        "context_window": state.context_window,
        "waiting": state.waiting,
    }
