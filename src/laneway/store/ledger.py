"""The ledger: every model call is a row, reserved before it at its worst price and settled after it at the real one.

    reserved ──▶ settled    the call answered: real tokens, real cost
        ├──────▶ released   the call was certainly not made or not charged: counts nothing
        └──────▶ cut        nobody knows what became of it: it counts what it can have cost at most

`cost` and `tokens_total` always hold what is spent: the real figure of a settled call, the worst case of a cut one,
nothing of any other. So any sum over the table is right. `reserved_cost` and `reserved_tokens` keep what was reserved.
A day is a day in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.budget import Account, Caps
from laneway.domain.conversation import World
from laneway.domain.job import Scope
from laneway.store import allowance
from laneway.store.database import Connection
from laneway.store.rows import Rows
from laneway.store.spending import Spending, spent, usual_cost

__all__ = [
    "Account", "By", "Caps", "Settled", "Spending", "SpendingLine", "Usage", "cut", "cut_all_of", "release", "reserve",
    "settle", "spent", "summary", "usual_cost",
]  # fmt: skip

SECONDS_MOST, GRACE_SECONDS = 600.0, 60.0
"""How long a call may take that does not say it itself, and how long after that its row may still be closed."""

By = Literal["day", "month", "scope", "provider", "model", "principal", "thread", "lane", "job"]
_CUT: LiteralString = (
    "UPDATE token_ledger SET state = 'cut', cost = reserved_cost, tokens_total = reserved_tokens, "
    "meta_json = meta_json || %s, settled_at = now() WHERE state = 'reserved' AND "
)
_KEYS: dict[By, LiteralString] = {
    "day": "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
    "month": "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM')",
    "scope": "scope",
    "provider": "provider",
    "model": "model",
    "principal": "coalesce(principal::text, '')",
    "thread": "coalesce(thread::text, '')",
    "lane": "coalesce(lane, '')",
    "job": "coalesce(job::text, '')",
}
_NAMES: dict[By, LiteralString] = {
    "principal": "(SELECT name FROM principals p WHERE p.id = min(principal::text)::uuid)",
    "thread": "(SELECT channel || '/' || external_id FROM threads t WHERE t.id = min(thread::text)::uuid)",
}
"""What people call the key, where it is an id."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call consumed; cached and reasoning tokens are part of input and output."""

    tokens_input: int
    tokens_output: int
    cost: Decimal
    tokens_cached: int = 0
    tokens_reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Settled:
    """Whose call was settled, and on which day it was made."""

    account: Account
    day: date


@dataclass(frozen=True, slots=True)
class SpendingLine:
    """One line of a summary: what was spent under `key`, and what is reserved there for calls being made."""

    key: str
    name: str
    calls: int
    tokens_input: int
    tokens_output: int
    tokens_total: int
    tokens_cached: int
    tokens_reasoning: int
    cost: Decimal
    reserved: Decimal


async def reserve(
    tx: Connection,
    *,
    account: Account,
    caps: Caps,
    provider: str,
    model: str,
    tokens_input: int,
    tokens_output_max: int,
    cost_max: Decimal,
    meta: dict[str, Any],
) -> int:
    """The worst case is reserved and its id returned, or BudgetExceeded names the budget it would pass.

    Commit at once: until then every other reservation waits.
    """
    tokens = tokens_input + tokens_output_max
    whose = await allowance.check(tx, account, caps, cost_max, tokens)
    cursor = await tx.execute(
        "INSERT INTO token_ledger (scope, provider, model, state, reserved_tokens, reserved_cost, "
        "thread, job, principal, lane, schedule, world, meta_json) "
        "VALUES (%s, %s, %s, 'reserved', %s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id",
        (
            whose.scope, provider, model, tokens, cost_max, whose.thread_id, whose.job_id,
            whose.principal, whose.lane, whose.schedule, whose.world or World.OWNER, Jsonb(meta),
        ),
    )  # fmt: skip
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def settle(tx: Connection, entry: int, usage: Usage, meta: dict[str, Any]) -> Settled | None:
    """The row holds what the call really consumed; None if it had been closed for good before."""
    cursor = await tx.execute(
        "UPDATE token_ledger SET state = 'settled', tokens_input = %s, tokens_output = %s, tokens_total = %s, "
        "tokens_cached = %s, tokens_reasoning = %s, cost = %s, meta_json = meta_json || %s, settled_at = now() "
        "WHERE id = %s AND state IN ('reserved', 'cut') "
        "RETURNING scope, thread, job, principal, lane, schedule, world, (created_at AT TIME ZONE 'UTC')::date",
        (
            usage.tokens_input,
            usage.tokens_output,
            usage.tokens_input + usage.tokens_output,
            usage.tokens_cached,
            usage.tokens_reasoning,
            usage.cost,
            Jsonb(meta),
            entry,
        ),
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    scope, thread, job, principal, lane, schedule, world, day = row
    return Settled(Account(Scope(scope), thread, job, principal, lane, schedule, World(world)), day)


async def release(tx: Connection, entry: int, meta: dict[str, Any] | None = None) -> None:
    """The reservation counts nothing: its call was certainly not made, or not charged."""
    await tx.execute(
        "UPDATE token_ledger SET state = 'released', meta_json = meta_json || %s, settled_at = now() "
        "WHERE id = %s AND state = 'reserved'",
        (Jsonb(meta or {}), entry),
    )


async def cut(tx: Connection, entry: int, meta: dict[str, Any] | None = None) -> None:
    """The reservation is spent in full: its call was made and nobody knows what it cost."""
    await tx.execute(_CUT + "id = %s", (Jsonb(meta or {}), entry))


async def cut_overdue(tx: Connection) -> None:
    """Calls that nobody closed though their time is over are cut: whoever made them is gone, or could not write."""
    await tx.execute(
        _CUT + "created_at < now() - make_interval(secs => coalesce((meta_json->>'seconds_most')::float8, %s) + %s)",
        (Jsonb({}), SECONDS_MOST, GRACE_SECONDS),
    )


async def cut_all_of(tx: Connection, job_id: UUID) -> int:
    """The open reservations of a job whose process died are cut; returns how many."""
    return (await tx.execute(_CUT + "job = %s", (Jsonb({}), job_id))).rowcount


async def summary(tx: Connection, *, by: By, since: datetime | None = None) -> list[SpendingLine]:
    """The ledger added up under each key; days and months in order, others dearest first."""
    order: LiteralString = "1" if by in ("day", "month") else "sum(cost) DESC, 1"
    return await Rows(tx, SpendingLine).fetch_all(
        f"SELECT {_KEYS[by]} AS key, coalesce({_NAMES.get(by, 'NULL')}, '') AS name, count(*) AS calls, "
        "sum(tokens_input)::bigint AS tokens_input, sum(tokens_output)::bigint AS tokens_output, "
        "sum(tokens_total)::bigint AS tokens_total, sum(tokens_cached)::bigint AS tokens_cached, "
        "sum(tokens_reasoning)::bigint AS tokens_reasoning, sum(cost) AS cost, "
        "coalesce(sum(reserved_cost) FILTER (WHERE state = 'reserved'), 0) AS reserved FROM token_ledger "
        "WHERE state <> 'released' AND (%s::timestamptz IS NULL OR created_at >= %s) "
        f"GROUP BY 1 ORDER BY {order}",
        (since, since),
    )
