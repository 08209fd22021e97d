"""Pairing codes: made by the owner, used once, ended by time or by too many wrong tries. Only hashes are kept."""

from __future__ import annotations

import asyncio
from uuid import UUID

from laneway.domain.conversation import Role
from laneway.domain.ids import new_id
from laneway.domain.pairing import MOST_OPEN, TRIES, VALID_SECONDS, Pairing, hashed, new_code
from laneway.errors import Conflict
from laneway.store import events
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns, row_of

_COLUMNS = columns(Pairing)
_OPEN = "used_at IS NULL AND expires_at > now() AND tries_left > 0"
_LOCK = 0x1A51
KEPT_DAYS = 30


async def make(tx: Connection, role: Role, name: str, by: UUID) -> tuple[Pairing, str]:
    """There is one more open code; it is returned here and never again."""
    await tx.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    if len(await open_ones(tx)) >= MOST_OPEN:
        raise Conflict(
            f"{MOST_OPEN} codes are open already.", hint="Use one of them, or wait: each is good for an hour."
        )
    pairing_id, code = new_id(), new_code()
    code_hash = await asyncio.to_thread(hashed, code, pairing_id)
    made = await Rows(tx, Pairing).fetch_one(
        "INSERT INTO pairings (id, code_hash, role, name, tries_left, expires_at) "
        f"VALUES (%s, %s, %s, %s, %s, now() + make_interval(secs => %s)) RETURNING {_COLUMNS}",
        (pairing_id, code_hash, role, name, TRIES, VALID_SECONDS),
    )
    assert made is not None
    await events.append(tx, "pairing.opened", {"pairing": str(made.id), "role": role, "name": name, "by": str(by)})
    return made, code


async def open_ones(tx: Connection) -> list[Pairing]:
    """The codes that can be used, held so that only one sender tries them at a time."""
    return await _found(tx, f"{_OPEN} ORDER BY id FOR UPDATE")


async def of_the_hour(tx: Connection) -> list[Pairing]:
    """Every code that was made within the hour, whatever became of it, as far as anybody can have made them."""
    return await _found(tx, "created_at > now() - interval '1 hour' ORDER BY id DESC LIMIT 10")


async def use(tx: Connection, pairing: Pairing, address: str, principal_id: UUID) -> None:
    """The code has let this address in and opens nothing any more."""
    await tx.execute(
        "UPDATE pairings SET used_at = now(), used_by = %s, principal_id = %s WHERE id = %s",
        (address, principal_id, pairing.id),
    )
    body = {"pairing": str(pairing.id), "role": pairing.role, "address": address, "principal": str(principal_id)}
    await events.append(tx, "pairing.used", body)


async def void(tx: Connection, pairing: Pairing, why: str) -> None:
    """The code opens nothing any more, though nobody has used it."""
    await tx.execute("UPDATE pairings SET tries_left = 0 WHERE id = %s", (pairing.id,))
    await events.append(tx, "pairing.ended", {"pairing": str(pairing.id), "why": why})


async def miss(tx: Connection, tried: list[Pairing]) -> int:
    """Each open code has one wrong try less; how many of them that has ended."""
    cursor = await tx.execute(
        "UPDATE pairings SET tries_left = tries_left - 1 WHERE id = ANY(%s) RETURNING id, tries_left",
        ([one.id for one in tried],),
    )
    ended = [row[0] for row in await cursor.fetchall() if row[1] == 0]
    for pairing_id in ended:
        await events.append(tx, "pairing.ended", {"pairing": str(pairing_id), "why": "too many wrong tries"})
    return len(ended)


async def prune(tx: Connection) -> int:
    """Codes of a month ago are forgotten; returns how many."""
    cursor = await tx.execute("DELETE FROM pairings WHERE created_at < now() - make_interval(days => %s)", (KEPT_DAYS,))
    return cursor.rowcount


async def _found(tx: Connection, which: str) -> list[Pairing]:
    async with tx.cursor(row_factory=row_of(Pairing)) as cursor:
        await cursor.execute(f"SELECT {_COLUMNS} FROM pairings WHERE {which}".encode())
        return await cursor.fetchall()
