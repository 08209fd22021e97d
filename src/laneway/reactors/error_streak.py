"""ErrorStreak: tells when one thing after the other fails."""

from __future__ import annotations

from laneway.domain.session import EventKind
from laneway.reactors.contract import Continue, Intervene, Reaction, ReactorContext
from laneway.reactors.tui_renderer import cut, plain


class ErrorStreak:
    """Notifies once for each row of so many consecutive errors."""

    name = "errors"

    def __init__(self, most: int = 5) -> None:
        self._most = most

    def handle(self, ctx: ReactorContext) -> Reaction:
        """A notification at the last error of such a row."""
        failed = ctx.event.kind is EventKind.ERROR or (ctx.event.kind is EventKind.TOOL_ENDED and ctx.event.failed)
        if not failed or ctx.state.consecutive_errors != self._most:
            return Continue()
        last = cut(plain(ctx.event.text), 120)
        return Intervene(f"{self._most} errors in a row" + (f"; the last: {last}" if last else "."))
