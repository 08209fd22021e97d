"""Keeps an eye on the session: the owner is told when it does not work, and again when it does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from laneway.channels.door import Door
from laneway.channels.waha.client import Bridge, Session
from laneway.channels.waha.hearing import Hearing
from laneway.channels.waha.history import History
from laneway.channels.waha.reading import Me
from laneway.clock import Clock
from laneway.domain.conversation import PULLED
from laneway.errors import ModelFault
from laneway.store import notices, waha
from laneway.store.database import Connection, Database
from laneway.store.waha import SessionState

UNREACHABLE = "UNREACHABLE"
ADVICE = {
    "SCAN_QR_CODE": "Scan the QR code in the bridge's dashboard with the phone that has the number.",
    "PASSKEY_REQUIRED": "Finish the pairing in the bridge's dashboard.",
    "FAILED": "Restart the session; if that does not help, log out and pair the phone again.",
    "STOPPED": "Start the session in the bridge's dashboard.",
    "STARTING": "It hangs while it starts: look at the bridge's log.",
}
_log = logging.getLogger("laneway.waha")


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Seconds: between two looks, until the owner is told, between two readings of the history."""

    look: float = 15.0
    alarm: float = 60.0
    history: float = 900.0


USUAL = Rhythm()


class Watch:
    """One session's watchman; one process at a time is it."""

    def __init__(
        self, db: Database, bridge: Bridge, hearing: Hearing, clock: Clock, rhythm: Rhythm,
        pulled: Collection[str] = PULLED,
    ) -> None:  # fmt: skip
        self._db, self._bridge, self._hearing, self._clock, self._rhythm = db, bridge, hearing, clock, rhythm
        self._history = History(db, bridge, hearing)
        self._pulled, self._patience = pulled, timedelta(seconds=rhythm.alarm)
        self._wake = asyncio.Event()
        self._worked = False
        """Whether it worked at the last look; what was said before the first one is read."""

    def wake(self) -> None:
        """The session is looked at now."""
        self._wake.set()

    async def keep_watching(self, door: Door) -> None:
        """Runs until cancelled."""
        self._worked = False
        while True:
            self._wake.clear()
            await self.look(door)
            try:
                async with asyncio.timeout(self._rhythm.look):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def look(self, door: Door) -> SessionState:
        """How the session is has been looked at, whoever must know has been told, and what was missed is read."""
        session, says = await self._asked()
        now = self._clock.now()
        async with self._db.transaction() as tx:
            state = await waha.looked(tx, session.name, session.status, says, session.works, now)
            await self._tell(tx, state, session.works, now)
        if not session.works:
            self._worked = False
            return state
        self._hearing.me = Me.of(session.me) if session.me else self._hearing.me
        if not self._worked or now - state.heard_until >= timedelta(seconds=self._rhythm.history):
            await self._catch_up(door, state, now)
        return state

    async def _asked(self) -> tuple[Session, str]:
        try:
            return await self._bridge.status(), ""
        except ModelFault as error:
            return Session(self._bridge.session, UNREACHABLE), str(error)

    async def _catch_up(self, door: Door, state: SessionState, now: datetime) -> None:
        try:
            new = await self._history.catch_up(door, state.heard_until, now)
        except ModelFault as error:
            _log.warning("The bridge's history could not be read to its end: %s", error)
            return
        self._worked = True
        if new:
            _log.info("%d messages that no webhook had brought were read from the bridge's history.", new)
        async with self._db.transaction() as tx:
            await waha.heard(tx, state.session, now)

    async def _tell(self, tx: Connection, state: SessionState, works: bool, now: datetime) -> None:
        if works and state.told_at is not None:
            text = f"The WhatsApp bridge works again (session {state.session}). Messages that were missed are read now."
            await self._say(tx, text, f"waha:{state.session}:up:{state.told_at.isoformat()}", "bridge.up")
            await waha.told(tx, state.session, None)
        elif not works and state.told_at is None and now - (state.down_since or now) >= self._patience:
            key = f"waha:{state.session}:down:{(state.down_since or now).isoformat()}"
            await self._say(tx, _alarm(state), key, "bridge.down")
            await waha.told(tx, state.session, now)

    async def _say(self, tx: Connection, text: str, key: str, kind: str) -> None:
        """The owner is told, elsewhere if possible: what is said through a dead bridge is heard too late."""
        here = await notices.owners_thread(tx, self._pulled, channels=[waha.CHANNEL])
        told = await notices.tell_owner(tx, text, key=key, kind=kind, pulled=self._pulled, not_in=here)
        if not told and here is not None:
            await notices.tell_owner(tx, text, key=key, kind=kind, pulled=self._pulled)


def _alarm(state: SessionState) -> str:
    what = "cannot be reached" if state.status == UNREACHABLE else f"does not work: its status is {state.status}"
    advice = state.says or ADVICE.get(state.status, "Look at the bridge's dashboard.")
    return (
        f"The WhatsApp bridge {what} (session {state.session}), for a while now. "
        f"Messages wait there, and replies here. {advice}"
    )
