"""CostBudget: no more than so much money, by the price list where the log does not say what an answer cost."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from laneway.domain.session import Tokens
from laneway.reactors.allowance import Allowance, Wording
from laneway.reactors.contract import Continue, Reaction, ReactorContext, Warn
from laneway.reactors.costs import cost_of, price_of
from laneway.reactors.tui_renderer import cut, plain

_DOLLARS = Wording(lambda amount: f"${amount:,.2f}", "")


class CostBudget:
    """Warns at 80 %, with a forecast, and intervenes at 100 %. What was spent before `since` does not count."""

    name = "cost"

    def __init__(self, limit: float, *, kill: bool = False, since: datetime | None = None) -> None:
        self._allowance = Allowance(limit, _DOLLARS, kill=kill)
        self._since, self._spent = since, Decimal(0)
        self._unpriced: set[str] = set()
        # The price list is read now, so that no event has to wait for it.
        price_of(Tokens(input=1), "claude-haiku-4-5")

    def handle(self, ctx: ReactorContext) -> Reaction:
        """What it calls for that the session has cost so much."""
        event = ctx.event
        if self._since is not None and event.at < self._since:
            return Continue()
        cost = cost_of(event, ctx.state.model)
        self._spent += cost or 0
        reaction = self._allowance.used(float(self._spent), event.at)
        model = event.model or ctx.state.model
        if cost is None and model not in self._unpriced and isinstance(reaction, Continue):
            self._unpriced.add(model)
            return Warn(
                f"Nobody knows the price of {cut(plain(model), 60) or 'this model'}: what it costs is not counted."
            )
        return reaction
