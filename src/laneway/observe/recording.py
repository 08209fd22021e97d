"""Keeps what is read of a followed session, so that it outlives the agent's own clean-up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from laneway.domain.session import SessionEvent, SessionState
from laneway.observe.tail import DocumentTail, Tail
from laneway.store import sessions
from laneway.store.database import Connection, Database

Also = Callable[[Connection, sessions.KeptSession], Awaitable[None]]


class Recording:
    """One followed session and its place in the store. Reading it again from the start stores nothing twice."""

    def __init__(self, db: Database, tail: Tail | DocumentTail) -> None:
        self._db, self._tail = db, tail
        self._state: SessionState | None = None
        self._life = 0
        # A log that is compressed later is still the same session.
        self._source = str(tail.path).removesuffix(".zst")

    async def keep(
        self, events: Sequence[SessionEvent], *, whose: SessionEvent | None = None, state: SessionState | None = None,
        also: Also | None = None,
    ) -> int:  # fmt: skip
        """The events and the state they make are stored, and `also` in the same transaction; returns how many were new.

        Whoever has folded the events already gives the `state`; `whose` says which session it is where there are none.
        """
        first = events[0] if events else whose
        if first is None:
            return 0
        async with self._db.transaction() as tx:
            kept = await sessions.opened(tx, first.provider, first.session_id, self._source, self._tail.identity)
            new = await sessions.keep(tx, kept, events)
            if isinstance(self._tail, Tail):
                await sessions.note_read(tx, kept, self._tail.reading.lines.offset)
            if events:
                await sessions.note_state(tx, kept, self._folded(events) if state is None else state)
            if also is not None:
                await also(tx, kept)
        return new

    async def gone(self, session: SessionEvent) -> None:
        """That the agent deleted its file is noted; what was kept stays."""
        async with self._db.transaction() as tx:
            kept = await sessions.opened(tx, session.provider, session.session_id, self._source, self._tail.identity)
            await sessions.note_gone(tx, kept)

    def _folded(self, events: Sequence[SessionEvent]) -> SessionState:
        if self._state is None or self._life != self._tail.life:
            self._state = SessionState(events[0].session_id, events[0].provider)
            self._life = self._tail.life
        for event in events:
            self._state = self._state.after(event)
        return self._state
