"""What has been spent: of a budget, today, by a thread or a job, and what one more call will probably cost.

Sums are read from `ledger_days`, which the database keeps in step with every change of `token_ledger`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

from laneway.domain.budget import SPLIT, Budget, Standing, Subject
from laneway.domain.conversation import World
from laneway.store.database import Connection

_DAYS: LiteralString = (
    "SELECT %s::int, coalesce(sum(spent), 0), coalesce(sum(reserved), 0), coalesce(sum(spent_tokens), 0)::bigint, "
    "coalesce(sum(reserved_tokens), 0)::bigint FROM ledger_days WHERE "
)
_CALLS: LiteralString = (
    "SELECT %s::int, coalesce(sum(cost), 0), coalesce(sum(reserved_cost) FILTER (WHERE state = 'reserved'), 0), "
    "coalesce(sum(tokens_total), 0)::bigint, "
    "coalesce(sum(reserved_tokens) FILTER (WHERE state = 'reserved'), 0)::bigint FROM token_ledger WHERE "
)
_SUMS: dict[Subject, LiteralString] = {
    Subject.JOB: _CALLS + "job = %s::uuid",
    Subject.SCHEDULE: _DAYS + "schedule = %s AND schedule <> '' AND day >= %s",
    Subject.THREAD: _DAYS + "thread = %s AND day >= %s",
    Subject.PRINCIPAL: _DAYS + "principal = %s AND day >= %s",
    Subject.LANE: _DAYS + "world = %s AND lane = %s AND day >= %s",
    Subject.SCOPE: _DAYS + "world = %s AND scope = %s AND day >= %s",
    Subject.ALL: _DAYS + "world = %s AND day >= %s",
}
_ROUNDS = 3
"""How many of the last calls tell what the next one will cost."""


@dataclass(frozen=True, slots=True)
class Spending:
    """A sum over the ledger; what is reserved for calls being made is not spent."""

    cost: Decimal
    tokens: int
    reserved: Decimal


async def standings(tx: Connection, budgets: Sequence[Budget], today: date) -> list[Standing]:
    """How each of the budgets stands in the period that `today` is in."""
    if not budgets:
        return []
    # One statement for all of them: a reservation makes others wait, so it asks but once.
    statement = " UNION ALL ".join([_SUMS[budget.subject] for budget in budgets])
    values = [value for place, budget in enumerate(budgets) for value in (place, *_values(budget, today))]
    cursor = await tx.execute(statement, values)
    found = sorted(await cursor.fetchall())
    return [_standing(budget, today, row[1:]) for budget, row in zip(budgets, found, strict=True)]


async def spent(
    tx: Connection,
    *,
    today: bool = False,
    thread_id: UUID | None = None,
    job_id: UUID | None = None,
    world: World | None = None,
) -> Spending:
    """What has been spent so far: altogether, today, by a thread, a job, a world, or any of these combined."""
    days: LiteralString = "SELECT sum(spent), sum(spent_tokens), sum(reserved) FROM ledger_days "
    calls: LiteralString = (
        "SELECT sum(cost), sum(tokens_total), sum(reserved_cost) FILTER (WHERE state = 'reserved') FROM token_ledger "
    )
    day: LiteralString = "day" if job_id is None else "(created_at AT TIME ZONE 'UTC')::date"
    cursor = await tx.execute(
        f"{days if job_id is None else calls} WHERE (NOT %(today)s OR {day} = (now() AT TIME ZONE 'UTC')::date) "
        "AND (%(thread)s::text IS NULL OR thread::text = %(thread)s) AND (%(world)s::text IS NULL OR world = %(world)s)"
        + ("" if job_id is None else " AND job = %(job)s"),
        {"today": today, "thread": None if thread_id is None else str(thread_id), "world": world, "job": job_id},
    )
    row = await cursor.fetchone()
    assert row is not None
    return Spending(Decimal(row[0] or 0), int(row[1] or 0), Decimal(row[2] or 0))


async def usual_cost(tx: Connection, job_id: UUID | None = None, *, thread_id: UUID | None = None) -> Decimal:
    """What one more model round of this job will probably cost, in US dollars.

    It is the mean of the job's last settled calls of the model it used last, else of its thread's; 0 if neither has
    made a call, or if that model is free.
    """
    cursor = await tx.execute(
        """
        WITH mine AS (
            SELECT id, model, cost, job IS NOT DISTINCT FROM %(job)s AS own FROM token_ledger
            WHERE state = 'settled' AND coalesce(lane, '') <> 'classify' AND provider <> 'whatsapp'
              AND (job = %(job)s OR thread = coalesce(%(thread)s, (SELECT thread_id FROM jobs WHERE id = %(job)s)))
        ), newest AS (SELECT model, own FROM mine ORDER BY own DESC, id DESC LIMIT 1)
        SELECT coalesce(avg(cost), 0) FROM (
            SELECT cost FROM mine JOIN newest USING (model, own) ORDER BY id DESC LIMIT %(rounds)s) AS last
        """,
        {"job": job_id, "thread": thread_id, "rounds": _ROUNDS},
    )
    row = await cursor.fetchone()
    assert row is not None
    return Decimal(row[0]).quantize(Decimal("0.000000001"))


def _values(budget: Budget, today: date) -> tuple[object, ...]:
    if budget.subject is Subject.JOB:
        return (budget.name,)
    world = (budget.world,) if budget.subject in SPLIT else ()
    name = () if budget.subject is Subject.ALL else (budget.name,)
    return (*world, *name, budget.period.since(today))


def _standing(budget: Budget, today: date, sums: Sequence[object]) -> Standing:
    spent, reserved, tokens, reserved_tokens = (Decimal(str(value)) for value in sums)
    return Standing(
        budget,
        budget.period.since(today),
        budget.period.resets(today),
        spent,
        reserved,
        int(tokens),
        int(reserved_tokens),
    )
