"""Where everything that providers hand in ends: who is it, have we had it, and what is it?

When `take` returns, what came is committed, and the provider may be told so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from laneway.channels.arrival import Arrival, Taken
from laneway.channels.contract import PULLED
from laneway.channels.intake import Intake, worded
from laneway.channels.people import Doorkeeper, Paired, Refused
from laneway.channels.presses import press
from laneway.domain.conversation import Incoming, Principal, Receipt, RemoteFile, sources_of
from laneway.domain.storable import storable
from laneway.errors import BadInput, Conflict, Forbidden, TooMany
from laneway.store import arrivals, conversations, deliveries, edits, intake, jobs, outbox
from laneway.store.database import Connection, Database

LONGEST_QUOTE = 1000
LATE_MINUTES = 15.0
"""After this time an edit of something that is over is no correction any more."""

TOO_LATE = (
    "You changed a message that I was done with. I have noted it and done nothing. Send it anew if I shall act on it."
)


class Door:
    """Takes what pushed channels receive."""

    def __init__(self, db: Database, keeper: Doorkeeper, intake: Intake, pulled: Collection[str] = PULLED) -> None:
        self._db, self._keeper, self._intake, self._pulled = db, keeper, intake, pulled

    def paced(self, per_minute: int) -> Intake:
        """What is behind the door, for a channel that knows its senders itself and lets them write so often."""
        return self._intake.paced(per_minute)

    async def take(self, arrival: Arrival) -> Taken:
        """The arrival is written down, or refused for good; Unavailable means that it must come again."""
        # While somebody is here, everything else waits a moment.
        with self._intake.breath.door():
            return await self._take(arrival)

    async def _take(self, arrival: Arrival) -> Taken:
        principal: Principal | None = None
        try:
            async with self._db.transaction() as tx:
                # Almost everybody is known, and one transaction is enough for them.
                principal = await self._keeper.recognised(tx, arrival)
                if principal is not None:
                    return await self._write(tx, arrival, principal)
            entry = await self._keeper.admit(arrival)
            if isinstance(entry, Refused):
                return Taken("refused", entry.say)
            principal = entry.principal
            if isinstance(entry, Paired):
                await self._say(arrival, principal, entry.say, "paired")
                return Taken("paired", entry.say)
            async with self._db.transaction() as tx:
                return await self._write(tx, arrival, principal)
        except Conflict:
            # It was kept before, when nothing was to be done about it, like what a bridge's history told.
            return Taken("duplicate")
        except (BadInput, Forbidden, TooMany) as error:
            if principal is None:
                raise
            kind = "refused" if not isinstance(error, TooMany) else "too-many"
            await self._say(arrival, principal, f"I did not take this. {error}", kind)
            return Taken("refused")

    async def _write(self, tx: Connection, arrival: Arrival, principal: Principal) -> Taken:
        if arrival.press is not None:
            return await self._press(tx, arrival, principal)
        incoming = await _incoming(tx, arrival, principal)
        if arrival.silent:
            kept = await intake.keep(tx, incoming)
            if kept and arrival.edits is not None:
                await _stop_for(tx, incoming, arrival.edits)
            return Taken("stored" if kept else "duplicate")
        self._intake.check(incoming)
        if arrival.edits is not None and (noted := await self._only_noted(tx, incoming, arrival.edits)):
            return noted
        receipt = await self._intake.write(tx, incoming)
        if receipt.duplicate:
            return Taken("duplicate", receipt=receipt)
        if arrival.edits is not None:
            await _stop_for(tx, incoming, arrival.edits, receipt)
        return Taken("taken", receipt=receipt)

    async def _only_noted(self, tx: Connection, incoming: Incoming, key: str) -> Taken | None:
        """What became of an edit that asks for nothing: of no word, or of what was done long ago; None for others."""
        thread = await conversations.thread_on(tx, incoming.channel, incoming.thread)
        earlier = None if thread is None else await edits.before(tx, thread.id, incoming.channel, key)
        if thread is None or earlier is None:
            return None
        if earlier.text in (incoming.text, worded(incoming)) and _files(earlier.sources) == _files(_sources(incoming)):
            # Providers also say so when something changed that nobody here sees: reactions, a preview of a link.
            return Taken("duplicate")
        if earlier.done_minutes_ago is None or earlier.done_minutes_ago < LATE_MINUTES:
            return None
        if not await intake.keep(tx, incoming):
            return Taken("duplicate")
        # Once a minute: edits are counted by nobody.
        key = f"late-edit:{thread.id}:{await outbox.minute(tx)}"
        await outbox.write(tx, thread.id, TOO_LATE, external_id=key, pulled=self._pulled, meta={"notice": "late-edit"})
        return Taken("stored")

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
            if not thread.is_open_to(principal):
                return
            key = f"{kind}:{arrival.external_id}"
            if kind == "too-many":
                key = f"{kind}:{principal.id}:{await outbox.minute(tx)}"
            await outbox.write(tx, thread.id, text, external_id=key, pulled=self._pulled, meta={"notice": kind})


def _thread(arrival: Arrival, principal: Principal) -> str:
    return str(principal.id) if arrival.thread is None else arrival.thread


def _sources(incoming: Incoming) -> list[dict[str, Any]]:
    return [file.source for file in incoming.files if isinstance(file, RemoteFile)]


def _files(sources: list[dict[str, Any]]) -> list[Any]:
    """What files are recognised by: some providers give one file several names, and one that is its own."""
    return [source.get("unique_id") or source for source in sources]


async def _incoming(tx: Connection, arrival: Arrival, principal: Principal) -> Incoming:
    meta = {**arrival.meta, **await _quote(tx, arrival, _thread(arrival, principal))}
    return Incoming(
        channel=arrival.channel,
        thread=_thread(arrival, principal),
        external_id=arrival.external_id,
        text=str(storable(arrival.text.replace("\x00", ""))),
        principal=principal,
        files=arrival.files,
        meta=dict(storable(meta)),
    )


async def _quote(tx: Connection, arrival: Arrival, thread_name: str) -> dict[str, Any]:
    """What the message answers, in words, and whose they are: an id that a sender names may be of any conversation."""
    if arrival.reply_to is None:
        return _told(arrival) if arrival.quoted else {}
    thread = await conversations.thread_on(tx, arrival.channel, thread_name)
    reply = await deliveries.reply_of(tx, arrival.channel, arrival.reply_to)
    if thread is not None and reply is not None and reply.thread_id == thread.id:
        return _repeated(arrival, reply.text, reply.meta.get("sources", []))
    said = None
    if thread is not None:
        said = await conversations.said_with_key(tx, thread.id, arrival.channel, arrival.reply_to)
    if said is not None:
        files = await conversations.attachments(tx, [said.id])
        return _repeated(arrival, said.text, sources_of(said, files))
    return _told(arrival) if arrival.quoted else {"reply_to": arrival.reply_to}


def _repeated(arrival: Arrival, text: str, sources: Iterable[str]) -> dict[str, Any]:
    """Words of this conversation; those that were others' stay others'."""
    brought = list(dict.fromkeys([*arrival.meta.get("sources", []), *sources]))
    quoted = {"reply_to": arrival.reply_to, "quoted": text[:LONGEST_QUOTE]}
    return quoted | ({"sources": brought} if brought else {})


def _told(arrival: Arrival) -> dict[str, Any]:
    """Words that only the provider knows taint the turn."""
    quoted = arrival.quoted.replace("\x00", "")[:LONGEST_QUOTE]
    sources = list(dict.fromkeys([*arrival.meta.get("sources", []), "a quoted message"]))
    return {"reply_to": arrival.reply_to, "quoted": quoted, "sources": sources}


async def _stop_for(tx: Connection, incoming: Incoming, key: str, newer: Receipt | None = None) -> None:
    """What was being done for the message that was edited or taken back is stopped: its new words count."""
    thread = await conversations.thread_on(tx, incoming.channel, incoming.thread)
    for job in [] if thread is None else await jobs.open_in_thread(tx, thread.id):
        mine = newer is not None and job.id == newer.job_id
        if not mine and await conversations.has_key(tx, job.message_id, key):
            await jobs.cancel_if_open(tx, job.id)
