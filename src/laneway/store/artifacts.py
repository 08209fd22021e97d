"""Artifacts: bytes found by their own hash, `artifact://sha256/…`.

Small ones lie in PostgreSQL, larger ones on a shelf (a folder or a bucket). What goes to the shelf is there before its
row is committed, so a row never promises what is not there; the other way round, bytes without a row are found again
by whoever stores the same content. A shelf that does not work refuses nothing: the row takes the content then.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from laneway.domain.artifact import SCHEME, reference
from laneway.domain.conversation import IncomingFile, RemoteFile
from laneway.errors import NotFound, Unavailable
from laneway.store.database import Connection, Database
from laneway.store.shelves import Folder, Missing, Place, Shelf, ShelfFault

INLINE_BYTES = 64 * 1024
"""The largest that is kept in PostgreSQL."""

__all__ = ["SCHEME", "Artifacts", "Original", "ShelfDown", "record", "reference"]
_DIGEST = re.compile(r"[0-9a-f]{64}")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Original:
    """An artifact with its bytes, which are the right ones."""

    ref: str
    mime: str
    content: bytes


class ShelfDown(Unavailable):
    """The bytes are somewhere that does not answer now."""


async def _digest(content: bytes) -> str:
    # Megabytes take a while, in which others want to be served.
    return await asyncio.to_thread(lambda: hashlib.sha256(content).hexdigest())


class Artifacts:
    """Stores each content once and gives back nothing else; new ones go to the first shelf, old ones stay."""

    def __init__(self, db: Database, shelves: Sequence[Shelf], inline_bytes: int = INLINE_BYTES) -> None:
        self._db, self._inline_bytes = db, inline_bytes
        self._shelves = {shelf.place: shelf for shelf in shelves}
        self._first = shelves[0] if shelves else None

    async def lay(self, content: bytes) -> Place:
        """Where the content is to be looked for; what does not belong in the row lies there already."""
        if self._first is None or len(content) <= self._inline_bytes:
            return Place.ROW
        try:
            await self._first.put(await _digest(content), content)
        except ShelfFault as fault:
            _log.warning("A file of %s bytes is kept in the database instead: %s.", len(content), fault)
            return Place.ROW
        return self._first.place

    async def lay_all(self, files: Sequence[IncomingFile | RemoteFile]) -> tuple[IncomingFile | RemoteFile, ...]:
        """The same files, the large ones on the shelf: to be called before the transaction that writes their rows."""
        return tuple(
            [replace(file, place=await self.lay(file.content)) if isinstance(file, IncomingFile) else file
             for file in files]
        )  # fmt: skip

    async def read(self, ref: str, within: Connection | None = None) -> Original:
        """The artifact, checked against its name; whoever has a transaction needs no connection besides."""
        digest = ref.removeprefix(SCHEME)
        if not _DIGEST.fullmatch(digest):
            raise NotFound("There is no such artifact.", hint=f"References look like {SCHEME}….")
        async with nullcontext(within) if within is not None else self._db.transaction() as tx:
            cursor = await tx.execute("SELECT mime, place, content FROM artifacts WHERE ref = %s", (SCHEME + digest,))
            row = await cursor.fetchone()
        if row is None:
            raise NotFound(f"There is no artifact {SCHEME}{digest}.", hint="GET /messages/ID names those of a message.")
        mime, place, content = row
        content = bytes(content) if place == Place.ROW else await self._fetched(digest, Place(place))
        if await _digest(content) != digest:
            raise NotFound(
                f"The stored copy of {SCHEME}{digest} is damaged ({place}).", hint="Bring it back from a backup."
            )
        return Original(SCHEME + digest, mime, content)

    async def file(self, ref: str) -> tuple[Path, str] | None:
        """The file on this machine that holds the artifact, unchecked, and its type; None if it lies elsewhere."""
        digest = ref.removeprefix(SCHEME)
        async with self._db.transaction() as tx:
            cursor = await tx.execute("SELECT mime, place FROM artifacts WHERE ref = %s", (SCHEME + digest,))
            row = await cursor.fetchone()
        shelf = self._shelves.get(Place(row[1])) if row is not None and row[1] != Place.ROW else None
        return (shelf.file(digest), row[0]) if row is not None and isinstance(shelf, Folder) else None

    async def _fetched(self, digest: str, place: Place) -> bytes:
        shelf = self._shelves.get(place)
        if shelf is None:
            raise ShelfDown(
                f"{SCHEME}{digest} lies in a {place} that no setting names.", hint="Set LANEWAY_ARTIFACTS_URL again."
            )
        try:
            return await shelf.get(digest)
        except Missing as fault:
            raise NotFound(f"{SCHEME}{digest} is lost: {fault}.", hint="Bring it back from a backup.") from fault
        except ShelfFault as fault:
            raise ShelfDown(f"{SCHEME}{digest} cannot be read: {fault}.", hint="Try again later.") from fault


async def record(tx: Connection, content: bytes, mime: str, place: str = Place.ROW) -> str:
    """The content is on record under its hash, once; returns its reference."""
    ref = SCHEME + await _digest(content) if len(content) > INLINE_BYTES else reference(content)
    kept = content if place == Place.ROW else None
    # %b: as text, megabytes would first be written out in hexadecimal, on the loop.
    await tx.execute(
        "INSERT INTO artifacts (ref, mime, size, place, content) VALUES (%s, %s, %s, %s, %b) "
        "ON CONFLICT (ref) DO NOTHING",
        (ref, mime, len(content), place, kept),
    )
    return ref
