"""Patches for a time: undone by themselves when it is up, over restarts, or their owner is told why not."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from laneway.clock import Clock
from laneway.domain.workflow import Cause, Patch, PatchKind
from laneway.engine.rounds import listen, rounds
from laneway.errors import BadInput, Conflict
from laneway.lanes.workflow.forwarding import Forwarding
from laneway.lanes.workflow.patches import Patches
from laneway.lanes.workflow.telling import tell
from laneway.store import workflow_patches, workflows
from laneway.store.database import DUE, Connection, Database


class Expiring:
    """Ends patches whose time is up."""

    def __init__(self, db: Database, clock: Clock, patches: Patches, pulled: Collection[str]) -> None:
        self._db, self._clock, self._patches, self._pulled = db, clock, patches, frozenset(pulled)

    async def turn(self) -> bool:
        """One patch whose time is up has been dealt with; False if there was none."""
        async with self._db.transaction() as tx:
            found = await workflow_patches.due(tx, self._clock.now())
            if found is None:
                return False
            # The workflow first, as everybody who undoes: whoever waited here looks again at what is left to do.
            workflow = await workflows.by_id(tx, found.workflow_id, lock=True)
            assert workflow is not None
            patch = await workflow_patches.of_id(tx, found.id)
            if patch.undone_by is not None or patch.expiry is not None:
                return True
            if workflow.removed_at is not None:
                await workflow_patches.expired(tx, patch.id, "done")
                return True
            cause = Cause(patch.principal_id, sentence=patch.sentence)
            try:
                # A savepoint: what a conflict leaves behind must not be kept.
                async with tx.transaction():
                    changed, _ = await self._patches.undo(tx, workflow, patch.id, cause, kind=PatchKind.EXPIRY)
            except (Conflict, BadInput) as error:
                await workflow_patches.expired(tx, patch.id, "conflict")
                said = f"Its time is up, but it stays in workflow `{workflow.tag}`: {error.message} {error.hint}"
                await self._told(tx, patch, said)
                return True
            await workflow_patches.expired(tx, patch.id, "done")
            said = f"Its time is up. It was undone; workflow `{workflow.tag}` is at version {changed.version}."
            await self._told(tx, patch, said)
            return True

    async def _told(self, tx: Connection, patch: Patch, said: str) -> None:
        text = f"Patch for a time: {patch.description or patch.id}\n{said}"
        await tell(tx, patch, text.strip(), key=f"workflow-expiry:{patch.id}", pulled=self._pulled)


LOOK_ANYWAY_SECONDS = 30.0
"""A notification can be missed; this bounds the delay."""


class Keeping:
    """What happens to patches without anybody asking: their time is up, or they go on outside. One process does it."""

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
