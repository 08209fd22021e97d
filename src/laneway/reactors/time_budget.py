"""TimeBudget: no longer than so many minutes. Only the clock is asked, so that a silent session ends as well."""

from __future__ import annotations

from datetime import datetime

from laneway.reactors.allowance import Allowance, Wording
from laneway.reactors.contract import Continue, Reaction, ReactorContext

_MINUTES = Wording(lambda amount: f"{amount:,.0f}" if amount >= 10 else f"{amount:,.1f}", "minutes")


class TimeBudget:
    """Warns at 80 % and intervenes at 100 % of the time since the session began, or since `since`."""

    name = "time"

    def __init__(self, minutes: float, *, kill: bool = False, since: datetime | None = None) -> None:
        self._allowance = Allowance(minutes, _MINUTES, kill=kill, forecast=False)
        self._since = since

    def handle(self, ctx: ReactorContext) -> Reaction:
        """What it calls for that so much time has passed."""
        began = self._since or ctx.state.started_at
        if began is None or ctx.state.ended or ctx.event.at < began:
            return Continue()
        return self._allowance.used((ctx.event.at - began).total_seconds() / 60, ctx.event.at)
