"""The ledger: every model call is a row, reserved before it at its worst price and settled after it at the real one.

    reserved ──▶ settled    the call answered: real tokens, real cost
        ├──────▶ released   the call was certainly not made or not charged: counts nothing
        └──────▶ cut        nobody knows what became of it: the worst case stays counted

A day is a day in UTC.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.job import Scope
from laneway.errors import BudgetExceeded
from laneway.store.database import Connection
from laneway.store.rows import row_of

_LOCK = 0x6C616E65  # "lane": the advisory lock all reservations take in turn
_COST: LiteralString = "CASE state WHEN 'settled' THEN cost WHEN 'released' THEN 0 ELSE reserved_cost END"
_TOKENS: LiteralString = "CASE state WHEN 'settled' THEN tokens_total WHEN 'released' THEN 0 ELSE reserved_tokens END"
_TODAY: LiteralString = "date_trunc('day', now(), 'UTC')"
_KEYS: dict[str, LiteralString] = {
    "day": "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
    "scope": "scope",
    "provider": "provider",
    "model": "model",
    "thread": "coalesce(thread::text, '')",
}

By = Literal["day", "scope", "provider", "model", "thread"]


@dataclass(frozen=True, slots=True)
class Account:
    """Who a call is charged to."""

    scope: Scope = Scope.REACTIVE
    thread_id: UUID | None = None
    job_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that may be spent; None is no cap."""

    day_usd: float | None = None
    thread_usd: float | None = None
    job_usd: float | None = None
    day_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call consumed; cached and reasoning tokens are part of input and output."""

    tokens_input: int
    tokens_output: int
    cost: Decimal
    tokens_cached: int = 0
    tokens_reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Spending:
    """A sum over the ledger; calls not settled yet count at their worst case."""

    cost: Decimal
    tokens: int


@dataclass(frozen=True, slots=True)
class SpendingLine:
    """One line of a summary: what was spent under `key`, open reservations at their worst case."""

    key: str
    calls: int
    tokens_input: int
    tokens_output: int
    tokens_total: int
    tokens_cached: int
    tokens_reasoning: int
    cost: Decimal


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
    """The worst case is reserved and its id returned, or BudgetExceeded names the cap it would pass.

    Commit at once: until then every other reservation waits.
    """
    tokens = tokens_input + tokens_output_max
    await _check(tx, account, caps, cost_max, tokens)
    cursor = await tx.execute(
        "INSERT INTO token_ledger (scope, provider, model, state, reserved_tokens, reserved_cost, thread, job, "
        "meta_json) VALUES (%s, %s, %s, 'reserved', %s, %s, %s, %s, %s) RETURNING id",
        (account.scope, provider, model, tokens, cost_max, account.thread_id, account.job_id, Jsonb(meta)),
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def settle(tx: Connection, entry: int, usage: Usage, meta: dict[str, Any]) -> None:
    """The row holds what the call really consumed."""
    await tx.execute(
        "UPDATE token_ledger SET state = 'settled', tokens_input = %s, tokens_output = %s, tokens_total = %s, "
        "tokens_cached = %s, tokens_reasoning = %s, cost = %s, meta_json = meta_json || %s, settled_at = now() "
        "WHERE id = %s AND state IN ('reserved', 'cut')",
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


async def release(tx: Connection, entry: int, meta: dict[str, Any] | None = None) -> None:
    """The reservation counts nothing: its call was certainly not made, or not charged."""
    await _close(tx, "released", entry, meta)


async def cut(tx: Connection, entry: int, meta: dict[str, Any] | None = None) -> None:
    """The reservation stays counted in full: its call was made and nobody knows what it cost."""
    await _close(tx, "cut", entry, meta)


async def cut_all_of(tx: Connection, job_id: UUID) -> int:
    """The open reservations of a job whose process died are cut; returns how many."""
    cursor = await tx.execute(
        "UPDATE token_ledger SET state = 'cut', settled_at = now() WHERE job = %s AND state = 'reserved'", (job_id,)
    )
    return cursor.rowcount


async def spent(
    tx: Connection, *, today: bool = False, thread_id: UUID | None = None, job_id: UUID | None = None
) -> Spending:
    """What has been spent so far: altogether, today, by a thread, by a job, or any of these combined."""
    cursor = await tx.execute(
        f"SELECT coalesce(sum({_COST}), 0), coalesce(sum({_TOKENS}), 0) FROM token_ledger "
        f"WHERE (NOT %s OR created_at >= {_TODAY}) AND (%s::uuid IS NULL OR thread = %s) "
        "AND (%s::uuid IS NULL OR job = %s)",
        (today, thread_id, thread_id, job_id, job_id),
    )
    row = await cursor.fetchone()
    assert row is not None
    return Spending(Decimal(row[0]), int(row[1]))


async def usual_cost(tx: Connection, job_id: UUID) -> Decimal:
    """What one more model call of this job will probably cost: as much as its dearest so far."""
    cursor = await tx.execute(
        "SELECT coalesce(max(cost), 0) FROM token_ledger WHERE job = %s AND state = 'settled'", (job_id,)
    )
    row = await cursor.fetchone()
    assert row is not None
    return Decimal(row[0])


async def summary(tx: Connection, *, by: By, since: datetime | None = None) -> list[SpendingLine]:
    """The ledger added up under each day, scope, provider, model or thread; days in order, others dearest first."""
    order: LiteralString = "1" if by == "day" else f"sum({_COST}) DESC, 1"
    async with tx.cursor(row_factory=row_of(SpendingLine)) as cursor:
        await cursor.execute(
            f"SELECT {_KEYS[by]} AS key, count(*) AS calls, sum(tokens_input)::bigint AS tokens_input, "
            f"sum(tokens_output)::bigint AS tokens_output, sum({_TOKENS})::bigint AS tokens_total, "
            "sum(tokens_cached)::bigint AS tokens_cached, sum(tokens_reasoning)::bigint AS tokens_reasoning, "
            f"sum({_COST}) AS cost FROM token_ledger "
            "WHERE state <> 'released' AND (%s::timestamptz IS NULL OR created_at >= %s) "
            f"GROUP BY 1 ORDER BY {order}",
            (since, since),
        )
        return await cursor.fetchall()


async def _close(tx: Connection, state: str, entry: int, meta: dict[str, Any] | None) -> None:
    await tx.execute(
        "UPDATE token_ledger SET state = %s, meta_json = meta_json || %s, settled_at = now() "
        "WHERE id = %s AND state = 'reserved'",
        (state, Jsonb(meta or {}), entry),
    )


async def _check(tx: Connection, account: Account, caps: Caps, cost: Decimal, tokens: int) -> None:
    # A free call cannot pass a cap on money, so it need not queue behind those that might.
    if cost == 0 and caps.day_tokens is None:
        return
    # Readers of a sum must come one after the other, each seeing what the one before it reserved.
    await tx.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    if caps.day_tokens is not None:
        used = (await spent(tx, today=True)).tokens
        if used + tokens > caps.day_tokens:
            raise await _tokens_refusal(tx, used, tokens, caps.day_tokens)
    if cost > 0:
        async for name, cap, used_usd in _money(tx, account, caps):
            if used_usd + cost > Decimal(str(cap)):
                raise await _money_refusal(tx, name, used_usd, cost, cap)


async def _money(tx: Connection, account: Account, caps: Caps) -> AsyncIterator[tuple[str, float, Decimal]]:
    if caps.job_usd is not None and account.job_id is not None:
        yield "job", caps.job_usd, (await spent(tx, job_id=account.job_id)).cost
    if caps.thread_usd is not None and account.thread_id is not None:
        yield "thread", caps.thread_usd, (await spent(tx, thread_id=account.thread_id)).cost
    if caps.day_usd is not None:
        yield "day", caps.day_usd, (await spent(tx, today=True)).cost


async def _money_refusal(tx: Connection, name: str, used: Decimal, cost: Decimal, cap: float) -> BudgetExceeded:
    whose = {"job": "by this job", "thread": "by this thread", "day": "today (UTC)"}[name]
    return BudgetExceeded(
        f"The {name} budget does not allow this call: {_usd(used)} of {_usd(cap)} spent {whose}, "
        f"and the call may cost up to {_usd(cost)}.",
        hint=f"Raise `budget.{name}_usd` (LANEWAY_BUDGET_{name.upper()}_USD)" + _or_wait(name),
        retry_after=await _until_midnight(tx) if name == "day" else None,
    )


async def _tokens_refusal(tx: Connection, used: int, tokens: int, cap: int) -> BudgetExceeded:
    return BudgetExceeded(
        f"The day budget does not allow this call: {used:,} of {cap:,} tokens spent today (UTC), "
        f"and the call may take up to {tokens:,}.",
        hint="Raise `budget.day_tokens` (LANEWAY_BUDGET_DAY_TOKENS)" + _or_wait("day"),
        retry_after=await _until_midnight(tx),
    )


def _usd(amount: Decimal | float) -> str:
    return f"${amount:.4f}".removesuffix("00")


def _or_wait(name: str) -> str:
    return ", or wait for the next day (UTC)." if name == "day" else "."


async def _until_midnight(tx: Connection) -> float:
    cursor = await tx.execute(f"SELECT extract(epoch FROM {_TODAY} + interval '24 hours' - now())")
    row = await cursor.fetchone()
    assert row is not None
    return float(row[0])
