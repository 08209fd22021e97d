"""What the small model judged: kept by taxonomy version and text, so that the same question is not paid for twice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from laneway.store.database import Connection
from laneway.store.rows import Rows, columns

KEEP_DAYS = 90


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judgement of a model, on a text in its one spelling; `vector` is what the text means, if known."""

    text: str
    judgement: dict[str, Any]
    vector: bytes | None


async def exactly(tx: Connection, taxonomy: str, version: str, text: str) -> Judgement | None:
    """The judgement on this very text under this version."""
    return await Rows(tx, Judgement).fetch_one(
        f"SELECT {columns(Judgement)} FROM judgements WHERE taxonomy = %s AND version = %s AND text_hash = %s",
        (taxonomy, version, _hash(text)),
    )


async def latest(tx: Connection, taxonomy: str, version: str, limit: int) -> list[Judgement]:
    """The newest judgements under this version whose meaning is known."""
    return await Rows(tx, Judgement).fetch_all(
        f"SELECT {columns(Judgement)} FROM judgements WHERE taxonomy = %s AND version = %s AND vector IS NOT NULL "
        "ORDER BY created_at DESC LIMIT %s",
        (taxonomy, version, limit),
    )


async def keep(tx: Connection, taxonomy: str, version: str, judgement: Judgement) -> None:
    """The judgement is kept, once for each text and version."""
    await tx.execute(
        "INSERT INTO judgements (taxonomy, version, text_hash, text, judgement, vector) "
        "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
        (taxonomy, version, _hash(judgement.text), judgement.text, Jsonb(judgement.judgement), judgement.vector),
    )


async def prune(tx: Connection) -> int:
    """Judgements of long ago are gone: versions change, and so do people's ways."""
    cursor = await tx.execute(
        "DELETE FROM judgements WHERE created_at < now() - make_interval(days => %s)", (KEEP_DAYS,)
    )
    return cursor.rowcount


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
