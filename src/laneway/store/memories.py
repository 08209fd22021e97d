"""What is remembered: facts of the owner's world, and facts of each customer's thread, never one from the other."""

from __future__ import annotations

import hashlib
from uuid import UUID

from laneway.domain.conversation import World
from laneway.domain.fact import LONGEST_FACT, LONGEST_KEY, LONGEST_SOURCE, MOST_FACTS, Fact, query_words
from laneway.domain.ids import new_id
from laneway.errors import BadInput, Conflict, NotFound
from laneway.store import events
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns

_COLUMNS = columns(Fact)
_VISIBLE = "world = %(world)s AND (world = 'owner' OR thread_id = %(thread)s)"
_WORDS = "to_tsvector('simple', key || ' ' || text)"


async def remember(
    tx: Connection,
    world: World,
    thread_id: UUID,
    text: str,
    *,
    key: str | None,
    source: str | None,
    job_id: UUID | None,
) -> Fact:
    """The fact is stored; one with the same key, or without a key the same words, is replaced."""
    text = text.strip()
    _check(text, key)
    chosen = key.strip().casefold() if key else f"#{hashlib.sha256(text.casefold().encode()).hexdigest()[:16]}"
    await _check_room(tx, world, thread_id, chosen)
    where = "(key) WHERE world = 'owner'" if world is World.OWNER else "(thread_id, key) WHERE world = 'customer'"
    stored = await Rows(tx, Fact).fetch_one(
        "INSERT INTO memories (id, world, thread_id, key, text, source, job_id) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s) "
        f"ON CONFLICT {where} DO UPDATE SET text = EXCLUDED.text, source = EXCLUDED.source, "
        f"thread_id = EXCLUDED.thread_id, job_id = EXCLUDED.job_id, changed_at = now() RETURNING {_COLUMNS}",
        (new_id(), world, thread_id, chosen, text, source and source[:LONGEST_SOURCE], job_id),
    )
    assert stored is not None
    body = {"memory": str(stored.id), "source": stored.source}
    await events.append(tx, "memory.stored", body, thread_id=thread_id, job_id=job_id)
    return stored


async def recall(tx: Connection, world: World, thread_id: UUID, query: str, limit: int = 10) -> list[Fact]:
    """The facts that share the most words with the query, then the newest; without words, the newest."""
    words = query_words(query)
    found = {"world": world, "thread": thread_id, "words": words, "limit": limit}
    matches = f"(SELECT count(*) FROM unnest(%(words)s::text[]) w WHERE {_WORDS} @@ to_tsquery('simple', w || ':*'))"
    wanted = f"AND {matches} > 0 ORDER BY {matches} DESC, changed_at DESC" if words else "ORDER BY changed_at DESC"
    return await Rows(tx, Fact).fetch_all(
        f"SELECT {_COLUMNS} FROM memories WHERE {_VISIBLE} {wanted}, id DESC LIMIT %(limit)s", found
    )


async def page(
    tx: Connection, *, world: World | None = None, thread_id: UUID | None = None, limit: int = 50,
    before: UUID | None = None,
) -> list[Fact]:  # fmt: skip
    """What is remembered, newest first; `before` is the last one of the page before."""
    return await Rows(tx, Fact).fetch_all(
        f"SELECT {_COLUMNS} FROM memories WHERE (%s::text IS NULL OR world = %s) "
        "AND (%s::uuid IS NULL OR thread_id = %s) AND (%s::uuid IS NULL OR id < %s) ORDER BY id DESC LIMIT %s",
        (world, world, thread_id, thread_id, before, before, limit),
    )


async def remove(tx: Connection, fact_id: UUID) -> Fact:
    """The fact is forgotten."""
    gone = await Rows(tx, Fact).fetch_one(f"DELETE FROM memories WHERE id = %s RETURNING {_COLUMNS}", (fact_id,))
    if gone is None:
        raise NotFound(f"There is no memory {fact_id}.", hint="`laneway memories` lists them.")
    await events.append(tx, "memory.removed", {"memory": str(fact_id)}, thread_id=gone.thread_id)
    return gone


def _check(text: str, key: str | None) -> None:
    if not text or len(text) > LONGEST_FACT:
        raise BadInput(f"A fact has 1 to {LONGEST_FACT} characters.", hint="Remember the short of it.")
    if key is not None and not 1 <= len(key.strip()) <= LONGEST_KEY:
        raise BadInput(f"A key has 1 to {LONGEST_KEY} characters.", hint="Use a word or two.")
    if "\x00" in text + (key or ""):
        raise BadInput("The text holds a NUL character.", hint="Send plain text.")


async def _check_room(tx: Connection, world: World, thread_id: UUID, key: str) -> None:
    """Returns only if one more fact, or another text for a known key, may be kept here."""
    cursor = await tx.execute(
        f"SELECT count(*), bool_or(key = %(key)s) FROM memories WHERE {_VISIBLE}",
        {"world": world, "thread": thread_id, "key": key},
    )
    row = await cursor.fetchone()
    if row is not None and row[0] >= MOST_FACTS[world] and not row[1]:
        raise Conflict(f"{row[0]} facts are remembered here already.", hint="`laneway memories remove` makes room.")
