"""Corrections: stored as they come, decided once, read back as examples."""

from __future__ import annotations

from uuid import UUID

from laneway.domain.conversation import Message
from laneway.domain.ids import new_id
from laneway.domain.judgement import Correction, CorrectionState
from laneway.store import events
from laneway.store.database import Connection
from laneway.store.rows import columns, row_of

_COLUMNS = columns(Correction)
_LOCK = 0x1EA2  # Any constant: two processes must not learn at the same time.
_KINDS = {
    CorrectionState.ACCEPTED: "classification.corrected",
    CorrectionState.REFUSED: "classification.correction_refused",
}


async def add(
    tx: Connection,
    message: Message,
    *,
    taxonomy: str,
    text: str,
    label: str,
    flag: bool | None,
    principal_id: UUID,
) -> Correction:
    """The correction is stored and waits to be decided; whoever learns is woken when this commits."""
    async with tx.cursor(row_factory=row_of(Correction)) as cursor:
        await cursor.execute(
            "INSERT INTO corrections (id, taxonomy, text, label, flag, message_id, principal_id) "
            f"VALUES (%s, %s, %s, %s, %s, %s, %s) RETURNING {_COLUMNS}",
            (new_id(), taxonomy, text, label, flag, message.id, principal_id),
        )
        stored = await cursor.fetchone()
    assert stored is not None
    await tx.execute("SELECT pg_notify('laneway_corrections', '')")
    return stored


async def accepted(tx: Connection, taxonomy: str | None = None) -> list[Correction]:
    """What was learnt, oldest first: of one taxonomy, or of all."""
    async with tx.cursor(row_factory=row_of(Correction)) as cursor:
        await cursor.execute(
            f"SELECT {_COLUMNS} FROM corrections WHERE state = 'accepted' "
            "AND (%s::text IS NULL OR taxonomy = %s) ORDER BY decided_at, id",
            (taxonomy, taxonomy),
        )
        return await cursor.fetchall()


async def next_pending(tx: Connection) -> Correction | None:
    """The oldest correction nobody has decided yet."""
    async with tx.cursor(row_factory=row_of(Correction)) as cursor:
        await cursor.execute(f"SELECT {_COLUMNS} FROM corrections WHERE state = 'pending' ORDER BY id LIMIT 1")
        return await cursor.fetchone()


async def of_message(tx: Connection, message_id: UUID) -> list[Correction]:
    """What was said about the judgement on a message, oldest first."""
    async with tx.cursor(row_factory=row_of(Correction)) as cursor:
        await cursor.execute(f"SELECT {_COLUMNS} FROM corrections WHERE message_id = %s ORDER BY id", (message_id,))
        return await cursor.fetchall()


async def decide(tx: Connection, correction_id: UUID, state: CorrectionState, reason: str) -> bool:
    """The correction is accepted or refused, with its event; False if it was decided before."""
    cursor = await tx.execute(
        "UPDATE corrections c SET state = %s, reason = %s, decided_at = clock_timestamp() FROM messages m "
        "WHERE c.id = %s AND c.state = 'pending' AND m.id = c.message_id "
        "RETURNING m.thread_id, c.message_id, c.taxonomy, c.label",
        (state, reason, correction_id),
    )
    row = await cursor.fetchone()
    if row is None:
        return False
    thread_id, message_id, taxonomy, label = row
    body = {"correction_id": str(correction_id), "message_id": str(message_id), "taxonomy": taxonomy, "label": label}
    await events.append(tx, _KINDS[state], body | {"reason": reason}, thread_id=thread_id)
    await tx.execute("SELECT pg_notify('laneway_corrections', '')")
    return True


async def alone(tx: Connection) -> bool:
    """Whether this transaction is the only one that decides, as long as it lasts."""
    # A lock writes nothing, so a transaction that waits for minutes of training holds no event back.
    cursor = await tx.execute("SELECT pg_try_advisory_xact_lock(%s)", (_LOCK,))
    row = await cursor.fetchone()
    return row is not None and bool(row[0])
