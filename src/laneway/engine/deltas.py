"""Carries what a model writes to whoever watches, on any process: gathered for a moment, then notified.

Deltas are not stored. The reply is; a watcher that missed a piece has lost nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
from uuid import UUID

from laneway.domain.ids import new_id
from laneway.store.database import DELTAS, Database

GATHER_SECONDS = 0.06
MOST_CHARACTERS = 1500
"""A notification holds 8000 bytes; a character may take four, and JSON may write it as twelve."""


class DeltaSender:
    """Sends one model call's text in small parcels."""

    def __init__(self, db: Database, thread_id: UUID, job_id: UUID) -> None:
        self._db = db
        self._head = {"thread": str(thread_id), "job": str(job_id), "call": new_id().hex}
        self._text, self._number, self._sent_at = "", 0, 0.0

    async def put(self, text: str) -> None:
        """The text is on its way, now or with the next piece."""
        self._text += text
        if time.monotonic() - self._sent_at >= GATHER_SECONDS or len(self._text) > MOST_CHARACTERS:
            await self.flush()

    async def flush(self) -> None:
        """Nothing is held back any more."""
        while self._text:
            parcel, self._text = self._text[:MOST_CHARACTERS], self._text[MOST_CHARACTERS:]
            body = {**self._head, "n": self._number, "text": parcel}
            self._number += 1
            self._sent_at = time.monotonic()
            await asyncio.shield(self._db.notify(DELTAS, json.dumps(body)))
