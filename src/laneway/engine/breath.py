"""Lets the doors go first: while many come in, jobs and deliveries take turns in the moments that the doors leave.

A job that takes its next step later loses a moment; a provider that waits for its acknowledgement sends again. So while
the doors are busy, whoever wants to begin something waits until nobody stands at a door and the event loop is on time,
one after the other, and never for long: nothing starves. While they are not busy nobody waits at all.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

BUSY_COUNT, BUSY_SECONDS = 16, 1.0
"""The doors are busy while so many have come within so long."""

PROBE_SECONDS, USUAL_SECONDS = 0.005, 1 / BUSY_COUNT
"""The more often somebody comes, the longer is the time between two turns: so long for those who come so often."""
LATE_SECONDS = 0.004
LONGEST_SECONDS = 0.2
"""So long one turn is waited for at most: a busy process still takes five of them in a second."""


class Breath:
    """Knows how busy the doors of this process are, and gives turns to everybody else."""

    def __init__(self) -> None:
        self._inside = 0
        self._came: deque[float] = deque(maxlen=BUSY_COUNT)
        self._one_by_one = asyncio.Lock()

    @contextmanager
    def door(self) -> Iterator[None]:
        """Somebody stands at a door while the block lasts."""
        self._inside += 1
        self._came.append(time.monotonic())
        try:
            yield
        finally:
            self._inside -= 1

    @property
    def busy(self) -> bool:
        """Whether many have come just now."""
        return len(self._came) == BUSY_COUNT and time.monotonic() - self._came[0] < BUSY_SECONDS

    async def turn(self) -> None:
        """Returns when the doors leave room for a step of something else, or after a moment all the same."""
        if not self.busy:
            return
        async with self._one_by_one:
            deadline = time.monotonic() + LONGEST_SECONDS
            while self.busy and not await self._free() and time.monotonic() < deadline:
                pass

    async def _free(self) -> bool:
        """Whether nobody stands at a door and the loop keeps up, which a short sleep tells."""
        began = time.monotonic()
        between = max((began - self._came[0]) / BUSY_COUNT, USUAL_SECONDS / 4)
        pause = PROBE_SECONDS * USUAL_SECONDS / between
        await asyncio.sleep(pause)
        return self._inside == 0 and time.monotonic() - began - pause < LATE_SECONDS
