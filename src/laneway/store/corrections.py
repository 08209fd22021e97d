"""Corrections: stored as they come, decided once, read back as examples until they are withdrawn."""

from __future__ import annotations

from uuid import UUID

from laneway.domain.conversation import Message
from laneway.domain.ids import new_id
from laneway.domain.judgement import Correction, CorrectionState
from laneway.errors import Conflict, NotFound
from laneway.store import conversations, events
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns

_COLUMNS = columns(Correction)
_LOCK = 0x1EA2  # Any constant: two processes must not learn at the same time.
_KINDS = {
    CorrectionState.ACCEPTED: "classification.corrected",
    CorrectionState.REFUSED: "classification.correction_refused",
    CorrectionState.WITHDRAWN: "classification.correction_withdrawn",
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
    stored = await Rows(tx, Correction).fetch_one(
        "INSERT INTO corrections (id, taxonomy, text, label, flag, message_id, principal_id) "
        f"VALUES (%s, %s, %s, %s, %s, %s, %s) RETURNING {_COLUMNS}",
        (new_id(), taxonomy, text, label, flag, message.id, principal_id),
    )
    assert stored is not None
    await tx.execute("SELECT pg_notify('laneway_corrections', '')")
    return stored


async def add_chosen(tx: Connection, message: Message, label: str, principal_id: UUID) -> None:
    """What staff chose when they were asked what a message meant is a correction, too; customers teach nothing."""
    cursor = await tx.execute("SELECT role IN ('owner', 'operator') FROM principals WHERE id = %s", (principal_id,))
    row = await cursor.fetchone()
    if row is not None and row[0]:
        await add(tx, message, taxonomy="message", text=message.text, label=label, flag=None, principal_id=principal_id)


async def accepted(tx: Connection, taxonomy: str | None = None) -> list[Correction]:
    """What was learnt, oldest first: of one taxonomy, or of all."""
    return await Rows(tx, Correction).fetch_all(
        f"SELECT {_COLUMNS} FROM corrections WHERE state = 'accepted' "
        "AND (%s::text IS NULL OR taxonomy = %s) ORDER BY decided_at, id",
        (taxonomy, taxonomy),
    )


async def next_pending(tx: Connection) -> Correction | None:
    """The oldest correction nobody has decided yet."""
    return await Rows(tx, Correction).fetch_one(
        f"SELECT {_COLUMNS} FROM corrections WHERE state = 'pending' ORDER BY id LIMIT 1"
    )


async def of_message(tx: Connection, message_id: UUID) -> list[Correction]:
    """What was said about the judgement on a message, oldest first."""
    return await Rows(tx, Correction).fetch_all(
        f"SELECT {_COLUMNS} FROM corrections WHERE message_id = %s ORDER BY id", (message_id,)
    )


async def page(
    tx: Connection, *, state: CorrectionState | None = None, limit: int = 50, before: UUID | None = None
) -> list[Correction]:
    """Corrections, newest first; `before` is the last one of the page before."""
    return await Rows(tx, Correction).fetch_all(
        f"SELECT {_COLUMNS} FROM corrections WHERE (%s::text IS NULL OR state = %s) "
        "AND (%s::uuid IS NULL OR id < %s) ORDER BY id DESC LIMIT %s",
        (state, state, before, before, limit),
    )


async def decide(tx: Connection, correction_id: UUID, state: CorrectionState, reason: str) -> bool:
    """The correction is accepted or refused, with its event; False if it was decided or withdrawn before."""
    found = await _held(tx, correction_id)
    if found is None or found.state is not CorrectionState.PENDING:
        return False
    await _move(tx, found, state, reason)
    return True


async def withdraw(tx: Connection, correction_id: UUID) -> Correction:
    """The correction is taken back, whatever was decided, with its event; whoever learnt it is woken."""
    found = await _held(tx, correction_id)
    if found is None:
        raise NotFound(f"There is no correction {correction_id}.", hint="GET /corrections lists them.")
    if found.state is CorrectionState.WITHDRAWN:
        raise Conflict(f"Correction {correction_id} was withdrawn before.", hint="There is nothing left to do.")
    return await _move(tx, found, CorrectionState.WITHDRAWN, f"It was {found.state} before.")


async def _held(tx: Connection, correction_id: UUID) -> Correction | None:
    """The correction, which nobody else changes until this transaction ends."""
    return await Rows(tx, Correction).fetch_one(
        f"SELECT {_COLUMNS} FROM corrections WHERE id = %s FOR UPDATE", (correction_id,)
    )


async def _move(tx: Connection, held: Correction, state: CorrectionState, reason: str) -> Correction:
    moved = await Rows(tx, Correction).fetch_one(
        "UPDATE corrections SET state = %s, reason = %s, decided_at = clock_timestamp() WHERE id = %s "
        f"RETURNING {_COLUMNS}",
        (state, reason, held.id),
    )
    assert moved is not None
    await _tell(tx, moved)
    return moved


async def _tell(tx: Connection, moved: Correction) -> None:
    """What became of the correction is an event of its thread, and whoever learns is woken when this commits."""
    body = {"correction_id": str(moved.id), "message_id": str(moved.message_id)}
    body |= {"taxonomy": moved.taxonomy, "label": moved.label, "reason": moved.reason}
    message = await conversations.message(tx, moved.message_id)
    assert message is not None
    await events.append(tx, _KINDS[moved.state], body, thread_id=message.thread_id)
    await tx.execute("SELECT pg_notify('laneway_corrections', '')")


async def alone(tx: Connection) -> bool:
    """Whether this transaction is the only one that decides, as long as it lasts."""
    # A lock writes nothing, so a transaction that waits for minutes of training holds no event back.
    cursor = await tx.execute("SELECT pg_try_advisory_xact_lock(%s)", (_LOCK,))
    row = await cursor.fetchone()
    return row is not None and bool(row[0])
