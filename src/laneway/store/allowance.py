"""May this call be paid for? Yes, or BudgetExceeded names the budget it would pass, what is spent, and what to do."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from laneway.domain.budget import Account, Budget, Caps, Measure, Period, Standing
from laneway.errors import BudgetExceeded
from laneway.store import budgets, spending
from laneway.store.database import Connection

_LOCK = 0x6C616E65  # "lane": the advisory lock all reservations take in turn


class Refused(BudgetExceeded):
    """A call was refused; the budget that refused it and the account are known, as long as nobody stored the error."""

    standing: Standing | None = None
    measure: Measure | None = None
    account: Account | None = None


async def check(tx: Connection, account: Account, caps: Caps, cost: Decimal, tokens: int) -> Account:
    """The account with all that is known of it, if every budget has room for the call.

    Until the transaction ends, every other reservation that a budget limits waits.
    """
    known, today = await budgets.whose(tx, account)
    # A free call cannot pass a cap on money, so it need not queue behind those that might.
    holding = await budgets.holding(tx, known, caps)
    limiting = [budget for budget in holding if cost > 0 or budget.tokens is not None]
    if not limiting:
        return known
    # Readers of a sum must come one after the other, each seeing what the one before it reserved.
    await tx.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    for standing in await spending.standings(tx, limiting, today):
        for measure in standing.measures():
            wanted = cost if measure.unit == "usd" else Decimal(tokens)
            if wanted > 0 and measure.spent + measure.reserved + wanted > measure.cap:
                raise _refusal(standing, measure, wanted, known)
    return known


def advice(budget: Budget, measure: Measure) -> str:
    """How to raise the budget."""
    command = f"`laneway budget set {budget.options} --{measure.unit} N`"
    if not measure.setting:
        return f"Raise it with {command}"
    name = measure.setting_name
    return f"Raise `{name}` (LANEWAY_{name.upper().replace('.', '_')}) or use {command}"


def _refusal(standing: Standing, measure: Measure, wanted: Decimal, account: Account) -> Refused:
    budget = standing.budget
    used = measure.of_cap(measure.spent + measure.reserved)
    may = f"cost up to {measure.amount(wanted)}" if measure.unit == "usd" else f"take up to {measure.amount(wanted)}"
    wait = "" if budget.period is Period.EVER else f", or wait for the next {budget.period} (UTC)"
    refused = Refused(
        f"The {budget.title} does not allow this call: {used} spent {budget.spender}, and the call may {may}.",
        hint=f"{advice(budget, measure)}{wait}.",
        retry_after=_seconds_until(standing.resets_at),
    )
    refused.standing, refused.measure, refused.account = standing, measure, account
    return refused


def _seconds_until(moment: datetime | None) -> float | None:
    return None if moment is None else max(0.0, (moment - datetime.now(UTC)).total_seconds())
