"""The channel: replies go out as texts at a human pace, files are fetched from the bridge, webhooks come in."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from laneway.channels.contract import SENT_AGAIN, Channel, Duty, Part
from laneway.channels.door import Door
from laneway.channels.pacing import Pacer
from laneway.channels.presses import buttons
from laneway.channels.waha import ids
from laneway.channels.waha.client import Bridge
from laneway.channels.waha.hearing import Hearing
from laneway.channels.waha.pace import Manner
from laneway.channels.waha.watch import Rhythm, Watch
from laneway.channels.whatsapp_cloud.formatting import formatted
from laneway.channels.whatsapp_cloud.splitting import split
from laneway.clock import Clock, SystemClock
from laneway.domain.conversation import Message
from laneway.domain.judgement import OutboxRow
from laneway.errors import ModelFault, PermanentFault, TransientFault, Unavailable
from laneway.store import conversations, waha
from laneway.store.database import Database

MOST_TEXT = 4096


class Waha(Channel):
    """One number on WhatsApp, through a WAHA bridge."""

    name = waha.CHANNEL

    def __init__(
        self, db: Database, bridge: Bridge, hmac_key: str, manner: Manner, rhythm: Rhythm, clock: Clock | None = None
    ) -> None:
        self._db, self.bridge = db, bridge
        self._hearing = Hearing(db, bridge, hmac_key)
        clock = clock or SystemClock()
        self._watch = Watch(db, bridge, self._hearing, clock, rhythm)
        self._manner, self._pacer = manner, Pacer(clock)

    async def receive(self, body: bytes, headers: Mapping[str, str]) -> str:
        """What became of a webhook, committed; Unauthorized if it is not our bridge's."""
        outcome, changed = await self._hearing.receive(self._open(), body, headers)
        if changed is not None:
            self._watch.wake()
        return outcome

    def parts(self, row: OutboxRow) -> Sequence[Part]:
        """The reply in texts that WhatsApp takes; there are no buttons here, so what they offer is said."""
        shown = formatted(row.text)
        lines = _typed(row)
        whole = "\n".join([shown, *(line for line in lines if line not in shown)]).strip()
        return [Part(piece) for piece in split(whole or "…", MOST_TEXT - len(SENT_AGAIN))]

    async def send(self, row: OutboxRow, part: Part, again: bool) -> dict[str, Any]:
        """WhatsApp has the text, after somebody has visibly typed it."""
        chat = _chat_of(row)
        asked = await self._answered(row)
        await self._compose(chat, part.text, asked)
        await self._pacer.wait(self._manner.limits(chat))
        text = SENT_AGAIN + part.text if again else part.text
        return await self.bridge.send_text(chat, text, _quoting(chat, asked, row))

    async def check(self) -> None:
        """Returns if the session works now."""
        session = await self.bridge.status()
        if not session.works:
            raise TransientFault(f"The session {session.name} is {session.status}.", retry_after=15)

    async def fetch(self, source: dict[str, Any], most: int) -> bytes:
        """The file, from the bridge."""
        return await self.bridge.file(str(source.get("path", "")), most)

    async def tell(self, address: str, text: str) -> None:
        """Somebody who just wrote to us has been answered, if that was possible."""
        try:
            await self.bridge.send_text(_sendable(address), text)
        except ModelFault:
            return

    def duties(self) -> Sequence[Duty]:
        return (self._keep_watching,)

    async def close(self) -> None:
        await self.bridge.close()

    async def _keep_watching(self) -> None:
        await self._watch.keep_watching(self._open())

    def _open(self) -> Door:
        if self.door is None:
            raise Unavailable("The door is not open yet.", hint="Send it again.")
        return self.door

    async def _answered(self, row: OutboxRow) -> Message | None:
        """The message the reply answers; PermanentFault if nobody there has written to us."""
        answers = row.meta.get("answers")
        async with self._db.transaction() as tx:
            if not await waha.may_write(tx, row.thread_id):
                raise PermanentFault("Nobody in this chat has written to us, and first contact is the customer's.")
            return await conversations.message(tx, UUID(answers)) if isinstance(answers, str) else None

    async def _compose(self, chat: str, text: str, asked: Message | None) -> None:
        """The chat has seen that the message was read and an answer typed; none of that is needed for sending."""
        full = asked.meta.get("waha_id") if asked is not None else None
        try:
            if isinstance(full, str):
                await self.bridge.seen(chat, full, _participant(full))
            await self.bridge.typing(chat, on=True)
            await asyncio.sleep(self._manner.typing(text))
            await self.bridge.typing(chat, on=False)
        except ModelFault:
            return


def _typed(row: OutboxRow) -> list[str]:
    """What the buttons of other channels offer, as lines to answer with typed words or numbers."""
    offered = buttons(row)
    if row.meta.get("choices"):
        return [f"{number}. {button.text}" for number, button in enumerate(offered, 1)]
    if row.meta.get("undoable"):
        return [f"To put back what this changed, send: /undo {row.meta['undoable']}"]
    return []


def _chat_of(row: OutboxRow) -> str:
    """Where the reply goes: the group, or the person by the id they were last seen with."""
    if ids.kind(row.thread_external_id) is ids.Kind.GROUP:
        return row.thread_external_id
    return _sendable(row.address)


def _sendable(address: str) -> str:
    """The address as it stands; a number stays a number and a hidden id a hidden id."""
    if ids.chat(address) != address or not ids.is_person(address):
        raise PermanentFault(f"`{address[:60]}` is nobody's address on WhatsApp.", hint="It ends in @c.us or @lid.")
    return address


def _participant(full: str) -> str | None:
    """Who wrote a group's message, as its id says."""
    parts = full.split("_")
    return parts[3] if len(parts) == 4 else None


def _quoting(chat: str, asked: Message | None, row: OutboxRow) -> str | None:
    """In a group an answer names what it answers, once; between two people it needs not."""
    if asked is None or row.parts_sent or ids.kind(chat) is not ids.Kind.GROUP:
        return None
    full = asked.meta.get("waha_id")
    return full if isinstance(full, str) else None
