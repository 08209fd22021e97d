"""WhatsApp's Cloud API as a channel: free text within a person's 24 hours, a template after them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from laneway.channels.contract import SENT_AGAIN, Channel, Duty, Part
from laneway.channels.pacing import Limit, Pacer
from laneway.channels.presses import buttons
from laneway.channels.whatsapp_cloud import composing
from laneway.channels.whatsapp_cloud.attention import Attention
from laneway.channels.whatsapp_cloud.faults import WindowShut
from laneway.channels.whatsapp_cloud.graph import Graph
from laneway.channels.whatsapp_cloud.number import Number
from laneway.channels.whatsapp_cloud.reading import CHANNEL
from laneway.channels.whatsapp_cloud.receiving import Webhook
from laneway.channels.whatsapp_cloud.statuses import Statuses
from laneway.clock import Clock, SystemClock
from laneway.domain.judgement import OutboxRow
from laneway.errors import PermanentFault, Unavailable
from laneway.store import whatsapp
from laneway.store.database import Database

PER_PERSON, PER_NUMBER = (10, 60.0), (80, 1.0)
"""Messages in seconds: one person gets one in six seconds after a few at once, all together eighty a second."""

PATIENCE_SECONDS = 6.0
LOOK_SECONDS = 60.0
Original = Callable[[str], Awaitable[bytes]]
"""The bytes of an artifact."""

_log = logging.getLogger("laneway.channels.whatsapp")


class WhatsAppCloudChannel(Channel):
    """One business number."""

    name = CHANNEL

    def __init__(
        self, db: Database, number: Number, *, clock: Clock | None = None, pacer: Pacer | None = None,
        seconds: float = 20.0, original: Original | None = None,
    ) -> None:  # fmt: skip
        self._db, self._number, self._clock, self._original = db, number, clock or SystemClock(), original
        self._pacer = pacer or Pacer(self._clock)
        self.graph = Graph(number.api_url, number.token, number.id, seconds=seconds)
        self._attention = Attention(self.graph)
        self._statuses = Statuses(db, self._clock, number.fees)
        self.webhook = Webhook(db, number, self._attention, self._statuses, self._clock)

    def parts(self, row: OutboxRow) -> Sequence[Part]:
        files = composing.file_parts(row.meta) if self._original else []
        return [*files, *composing.parts(row.text, buttons(row), len(SENT_AGAIN))]

    async def send(self, row: OutboxRow, part: Part, again: bool) -> dict[str, Any]:
        if not row.address:
            raise PermanentFault("Nobody knows a WhatsApp address of this person.")
        pace = [Limit(f"person:{row.address}", *PER_PERSON), Limit("number", *PER_NUMBER)]
        await self._pacer.wait(pace, PATIENCE_SECONDS)
        text = (SENT_AGAIN if again else "") + part.text
        async with self._db.transaction() as tx:
            is_open = await whatsapp.window_open(tx, row.thread_id, self._clock.now())
        if part.body:
            return await self._send_file(row, part, is_open)
        if not is_open:
            return await self._send_template(row, text)
        try:
            body = composing.recipient(row.address) | composing.message(text, part.buttons)
            return {"id": await self.graph.send(body)}
        except WindowShut:
            return await self._send_template(row, text)

    async def _send_template(self, row: OutboxRow, text: str) -> dict[str, Any]:
        body = composing.template(self._number.template, self._number.language, text)
        if body is None:
            raise PermanentFault(_why_no_template(self._number.template))
        wamid = await self.graph.send(composing.recipient(row.address) | body)
        return {"id": wamid, "template": self._number.template}

    async def _send_file(self, row: OutboxRow, part: Part, is_open: bool) -> dict[str, Any]:
        if not is_open or self._original is None:
            raise PermanentFault("The person last wrote more than 24 hours ago, and WhatsApp then takes no files.")
        name, mime = part.body["name"], part.body["mime"]
        media_id = await self.graph.upload(name, mime, await self._original(part.body["artifact"]))
        body = composing.recipient(row.address) | composing.media(mime, media_id, name, part.text)
        return {"id": await self.graph.send(body), "media_id": media_id}

    async def check(self) -> None:
        await self.graph.look(self._number.id, fields="id")

    async def fetch(self, source: dict[str, Any], most: int) -> bytes:
        return await self.graph.download(str(source.get("media_id", "")), most)

    async def tell(self, address: str, text: str) -> None:
        self._attention.tell(address, text)

    def duties(self) -> Sequence[Duty]:
        return (self._keep_looking,)

    async def close(self) -> None:
        await self.webhook.close()
        await self._attention.close()
        await self.graph.close()

    async def _keep_looking(self) -> None:
        """Statuses that came before their message was on record are applied, also those of a process that is gone."""
        while True:
            try:
                await self._statuses.take_early()
            except Unavailable as error:
                _log.info("%s Statuses of WhatsApp wait.", error)
            await asyncio.sleep(LOOK_SECONDS)


def _why_no_template(template: str) -> str:
    shut = "The person last wrote more than 24 hours ago, and WhatsApp then takes approved templates only."
    if not template:
        return f"{shut} None is set (LANEWAY_WHATSAPP_TEMPLATE)."
    return f"{shut} The reply is too long for the template {template}."
