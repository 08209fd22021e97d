"""How fast a channel may send: sliding windows per chat, per group and over all, and holds that a provider ordered."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from laneway.clock import Clock
from laneway.errors import TransientFault

SHORTEST_SLEEP = 0.001
MANY_KEYS = 4096
"""With more keys than this, those that say nothing any more are forgotten."""


class NotYet(TransientFault):
    """It is not this sending's turn, so nothing was tried."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `count` sendings under this key within any `seconds`."""

    key: str
    count: int
    seconds: float


@dataclass(slots=True)
class _Window:
    """The moments of the newest sendings under one key."""

    moments: deque[datetime] = field(default_factory=deque)
    seconds: float = 0.0

    def free_at(self, limit: Limit, now: datetime) -> datetime:
        """The first moment at which one more fits."""
        self.seconds = max(self.seconds, limit.seconds)
        if len(self.moments) < limit.count:
            return now
        return max(now, self.moments[-limit.count] + timedelta(seconds=limit.seconds))

    def used(self, limit: Limit, now: datetime) -> int:
        """How many fall into the window that ends now."""
        begin = now - timedelta(seconds=limit.seconds)
        return sum(moment > begin for moment in self.moments)

    def forget(self, now: datetime) -> None:
        """Sendings that no window reaches any more are gone."""
        begin = now - timedelta(seconds=self.seconds)
        while self.moments and self.moments[0] <= begin:
            self.moments.popleft()


class Pacer:
    """Says when the next sending may go; one for a channel, in the process that sends."""

    def __init__(self, clock: Clock, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._clock, self._sleep = clock, sleep
        self._windows: dict[str, _Window] = {}
        self._held: dict[str, datetime] = {}

    def delay(self, limits: Sequence[Limit]) -> float:
        """Seconds until there is room under every limit; 0 means now."""
        now = self._clock.now()
        return max(0.0, (self._free_at(limits, now) - now).total_seconds())

    async def wait(self, limits: Sequence[Limit], patience: float | None = None) -> None:
        """It is this sending's turn, and the turn is taken.

        One that would take longer than `patience` is refused with NotYet, which says when to come back.
        """
        began = self._clock.now()
        while delay := self.delay(limits):
            waited = (self._clock.now() - began).total_seconds()
            if patience is not None and waited + delay > patience:
                raise NotYet("Sending goes on as soon as the provider allows it.", retry_after=delay)
            # Whoever wakes first goes first; the others see that and wait for the next turn.
            await self._sleep(max(delay, SHORTEST_SLEEP))
        self._take(limits)

    def room(self, limits: Sequence[Limit], keep: int = 1) -> bool:
        """Whether one may go now and `keep` more after it; a window smaller than that only delays them a moment."""
        now = self._clock.now()
        return self._free_at(limits, now) <= now and all(
            limit.count <= keep or self._window(limit).used(limit, now) + 1 + keep <= limit.count for limit in limits
        )

    def take(self, limits: Sequence[Limit], keep: int = 1) -> bool:
        """Whether there was room, which is taken now."""
        if not self.room(limits, keep):
            return False
        self._take(limits)
        return True

    def hold(self, key: str, seconds: float) -> None:
        """Nothing goes under this key for so long: the provider said so."""
        until = self._clock.now() + timedelta(seconds=seconds)
        self._held[key] = max(until, self._held.get(key, until))

    def _free_at(self, limits: Sequence[Limit], now: datetime) -> datetime:
        free = [self._window(limit).free_at(limit, now) for limit in limits]
        return max([now, *free, *(self._held.get(limit.key, now) for limit in limits)])

    def _window(self, limit: Limit) -> _Window:
        return self._windows.setdefault(limit.key, _Window())

    def _take(self, limits: Sequence[Limit]) -> None:
        now = self._clock.now()
        for limit in limits:
            window = self._window(limit)
            window.forget(now)
            window.moments.append(now)
        if len(self._windows) > MANY_KEYS:
            self._sweep(now)

    def _sweep(self, now: datetime) -> None:
        """Keys without a sending or a hold that still counts are forgotten."""
        for window in self._windows.values():
            window.forget(now)
        self._windows = {key: window for key, window in self._windows.items() if window.moments}
        self._held = {key: until for key, until in self._held.items() if until > now}
