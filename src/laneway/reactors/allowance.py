"""What the three budgets share: a warning when little is left, a forecast at the pace of late, and the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from laneway.reactors.contract import Continue, Intervene, Reaction, Severity, Warn

_WINDOW = timedelta(minutes=10)
_SHORTEST = timedelta(seconds=60)
"""A pace is told from no less than this."""
_SOON_MINUTES = 10
_MOST_POINTS = 2_000


@dataclass(frozen=True, slots=True)
class Wording:
    """How an amount is written, and what it is an amount of."""

    amount: Callable[[float], str]
    unit: str


class Allowance:
    """One limit and how much of it is used. Each thing it has to say is said once."""

    def __init__(
        self, limit: float, wording: Wording, *, kill: bool, forecast: bool = True, warn_at: float = 0.8
    ) -> None:
        self._limit, self._wording, self._forecast, self._warn_at = limit, wording, forecast, warn_at
        self._severity = Severity.KILL if kill else Severity.NOTIFICATION
        self._points: deque[tuple[datetime, float]] = deque(maxlen=_MOST_POINTS)
        self._said: set[str] = set()

    def used(self, amount: float, at: datetime) -> Reaction:
        """What it calls for that so much is used by now."""
        self._note(amount, at)
        if amount >= self._limit:
            return self._once("over", Intervene(f"The budget is used up: {self._share(amount)}.", self._severity))
        left = self.minutes_left() if self._forecast else None
        pace = "" if left is None else f"; at this pace the rest is used up in {_minutes(left)}"
        if amount >= self._warn_at * self._limit:
            self._said.add("soon")
            return self._once("little", Warn(f"{self._share(amount)} are used{pace}."))
        if left is not None and left <= _SOON_MINUTES and amount >= 0.5 * self._limit:
            return self._once("soon", Warn(f"{self._share(amount)} are used{pace}."))
        return Continue()

    def minutes_left(self) -> float | None:
        """How long the rest lasts at the pace of the last ten minutes; None if nobody can tell."""
        if not self._points:
            return None
        (first, before), (last, now) = self._points[0], self._points[-1]
        if last - first < _SHORTEST or now <= before:
            return None
        per_minute = (now - before) / ((last - first).total_seconds() / 60)
        return max(0.0, self._limit - now) / per_minute

    def _note(self, amount: float, at: datetime) -> None:
        if not self._points or at >= self._points[-1][0]:
            self._points.append((at, amount))
        # One point older than the window stays, so that a pause does not look like a pace.
        while len(self._points) > 2 and at - self._points[1][0] > _WINDOW:
            self._points.popleft()

    def _once(self, what: str, reaction: Reaction) -> Reaction:
        if what in self._said:
            return Continue()
        self._said.add(what)
        return reaction

    def _share(self, amount: float) -> str:
        words = self._wording
        share = 100 * amount / self._limit if self._limit else 100
        return f"{words.amount(amount)} of {words.amount(self._limit)} {words.unit} ({share:.0f} %)".replace("  ", " ")


def _minutes(left: float) -> str:
    return "less than a minute" if left < 1 else f"{left:.0f} minute{'' if 0.5 <= left < 1.5 else 's'}"
