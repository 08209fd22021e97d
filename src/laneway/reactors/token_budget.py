"""TokenBudget: no more than so many tokens, those read from a cache included."""

from __future__ import annotations

from datetime import datetime

from laneway.domain.session import EventKind
from laneway.reactors.allowance import Allowance, Wording
from laneway.reactors.contract import Reaction, ReactorContext

_TOKENS = Wording(lambda amount: f"{amount:,.0f}", "tokens")


class TokenBudget:
    """Warns at 80 %, with a forecast, and intervenes at 100 %. What was used before `since` does not count."""

    name = "tokens"

    def __init__(self, limit: int, *, kill: bool = False, since: datetime | None = None) -> None:
        self._allowance = Allowance(limit, _TOKENS, kill=kill)
        self._since, self._before = since, 0

    def handle(self, ctx: ReactorContext) -> Reaction:
        """What it calls for that the session has used so many tokens."""
        total = ctx.state.tokens.total
        if self._since is not None and ctx.event.at < self._since and ctx.event.kind is not EventKind.TICK:
            self._before = total
        return self._allowance.used(total - self._before, ctx.event.at)
