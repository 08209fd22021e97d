"""What was spent beside what it would have cost, had every call and every judgement gone to one strong model.

The strong model's price is handed in: this module adds up and compares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal, TypeAlias

from laneway.store.database import Connection
from laneway.store.rows import Rows

LONG_CALL = 32_000
"""Some models ask more for every token of a long call; a call with up to so much input is long to none of them."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a call consumes; cached and written are the parts of the input read from and written to a cache."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0


Price: TypeAlias = Callable[[Tokens], Decimal]
"""What one call costs."""

ASSUMED = Tokens(input=400, output=80)
"""The size of a judgement, as long as no model has made one."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls in the ledger: a long one by itself, or all the others added up; of open ones no tokens are known."""

    calls: int
    unsettled: int
    unpriced: int
    cost: Decimal
    cost_unsettled: Decimal
    input: int
    output: int
    cached: int
    written: int


@dataclass(frozen=True, slots=True)
class Record:
    """What the tables say about a time."""

    calls: Sequence[Calls]
    judged_locally: int
    judgement: Tokens | None
    """The median judgement of a model, whenever it was made; None if there is none."""


@dataclass(frozen=True, slots=True)
class Savings:
    """The comparison, in US dollars."""

    spent: Decimal
    calls: int
    all_strong: Decimal
    judged_locally: int
    avoided: Decimal
    saved: Decimal
    share: float | None
    judgement_basis: Literal["median", "assumed"]
    judgement_tokens_input: int
    judgement_tokens_output: int
    unsettled: int
    unpriced: int


async def read(tx: Connection, *, since: datetime | None = None) -> Record:
    """What was called and judged since then."""
    return Record(await _calls(tx, since), await _judged_locally(tx, since), await _median(tx))


def compare(record: Record, price: Price) -> Savings:
    """The record beside the price of the strong model.

    A call that is not settled costs its worst case on both sides: it neither saves nor loses anything.
    """
    judgement = record.judgement or ASSUMED
    spent = sum((some.cost for some in record.calls), Decimal(0))
    all_strong = sum((some.cost_unsettled + _cost(some, price) for some in record.calls), Decimal(0))
    avoided = record.judged_locally * price(judgement)
    saved = all_strong + avoided - spent
    return Savings(
        spent=spent,
        calls=sum(some.calls for some in record.calls),
        all_strong=all_strong,
        judged_locally=record.judged_locally,
        avoided=avoided,
        saved=saved,
        share=float(saved / (all_strong + avoided)) if all_strong + avoided else None,
        judgement_basis="assumed" if record.judgement is None else "median",
        judgement_tokens_input=judgement.input,
        judgement_tokens_output=judgement.output,
        unsettled=sum(some.unsettled for some in record.calls),
        unpriced=sum(some.unpriced for some in record.calls),
    )


def _cost(some: Calls, price: Price) -> Decimal:
    if some.calls == 1:
        return price(Tokens(some.input, some.output, some.cached, some.written))
    # Many short calls priced as one would be a long call, so their tokens are priced by the thousand.
    fresh = some.input - some.cached - some.written
    thousands = (
        (fresh, Tokens(input=1000)),
        (some.cached, Tokens(input=1000, cached=1000)),
        (some.written, Tokens(input=1000, written=1000)),
        (some.output, Tokens(output=1000)),
    )
    return sum((count * price(tokens) / 1000 for count, tokens in thousands if count), Decimal(0))


async def _calls(tx: Connection, since: datetime | None) -> list[Calls]:
    return await Rows(tx, Calls).fetch_all(
        "SELECT count(*) AS calls, count(*) FILTER (WHERE state = 'cut') AS unsettled, "
        "count(*) FILTER (WHERE meta_json->>'price' = 'unknown') AS unpriced, "
        "sum(cost) AS cost, coalesce(sum(cost) FILTER (WHERE state = 'cut'), 0) AS cost_unsettled, "
        "sum(greatest(tokens_input, tokens_cached + written))::bigint AS input, sum(tokens_output)::bigint "
        "AS output, sum(tokens_cached)::bigint AS cached, sum(written)::bigint AS written FROM token_ledger, "
        "LATERAL (SELECT coalesce((meta_json->>'cache_write_tokens')::bigint, 0) AS written) AS cache "
        "WHERE state IN ('settled', 'cut') AND provider <> 'whatsapp' "
        "AND (%s::timestamptz IS NULL OR created_at >= %s) GROUP BY CASE WHEN tokens_input > %s THEN id END",
        (since, since, LONG_CALL),
    )


async def _judged_locally(tx: Connection, since: datetime | None) -> int:
    # Where the small model was asked in vain a cheaper judgement stands, but nothing was avoided.
    cursor = await tx.execute(
        "SELECT count(*) FROM classifications c WHERE decided_by NOT IN ('model', 'request') "
        "AND (%s::timestamptz IS NULL OR created_at >= %s) AND NOT EXISTS (SELECT FROM token_ledger l "
        "WHERE l.job = c.job_id AND l.state <> 'released' AND l.created_at <= c.created_at)",
        (since, since),
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def _median(tx: Connection) -> Tokens | None:
    # A job is judged before anything else is asked for it, so calls older than its judgement were made for that.
    cursor = await tx.execute(
        "SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY input))::bigint, "
        "round(percentile_cont(0.5) WITHIN GROUP (ORDER BY output))::bigint, "
        "round(percentile_cont(0.5) WITHIN GROUP (ORDER BY cached))::bigint FROM (SELECT "
        "sum(greatest(tokens_input, tokens_cached))::float8 AS input, sum(tokens_output)::float8 AS output, "
        "sum(tokens_cached)::float8 AS cached FROM classifications c JOIN token_ledger l ON l.job = c.job_id "
        "AND l.state = 'settled' AND l.created_at <= c.created_at WHERE decided_by = 'model' GROUP BY c.id) AS judged"
    )
    row = await cursor.fetchone()
    assert row is not None
    return None if row[0] is None else Tokens(*row)
