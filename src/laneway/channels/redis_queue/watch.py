"""Looks whether Redis is there and can be worked with: the owner is told when not, and what waited goes when it is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from laneway.clock import Clock
from laneway.domain.conversation import PULLED
from laneway.errors import TransientFault
from laneway.store import notices, redis_jobs
from laneway.store.database import Database

LOOK_SECONDS = 2.0
ALARM_SECONDS = 60.0
FRESH_SECONDS = 3.0
_log = logging.getLogger("laneway.redis")


class Watch:
    """One process at a time tells the owner; any may be asked."""

    def __init__(
        self, db: Database, looked: Callable[[], Awaitable[None]], where: str, clock: Clock,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:  # fmt: skip
        self._db, self._looked, self._where, self._clock, self._look = db, looked, where, clock, look_seconds
        self._down_since: datetime | None = None
        self._told = False
        self._seen: tuple[datetime, str | None] | None = None

    async def trouble(self) -> str | None:
        """What is wrong now, in one sentence; asked often, Redis is asked seldom."""
        now = self._clock.now()
        if self._seen is None or now - self._seen[0] > timedelta(seconds=FRESH_SECONDS):
            self._seen = (now, await self._asked())
        return self._seen[1]

    async def _asked(self) -> str | None:
        try:
            await self._looked()
        except TransientFault as error:
            return str(error)
        return None

    async def keep_watching(self) -> None:
        """Runs until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(self._look)

    async def look(self) -> None:
        """Whoever must know has been told, and what can be done now has been done."""
        wrong, now = await self._asked(), self._clock.now()
        self._seen = (now, wrong)
        if wrong is not None:
            await self._gone(wrong, now)
        elif self._down_since is not None:
            await self._back()
        async with self._db.transaction() as tx:
            await redis_jobs.tell_cancelled(tx)
            await redis_jobs.forget_settled(tx)

    async def _gone(self, wrong: str, now: datetime) -> None:
        if self._down_since is None:
            self._down_since, self._told = now, False
            _log.warning("%s Everything else goes on; it is tried again until it works.", wrong)
        if not self._told and now - self._down_since >= timedelta(seconds=ALARM_SECONDS):
            self._told = True
            await self._say(f"{wrong} Jobs wait there, and results here. Everything else works.", "down")

    async def _back(self) -> None:
        _log.info("Redis at %s works again.", self._where)
        if self._told:
            await self._say(f"Redis at {self._where} works again. What waited goes on now.", "up")
        async with self._db.transaction() as tx:
            await redis_jobs.hurry(tx)
        self._down_since = None

    async def _say(self, text: str, what: str) -> None:
        assert self._down_since is not None
        key = f"redis:{what}:{self._down_since.isoformat()}"
        async with self._db.transaction() as tx:
            await notices.tell_owner(tx, text, key=key, kind=f"redis.{what}", pulled=PULLED)
