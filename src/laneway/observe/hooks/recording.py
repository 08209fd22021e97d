"""Keeps what hooks said and heard, behind the answer's back: no agent waits for the database."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from laneway.domain.session import SessionEvent, SessionState
from laneway.errors import Unavailable
from laneway.observe.notify import Notice
from laneway.store import hooks, sessions
from laneway.store.database import Connection, Database
from laneway.store.notices import tell_owner

SOURCE = "hooks"
"""Where these events of a session come from, beside those of its log."""
_MOST, _AT_ONCE = 10_000, 25
_TOGETHER_SECONDS = 0.2
_log = logging.getLogger("laneway.hooks")


@dataclass(frozen=True, slots=True)
class Note:
    """Something to keep: an event of a session, one of our own, a word to the owner; each may be missing."""

    event: SessionEvent | None = None
    state: SessionState | None = None
    kind: str = ""
    body: dict[str, Any] | None = None
    notice: Notice | None = None


class Recorder:
    """Writes notes in the order they came; while the database is away they wait, up to a bound."""

    def __init__(self, db: Database, pulled: Collection[str], pause: float = 1.0) -> None:
        self._db, self._pulled, self._pause = db, pulled, pause
        self._notes: deque[Note] = deque()
        self._wake = asyncio.Event()

    def note(self, note: Note) -> None:
        """It will be kept."""
        if len(self._notes) >= _MOST:
            _log.warning("Hooks are heard faster than they can be kept; a note is lost.")
            return
        self._notes.append(note)
        self._wake.set()

    async def keep_writing(self) -> None:
        """Notes are written as they come, for ever."""
        while True:
            await self._wake.wait()
            # Several together cost little more than one, and an agent that waits for an answer goes first.
            await asyncio.sleep(_TOGETHER_SECONDS)
            while self._notes:
                await self.flush()
            self._wake.clear()

    async def flush(self) -> None:
        """The oldest notes are kept; if the database is away, they wait for the next time."""
        batch = [self._notes.popleft() for _ in range(min(_AT_ONCE, len(self._notes)))]
        try:
            async with self._db.transaction() as tx:
                await self._write(tx, batch)
        except (Unavailable, asyncio.CancelledError) as error:
            self._notes.extendleft(reversed(batch))
            if isinstance(error, asyncio.CancelledError):
                raise
            await asyncio.sleep(self._pause)

    async def _write(self, tx: Connection, batch: list[Note]) -> None:
        by_session: dict[tuple[str, str], list[Note]] = {}
        for note in batch:
            if note.event is not None:
                by_session.setdefault((note.event.provider, note.event.session_id), []).append(note)
            told = note.notice
            if told and not await tell_owner(tx, told.line, key=told.key, kind="hooks", pulled=self._pulled):
                _log.warning("There is no thread of the owner's to say this in: %s", told.line)
        await hooks.record(tx, [(note.kind, note.body or {}) for note in batch if note.kind])
        for name, notes in by_session.items():
            kept = await sessions.opened(tx, *name, SOURCE)
            await sessions.keep(tx, kept, [note.event for note in notes if note.event is not None])
            if notes[-1].state is not None:
                await sessions.note_state(tx, kept, notes[-1].state)
