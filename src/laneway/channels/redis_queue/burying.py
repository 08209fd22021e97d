"""Refused jobs on their way to the dead letters; one that these cannot take stays in Redis as taken until they can."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Collection

from laneway.channels.redis_queue.connection import FIRST_PAUSE, LONGEST_PAUSE, told
from laneway.channels.redis_queue.keys import WrongKind
from laneway.channels.redis_queue.source import Entry, Source

_log = logging.getLogger("laneway.redis")


class Burying:
    """Buries what is refused, in order; what has to wait keeps no good job waiting."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._waiting: deque[tuple[Entry, bytes]] = deque()
        self._until, self._pause = 0.0, FIRST_PAUSE

    def __len__(self) -> int:
        return len(self._waiting)

    def keys(self) -> Collection[bytes]:
        """What lets go of those that wait."""
        return {entry.key for entry, _ in self._waiting}

    def clear(self) -> None:
        """Nothing waits here; Redis still has it, and hands it out again."""
        self._waiting.clear()

    async def bury(self, entry: Entry, letter: bytes) -> None:
        """The letter lies with the dead and the entry is gone, or both wait for `go_on`."""
        self._waiting.append((entry, letter))
        if len(self._waiting) == 1:
            self._until, self._pause = 0.0, FIRST_PAUSE
            await self.go_on()

    async def go_on(self) -> None:
        """What may be buried now has been."""
        now = asyncio.get_running_loop().time()
        while self._waiting and self._until <= now:
            try:
                await self._source.bury(*self._waiting[0])
            except WrongKind as error:
                self._until = now + self._pause * random.uniform(0.5, 1)  # noqa: S311  no secret
                self._pause = min(LONGEST_PAUSE, self._pause * 2)
                _log.warning("%s Dead letters of %s that wait for this: %d.", told(error), self._source.name, len(self))
            else:
                self._waiting.popleft()
                self._pause = FIRST_PAUSE
