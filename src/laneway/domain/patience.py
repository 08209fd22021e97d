"""How long things are remembered, waited for and tried."""

from __future__ import annotations

import random
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
