"""Gives attachments their words. Each is fetched once and read once; what cannot be read has a note that says so."""

from __future__ import annotations

from uuid import UUID

from laneway.channels.attachments.documents.contract import Unreadable
from laneway.channels.attachments.fetching import Fetching
from laneway.channels.attachments.kinds import Found, Kinds
from laneway.channels.attachments.sniff import Form, sniff
from laneway.domain.conversation import Attachment
from laneway.errors import NotFound
from laneway.store import artifacts, attachments, conversations
from laneway.store.artifacts import Artifacts, ShelfDown
from laneway.store.database import Database

COULD_NOT = "could not be read: "


class Enricher:
    """Reads the attachments of messages."""

    def __init__(self, db: Database, originals: Artifacts, fetching: Fetching, kinds: Kinds) -> None:
        self._db, self._originals, self._fetching, self._kinds = db, originals, fetching, kinds

    async def enrich(self, message_id: UUID) -> None:
        """Every attachment of the message has its words or its note; what was done before is not done again."""
        async with self._db.transaction() as tx:
            message = await conversations.message(tx, message_id)
            waiting = await attachments.unread(tx, message_id)
        for attachment in waiting:
            assert message is not None
            await self._finish(attachment, await self._found(attachment, message.channel))

    async def close(self) -> None:
        await self._kinds.close()

    async def _found(self, attachment: Attachment, channel: str) -> Found:
        form = Form("other", attachment.mime)
        try:
            content = await self._original(attachment, channel)
            form = sniff(content, attachment.name, attachment.mime)
            return await self._kinds.read(attachment, content, form)
        except Unreadable as error:
            note = str(error)
            return Found(attachment.kind, form.mime, COULD_NOT + note, {"note": note})

    async def _original(self, attachment: Attachment, channel: str) -> bytes:
        """The bytes, which are stored when they come from the provider for the first time."""
        if attachment.artifact is not None:
            return await self._stored(attachment.artifact)
        content = await self._fetching.fetch(channel, dict(attachment.meta.get("source", {})), attachment.size)
        place = await self._originals.lay(content)
        mime = sniff(content, attachment.name, attachment.mime).mime
        async with self._db.transaction() as tx:
            ref = await artifacts.record(tx, content, mime, place)
            await attachments.fetched(tx, attachment.id, ref, len(content))
        return content

    async def _stored(self, ref: str) -> bytes:
        try:
            return (await self._originals.read(ref)).content
        except NotFound as error:
            raise Unreadable("the stored copy is lost or damaged") from error
        except ShelfDown as error:
            raise Unreadable("the place it is stored in does not answer") from error

    async def _finish(self, attachment: Attachment, found: Found) -> None:
        meta = dict(found.meta)
        # The whole text of a long document is an artifact of its own.
        whole = found.text.encode(errors="replace")
        place = await self._originals.lay(whole) if whole else None
        async with self._db.transaction() as tx:
            if place is not None:
                meta["text"] = await artifacts.record(tx, whole, "text/plain; charset=utf-8", place)
            await attachments.enriched(
                tx, attachment.id, kind=found.kind, mime=found.mime, preview=found.preview, meta=meta
            )
