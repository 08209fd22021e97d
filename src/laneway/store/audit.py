"""The audit in the store: appended to, read and nothing else; a trigger refuses every other wish."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from laneway.domain.audit import BEGINNING, Entry, Note, sealed
from laneway.domain.judgement import Approval, Event
from laneway.store import events
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns, row_of

_LOCK = 0x1A50
_COLUMNS = columns(Entry)


async def append(tx: Connection, notes: Sequence[Note]) -> list[Entry]:
    """The notes are the chain's last entries, in their order."""
    if not notes:
        return []
    # Two who append at once would both follow the same entry; the second waits for the first to commit.
    await tx.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    last = await newest(tx)
    number, previous = (last.number, last.hash) if last else (0, BEGINNING)
    made: list[Entry] = []
    for note in notes:
        number += 1
        made.append(sealed(note, number, previous))
        previous = made[-1].hash
    async with tx.cursor() as cursor:
        await cursor.executemany(
            f"INSERT INTO audit ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s)",
            [(e.number, e.at, e.actor, e.what, e.body, e.previous, e.hash) for e in made],
        )
    return made


async def newest(tx: Connection, what: str | None = None) -> Entry | None:
    """The last entry, or the last one about this."""
    return await Rows(tx, Entry).fetch_one(
        f"SELECT {_COLUMNS} FROM audit WHERE %s::text IS NULL OR what = %s ORDER BY number DESC LIMIT 1",
        (what, what),
    )


async def page(tx: Connection, *, after: int = 0, limit: int = 200, what: str | None = None) -> list[Entry]:
    """Entries that follow number `after`, oldest first."""
    return await Rows(tx, Entry).fetch_all(
        f"SELECT {_COLUMNS} FROM audit WHERE number > %s AND (%s::text IS NULL OR what LIKE %s) "
        "ORDER BY number LIMIT %s",
        (after, what, f"{what}%" if what else None, limit),
    )


async def latest(tx: Connection, *, before: int | None = None, limit: int = 50, what: str | None = None) -> list[Entry]:
    """Entries, newest first; `before` is the number of the last one of the page before."""
    return await Rows(tx, Entry).fetch_all(
        f"SELECT {_COLUMNS} FROM audit WHERE (%s::bigint IS NULL OR number < %s) "
        "AND (%s::text IS NULL OR what LIKE %s) ORDER BY number DESC LIMIT %s",
        (before, before, what, f"{what}%" if what else None, limit),
    )


async def place(tx: Connection) -> str:
    """The cursor up to which events have been audited; this transaction alone may move it."""
    await tx.execute("INSERT INTO audit_place (cursor) VALUES (%s) ON CONFLICT DO NOTHING", (events.START,))
    cursor = await tx.execute("SELECT cursor FROM audit_place FOR UPDATE")
    row = await cursor.fetchone()
    return events.START if row is None else str(row[0])


async def move_place(tx: Connection, cursor: str) -> None:
    """Events up to the cursor are audited with this transaction."""
    await tx.execute("UPDATE audit_place SET cursor = %s, moved_at = now()", (cursor,))


async def askers(tx: Connection, jobs: Sequence[UUID]) -> dict[UUID, str]:
    """Who wrote the message of each job: role and id."""
    cursor = await tx.execute(
        "SELECT j.id, p.role || ' ' || p.id FROM jobs j JOIN messages m ON m.id = j.message_id "
        "JOIN principals p ON p.id = m.principal_id WHERE j.id = ANY(%s)",
        (list(jobs),),
    )
    return {row[0]: str(row[1]) for row in await cursor.fetchall()}


async def answers(tx: Connection, told: Sequence[Event]) -> dict[str, Approval]:
    """The approvals these events are about, by their ids."""
    ids = [str(event.body["approval_id"]) for event in told if event.body.get("approval_id")]
    async with tx.cursor(row_factory=row_of(Approval)) as cursor:
        await cursor.execute(f"SELECT {columns(Approval)} FROM approvals WHERE id = ANY(%s::uuid[])", (ids,))
        return {str(approval.id): approval for approval in await cursor.fetchall()}
