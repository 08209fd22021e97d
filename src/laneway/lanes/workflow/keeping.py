"""What happens to patches without anybody asking: their time is up, or they go on to the orchestrator."""

from __future__ import annotations

import asyncio

from laneway.clock import Clock
from laneway.engine.rounds import listen, rounds
from laneway.lanes.workflow.expiring import Expiring
from laneway.lanes.workflow.forwarding import Forwarding
from laneway.store import workflow_patches
from laneway.store.database import DUE, Database

LOOK_ANYWAY_SECONDS = 30.0
"""A notification can be missed; this bounds the delay."""


class Keeping:
    """The duty of one process for all."""

    def __init__(self, db: Database, clock: Clock, expiring: Expiring, forwarding: Forwarding | None) -> None:
        self._db, self._clock, self._expiring, self._forwarding = db, clock, expiring, forwarding
        self._wake = asyncio.Event()

    async def keep_going(self) -> None:
        """Runs until cancelled, or until the database is gone."""
        if self._forwarding is not None:
            await self._forwarding.begin()
        await rounds(self._wake, self.turn, listen(self._db, lambda told: self._wake.set(), DUE))

    async def turn(self) -> float:
        """Everything due has been done; returns how many seconds nothing can be due."""
        while await self._expiring.turn():
            pass
        while self._forwarding is not None and await self._forwarding.turn():
            pass
        async with self._db.transaction() as tx:
            due = await workflow_patches.seconds_to_next(tx, self._clock.now())
        return LOOK_ANYWAY_SECONDS if due is None else min(max(due + 0.01, 0.1), LOOK_ANYWAY_SECONDS)
