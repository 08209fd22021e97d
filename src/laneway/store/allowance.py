"""May this call be paid for? Yes, or BudgetExceeded names the budget it would pass, what is spent, and what to do.

BudgetBusy says that only calls being made stand in the way: what they leave of their worst case may be room enough.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from laneway.domain.budget import Account, Budget, Caps, Measure, Period, Standing
from laneway.errors import BudgetBusy, BudgetExceeded
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
    limiting = [budget for budget in holding if cost > 0 or (tokens > 0 and budget.tokens is not None)]
    if not limiting:
        return known
    # Readers of a sum must come one after the other, each seeing what the one before it reserved.
    await tx.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    busy: BudgetBusy | None = None
    for standing in await spending.standings(tx, limiting, today):
        for measure in standing.measures():
            wanted = cost if measure.unit == "usd" else Decimal(tokens)
            if wanted > 0 and measure.spent + wanted > measure.cap:
                raise _refusal(standing, measure, _message(standing, measure, wanted), known)
            if wanted > measure.left:
                busy = BudgetBusy(_message(standing, measure, wanted), hint="There may be room when they have ended.")
    if busy is not None:
        raise busy
    return known


def advice(budget: Budget, measure: Measure) -> str:
    """How to raise the budget."""
    command = f"`laneway budget set {budget.options} --{measure.unit} N`"
    if not measure.setting:
        return f"Raise it with {command}"
    name = measure.setting_name
    return f"Raise `{name}` (LANEWAY_{name.upper().replace('.', '_')}) or use {command}"


def _message(standing: Standing, measure: Measure, wanted: Decimal) -> str:
    budget, spent = standing.budget, measure.of_cap(measure.spent)
    reserved = f", {measure.amount(measure.reserved)} reserved for calls being made" if measure.reserved else ""
    may = f"{'cost' if measure.unit == 'usd' else 'take'} up to {measure.amount(wanted)}"
    return f"The {budget.title} does not allow this call: {spent} spent {budget.spender}{reserved}, and it may {may}."


def _refusal(standing: Standing, measure: Measure, message: str, account: Account) -> Refused:
    budget = standing.budget
    wait = "" if budget.period is Period.EVER else f", or wait for the next {budget.period} (UTC)"
    refused = Refused(
        message,
        hint=f"{advice(budget, measure)}{wait}.",
        retry_after=_seconds_until(standing.resets_at),
    )
    refused.standing, refused.measure, refused.account = standing, measure, account
    return refused


def _seconds_until(moment: datetime | None) -> float | None:
    return None if moment is None else max(0.0, (moment - datetime.now(UTC)).total_seconds())
