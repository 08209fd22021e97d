"""Where everything that providers hand in ends: who is it, have we had it, and what is it?

When `take` returns, what came is committed, and the provider may be told so.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from laneway.channels.arrival import Arrival, Taken
from laneway.channels.contract import PULLED
from laneway.channels.intake import Intake
from laneway.channels.people import Doorkeeper, Paired, Refused
from laneway.channels.presses import press
from laneway.domain.conversation import Incoming, Principal, Receipt
from laneway.errors import BadInput, Forbidden, TooMany
from laneway.store import arrivals, conversations, deliveries, intake, jobs, outbox
from laneway.store.database import Connection, Database

LONGEST_QUOTE = 1000


class Door:
    """Takes what pushed channels receive."""

    def __init__(self, db: Database, keeper: Doorkeeper, intake: Intake, pulled: Collection[str] = PULLED) -> None:
        self._db, self._keeper, self._intake, self._pulled = db, keeper, intake, pulled

    async def take(self, arrival: Arrival) -> Taken:
        """The arrival is written down, or refused for good; Unavailable means that it must come again."""
        entry = await self._keeper.admit(arrival)
        if isinstance(entry, Refused):
            return Taken("refused", entry.say)
        if isinstance(entry, Paired):
            await self._say(arrival, entry.principal, entry.say, "paired")
            return Taken("paired", entry.say)
        try:
            async with self._db.transaction() as tx:
                return await self._write(tx, arrival, entry.principal)
        except (BadInput, Forbidden, TooMany) as error:
            kind = "refused" if not isinstance(error, TooMany) else "too-many"
            await self._say(arrival, entry.principal, f"I did not take this. {error}", kind)
            return Taken("refused")

    async def _write(self, tx: Connection, arrival: Arrival, principal: Principal) -> Taken:
        if arrival.press is not None:
            return await self._press(tx, arrival, principal)
        incoming = await _incoming(tx, arrival, principal)
        if arrival.silent:
            return Taken("stored" if await intake.keep(tx, incoming) else "duplicate")
        self._intake.check(incoming)
        receipt = await self._intake.write(tx, incoming)
        if receipt.duplicate:
            return Taken("duplicate", receipt=receipt)
        if arrival.edits is not None:
            await _replace(tx, arrival.edits, receipt)
        return Taken("taken", receipt=receipt)

    async def _press(self, tx: Connection, arrival: Arrival, principal: Principal) -> Taken:
        assert arrival.press is not None
        if not await arrivals.note(tx, arrival.channel, arrival.external_id, "press", {"data": arrival.press[:200]}):
            return Taken("duplicate")
        thread = await conversations.thread_on(tx, arrival.channel, _thread(arrival, principal))
        if thread is None:
            return Taken("pressed", "This button does nothing.")
        pressed = await press(tx, arrival.press, thread, principal)
        receipt = None
        if pressed.command is not None:
            typed = replace(arrival, text=pressed.command, press=None, files=(), meta={})
            receipt = await self._intake.write(tx, await _incoming(tx, typed, principal))
        return Taken("pressed", pressed.say, receipt)

    async def _say(self, arrival: Arrival, principal: Principal, text: str, kind: str) -> None:
        """The sender has been told; of those who write too fast, once a minute."""
        async with self._db.transaction() as tx:
            thread = await conversations.ensure_thread(tx, arrival.channel, _thread(arrival, principal), principal)
            if thread.world is not principal.world:
                return
            key = f"{kind}:{arrival.external_id}"
            if kind == "too-many":
                key = f"{kind}:{principal.id}:{await outbox.minute(tx)}"
            await outbox.write(tx, thread.id, text, external_id=key, pulled=self._pulled, meta={"notice": kind})


def _thread(arrival: Arrival, principal: Principal) -> str:
    return str(principal.id) if arrival.thread is None else arrival.thread


async def _incoming(tx: Connection, arrival: Arrival, principal: Principal) -> Incoming:
    meta = {**arrival.meta, **await _quote(tx, arrival)}
    return Incoming(
        channel=arrival.channel,
        thread=_thread(arrival, principal),
        external_id=arrival.external_id,
        text=arrival.text.replace("\x00", ""),
        principal=principal,
        files=arrival.files,
        meta=meta,
    )


async def _quote(tx: Connection, arrival: Arrival) -> dict[str, Any]:
    """What the message answers, in words: ours as we sent them; anybody else's taint the turn."""
    if arrival.reply_to is None and not arrival.quoted:
        return {}
    reply = None if arrival.reply_to is None else await deliveries.reply_of(tx, arrival.channel, arrival.reply_to)
    if reply is not None:
        return {"reply_to": arrival.reply_to, "quoted": reply.text[:LONGEST_QUOTE]}
    said = None
    if arrival.reply_to is not None:
        said = await conversations.said_with_key(tx, arrival.channel, arrival.reply_to)
    if said is not None:
        return {"reply_to": arrival.reply_to, "quoted": said[:LONGEST_QUOTE]}
    if not arrival.quoted:
        return {"reply_to": arrival.reply_to}
    quoted = arrival.quoted.replace("\x00", "")[:LONGEST_QUOTE]
    sources = [*arrival.meta.get("sources", []), "a quoted message"]
    return {"reply_to": arrival.reply_to, "quoted": quoted, "sources": sources}


async def _replace(tx: Connection, key: str, receipt: Receipt) -> None:
    """What was being done for the message that was edited is stopped: its new words count."""
    for job in await jobs.open_in_thread(tx, receipt.thread_id):
        if job.id != receipt.job_id and await conversations.has_key(tx, job.message_id, key):
            await jobs.request_cancel(tx, job.id)
