"""How long things are remembered, waited for and tried."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """The owner's settings on remembering, waiting and trying again, in one place."""

    history: int
    context_tokens: int
    approval_seconds: int
    question_seconds: int
    attempts: int
    retry_seconds: float

    def pause(self, attempts: int, asked: float | None) -> float:
        """How long to wait before the next try: longer each time, and never at the same moment as others."""
        backoff = self.retry_seconds * 2.0 ** (attempts - 1) * random.uniform(0.5, 1)  # noqa: S311  no secret
        return max(backoff, asked or 0.0)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a request is sent again at once, and how long each time is waited before."""

    attempts: int
    first_wait: float
    max_wait: float
    chance: Callable[[], float] = random.random
    """Full jitter: whoever failed together does not come back together."""

    def pause(self, tried: int, asked: float | None) -> float | None:
        """How long to wait after so many tries, which is what the other side `asked` for; None if there is no more."""
        if tried >= self.attempts or (asked is not None and asked > self.max_wait):
            return None
        return self.chance() * min(self.max_wait, self.first_wait * 2.0 ** (tried - 1)) if asked is None else asked
