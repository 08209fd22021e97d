"""Tells the owner of a budget that is nearly or wholly spent: once for each cap and period, by event and message."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date

from laneway.domain.budget import Account, Caps, Measure, Standing
from laneway.store import allowance, budgets, events, notices, spending
from laneway.store.database import Connection

WARN_AT = 0.8


async def warn(tx: Connection, account: Account, day: date, caps: Caps, pulled: Collection[str]) -> None:
    """Whoever should know that a budget of this account is spent to 80 % has been told."""
    for standing in await spending.standings(tx, await budgets.holding(tx, account, caps), day):
        for measure in standing.measures():
            if measure.spent > 0 and measure.share >= WARN_AT:
                await _say(tx, "budget.warned", standing, measure, account, pulled)


async def reached(tx: Connection, refused: allowance.Refused, pulled: Collection[str]) -> None:
    """Whoever should know that a budget has no room left has been told."""
    if refused.standing is not None and refused.measure is not None and refused.account is not None:
        await _say(tx, "budget.reached", refused.standing, refused.measure, refused.account, pulled)


async def _say(
    tx: Connection, kind: str, standing: Standing, measure: Measure, account: Account, pulled: Collection[str]
) -> None:
    budget = standing.budget
    key = ":".join(map(str, (kind, *budget.key, standing.since, measure.unit, measure.cap)))
    cursor = await tx.execute("INSERT INTO budget_notices (key) VALUES (%s) ON CONFLICT DO NOTHING", (key,))
    if not cursor.rowcount:
        return
    body = {
        "subject": budget.subject, "name": budget.name, "world": budget.world, "period": budget.period,
        "unit": measure.unit, "spent": float(measure.spent), "cap": float(measure.cap),
        "percent": round(measure.share * 100, 1),
    }  # fmt: skip
    await events.append(tx, kind, body, thread_id=account.thread_id, job_id=account.job_id)
    await notices.tell_owner(tx, _text(kind, standing, measure), key=key, kind=kind, pulled=pulled)


def _text(kind: str, standing: Standing, measure: Measure) -> str:
    budget = standing.budget
    title = _named(budget.title, budget.name)
    state = (
        f"{measure.share * 100:.0f} % of the {title} is spent"
        if kind == "budget.warned"
        else f"The {title} has no room left"
    )
    until = "" if standing.resets_at is None else f" It starts anew on {standing.resets_at:%Y-%m-%d %H:%M} UTC."
    return f"{state}: {measure.of_cap(measure.spent)}.{until} {allowance.advice(budget, measure)}."


def _named(title: str, name: str) -> str:
    """The title for somebody who cannot know which thread or job "this" is."""
    for noun in ("job", "thread", "principal"):
        title = title.replace(f"this {noun}", f"{noun} {name}")
    return title
