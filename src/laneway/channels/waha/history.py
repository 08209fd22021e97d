"""Reads what was said while nobody listened: the bridge gives an event up after some tries, its history keeps it."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from laneway.channels.door import Door
from laneway.channels.waha import ids, reading
from laneway.channels.waha.client import PAGE, Bridge
from laneway.channels.waha.hearing import Hearing
from laneway.channels.waha.reading import Said
from laneway.errors import ModelFault
from laneway.store import waha
from laneway.store.database import Database

OVERLAP = timedelta(minutes=2)
"""Events overtake each other, and clocks differ; what is read twice is recognised."""

OLDEST = timedelta(days=7)
"""What is older is nobody's question any more."""

MOST_ANSWERED = 10
"""Messages of one chat that are answered after a gap; with those before them a person would not bother either."""

MOST_CHATS, MOST_OF_A_CHAT = 2000, 1000
_log = logging.getLogger("laneway.waha")


class History:
    """The bridge's memory of chats."""

    def __init__(self, db: Database, bridge: Bridge, hearing: Hearing) -> None:
        self._db, self._bridge, self._hearing = db, bridge, hearing

    async def catch_up(self, door: Door, heard_until: datetime, now: datetime) -> int:
        """Everything that was said since is stored and worked on; how many messages were new."""
        since = int(max(heard_until - OVERLAP, now - OLDEST).timestamp())
        found: list[Said] = []
        missed: ModelFault | None = None
        for chat in await self._chats(since):
            try:
                found += await self._said(chat, since)
            except ModelFault as error:
                # One chat that the bridge fails at must not keep the others waiting.
                _log.warning("The history of one chat could not be read: %s", error)
                missed = error
        new = await self._new(found)
        left = Counter(said.chat for said in new)
        for said in new:
            # The older ones are stored, so that the answers to the newer ones know of them.
            await self._hearing.take(door, said, silent=left[said.chat] > MOST_ANSWERED)
            left[said.chat] -= 1
        if missed is not None:
            raise missed
        return len(new)

    async def _chats(self, since: int) -> list[str]:
        """The chats in which something was said since."""
        found: list[str] = []
        for offset in range(0, MOST_CHATS, PAGE):
            page = await self._bridge.chats(offset)
            for one in page:
                chat = ids.chat(one.get("id"))
                if (ids.is_person(chat) or ids.kind(chat) is ids.Kind.GROUP) and _newest(one) >= since:
                    found.append(chat)
            # The newest come first: after a page of old ones there are only older ones.
            if len(page) < PAGE or all(_newest(one) < since for one in page):
                break
        return found

    async def _said(self, chat: str, since: int) -> list[Said]:
        found: list[Said] = []
        for offset in range(0, MOST_OF_A_CHAT, PAGE):
            page = await self._bridge.messages(chat, since, offset)
            for payload in page:
                said = reading.message({"from": chat, **payload}, self._hearing.me)
                if said is not None and (said.sent_at or 0) >= since:
                    found.append(said)
            if len(page) < PAGE:
                break
        return found

    async def _new(self, found: list[Said]) -> list[Said]:
        """Those that are not stored, in the order in which they were said."""
        once = {said.external_id: said for said in found}
        async with self._db.transaction() as tx:
            known = await waha.known(tx, once)
        return sorted((said for key, said in once.items() if key not in known), key=lambda said: said.sent_at or 0)


def _newest(overview: dict[str, Any]) -> int:
    last = overview.get("lastMessage")
    stamp = last.get("timestamp") if isinstance(last, dict) else None
    try:
        return int(float(stamp)) if stamp is not None else 0
    except (TypeError, ValueError, OverflowError):
        return 0
