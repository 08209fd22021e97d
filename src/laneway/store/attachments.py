"""What has become of attachments: fetched from their provider, and read."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from laneway.domain.conversation import Attachment
from laneway.domain.storable import storable
from laneway.store.database import Connection
from laneway.store.rows import Rows, columns


async def unread(tx: Connection, message_id: UUID) -> list[Attachment]:
    """The attachments of a message that nobody has read yet, in their order."""
    return await Rows(tx, Attachment).fetch_all(
        f"SELECT {columns(Attachment)} FROM attachments WHERE message_id = %s AND NOT meta ? 'read' ORDER BY id",
        (message_id,),
    )


async def fetched(tx: Connection, attachment_id: UUID, ref: str, size: int) -> None:
    """The original is ours; its provider is not asked again."""
    await tx.execute("UPDATE attachments SET artifact = %s, size = %s WHERE id = %s", (ref, size, attachment_id))


async def enriched(
    tx: Connection, attachment_id: UUID, *, kind: str, mime: str, preview: str, meta: dict[str, Any]
) -> None:
    """What was found in it is on record, for good: `meta.read` says so."""
    await tx.execute(
        "UPDATE attachments SET kind = %s, mime = %s, preview = %s, meta = meta || %s "
        "WHERE id = %s AND NOT meta ? 'read'",
        (kind, mime, storable(preview), Jsonb(storable(meta | {"read": True})), attachment_id),
    )
