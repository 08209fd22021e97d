"""Takes what was said to the door: who it is by both of their ids, whether it is meant for us, and once only."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from laneway.channels.arrival import Arrival, Taken
from laneway.channels.door import Door
from laneway.channels.waha import ids, reading
from laneway.channels.waha.client import Bridge
from laneway.channels.waha.reading import Acked, Changed, Envelope, Me, Said
from laneway.channels.waha.signature import verify
from laneway.errors import BadInput, ModelFault
from laneway.store import arrivals, deliveries, waha
from laneway.store.database import Connection, Database

ASK_AGAIN_SECONDS = 600.0
"""How long a hidden id that the bridge knows no number of is not asked for again."""

MOST_UNKNOWN = 2000


class Hearing:
    """What the webhook and the history have in common."""

    def __init__(self, db: Database, bridge: Bridge, key: str) -> None:
        self._db, self._bridge, self._key = db, bridge, key
        self._unknown: dict[str, float] = {}
        self.me = Me()
        """Who we are on WhatsApp, as the bridge last told."""

    async def receive(self, door: Door, body: bytes, headers: Mapping[str, str]) -> tuple[str, Changed | None]:
        """What became of a webhook, committed, and the session's status if it told one.

        Unauthorized if it is not signed by our bridge; Unavailable if it must come again.
        """
        verify(self._key, body, headers)
        envelope = reading.opened(_parsed(body))
        if envelope.session not in (None, "", self._bridge.session):
            return "ignored", None
        envelope = self._known_as(envelope)
        heard = reading.read(envelope)
        if isinstance(heard, Said):
            return await self._said(door, heard, envelope), None
        if isinstance(heard, Acked):
            # How far a message got is told in any order and as often as it likes: it only ever goes up.
            return await self._acked(heard), None
        return ("noted", heard) if isinstance(heard, Changed) else ("ignored", None)

    async def _said(self, door: Door, said: Said, envelope: Envelope) -> str:
        async with self._db.transaction() as tx:
            if envelope.id and await waha.event_known(tx, envelope.id):
                return "duplicate"
            sender = await _looked_up(tx, said)
        taken = await self.take(door, said, sender=sender)
        if envelope.id:
            # Only now: an event that is cut off before this comes again, and its message is recognised by its own id.
            async with self._db.transaction() as tx:
                await arrivals.note(tx, waha.CHANNEL, envelope.id, envelope.event[:60], {})
        return taken.outcome

    async def take(self, door: Door, said: Said, silent: bool = False, sender: tuple[str, str] | None = None) -> Taken:
        """The message is with the door, under the sender's number if it is known."""
        if sender is None:
            async with self._db.transaction() as tx:
                sender = await _looked_up(tx, said)
        address, also = await self._who(*sender)
        quiet = silent or said.silent or not (said.addressed or await self._answers_us(said))
        taken = await door.take(
            Arrival(
                waha.CHANNEL, address, said.external_id, name=said.name, also=also,
                thread=said.chat if said.in_group else None, text=said.text, files=said.files, reply_to=said.reply_to,
                quoted=said.quoted, edits=said.edits, silent=quiet, meta=said.meta,
            )
        )  # fmt: skip
        if said.edits is not None and quiet and taken.outcome == "stored":
            async with self._db.transaction() as tx:
                await waha.take_back(tx, said.edits)
        if taken.outcome == "refused":
            await self._turned_away(said, taken.say)
        return taken

    def _known_as(self, envelope: Envelope) -> Envelope:
        if envelope.me.addresses:
            self.me = envelope.me
            return envelope
        return Envelope(envelope.id, envelope.event, envelope.session, self.me, envelope.payload)

    async def _acked(self, heard: Acked) -> str:
        async with self._db.transaction() as tx:
            error = "WhatsApp says that it was not delivered." if heard.status == "failed" else None
            changed = await deliveries.set_status(tx, waha.CHANNEL, heard.key, heard.status, heard.rank, error)
        return "noted" if changed else "ignored"

    async def _answers_us(self, said: Said) -> bool:
        """Whether a message of a group answers one that we sent, where the engine does not say whose that is."""
        if said.reply_to is None:
            return False
        async with self._db.transaction() as tx:
            return await deliveries.reply_of(tx, waha.CHANNEL, said.reply_to) is not None

    async def _who(self, lid: str, phone: str) -> tuple[str, tuple[str, ...]]:
        """The sender's address and the other one, if there is one: the number first, which all engines understand."""
        phone = phone or await self._asked_for(lid)
        return (phone, (lid,) if lid else ()) if phone else (lid, ())

    async def _asked_for(self, lid: str) -> str:
        """The number of a hidden id as the bridge knows it; empty if it does not."""
        if time.monotonic() < self._unknown.get(lid, 0.0):
            return ""
        found = await self._bridge.phone_of(lid)
        if found is None:
            if len(self._unknown) >= MOST_UNKNOWN:
                self._unknown.clear()
            self._unknown[lid] = time.monotonic() + ASK_AGAIN_SECONDS
            return ""
        async with self._db.transaction() as tx:
            await waha.learn(tx, lid, found)
        return found

    async def _turned_away(self, said: Said, say: str) -> None:
        """The history need not tell of the message again; what the door says, it says once, and never to a group."""
        async with self._db.transaction() as tx:
            await arrivals.note(tx, waha.CHANNEL, said.external_id, "refused", {})
        if say and not said.in_group:
            try:
                await self._bridge.send_text(said.chat, say)
            except ModelFault:
                return


async def _looked_up(tx: Connection, said: Said) -> tuple[str, str]:
    """The sender's hidden id and number, as far as they are known here; what an engine vouches for is learnt."""
    hidden = ids.kind(said.sender) is ids.Kind.LID
    lid, phone = (said.sender, said.alias) if hidden else (said.alias, said.sender)
    if lid and phone:
        await waha.learn(tx, lid, phone)
        return lid, phone
    return (lid, await waha.phone_of(tx, lid) or "") if hidden else (await waha.lid_of(tx, phone) or "", phone)


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise BadInput("The body is not JSON.", hint="Send one event of the bridge.") from None
