"""Replies that could not be delivered: given up, listed, and the owner told elsewhere."""

from __future__ import annotations

from collections.abc import Collection

from laneway.domain.conversation import PULLED
from laneway.domain.ids import new_id
from laneway.domain.judgement import OutboxRow
from laneway.store import notices, outbox
from laneway.store.database import Connection


async def give_up(tx: Connection, row: OutboxRow, worker: str, error: str, pulled: Collection[str] = PULLED) -> None:
    """The reply is listed as undeliverable and the owner knows."""
    if await outbox.undeliverable(tx, row, worker, error):
        await tell(tx, row, error, pulled)


async def tell(tx: Connection, row: OutboxRow, error: str, pulled: Collection[str] = PULLED) -> None:
    """The owner has been told, in another thread; a notice that did not arrive is only listed."""
    if "notice" in row.meta:
        return
    said = row.text if len(row.text) <= 200 else f"{row.text[:200]}…"
    text = (
        f"A reply on {row.channel} to {row.address or row.thread_external_id} could not be delivered: {error}\n"
        f"It said: {said}\nTo try it again: `laneway outbox retry {row.id}`."
    )
    # Each giving up is told: whoever tried it again wants to know.
    key = f"undeliverable:{row.id}:{new_id()}"
    await notices.tell_owner(tx, text, key=key, kind="reply.undeliverable", pulled=pulled, not_in=row.thread_id)
