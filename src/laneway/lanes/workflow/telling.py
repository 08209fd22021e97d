"""Tells the owner of a workflow what became of a patch, where the patch was asked for."""

from __future__ import annotations

from collections.abc import Collection
from shlex import quote
from uuid import UUID

from laneway.domain.conversation import Message, Role
from laneway.domain.workflow import Patch, PatchKind
from laneway.store import conversations, notices, outbox, principals, workflow_patches
from laneway.store.database import Connection


async def tell(tx: Connection, patch: Patch, text: str, *, key: str, pulled: Collection[str]) -> None:
    """The text stands in the thread that the patch came from, else where the owner reads; once per `key`."""
    asked = await _message(tx, patch)
    if asked is None or not await notices.is_read(tx, asked.thread_id, list(Role)):
        await notices.tell_owner(tx, text, key=key, kind="workflow", pulled=pulled)
        return
    meta = {"notice": "workflow", "patch": str(patch.id)}
    await outbox.write(tx, asked.thread_id, text, external_id=f"notice:{key}", pulled=pulled, meta=meta)


async def owner_option(tx: Connection, principal_id: UUID) -> str:
    """What a command about a workflow of this principal needs when the owner types it; nothing for the owner's own."""
    whose = await principals.by_id(tx, principal_id)
    return "" if whose is None or whose.role is Role.OWNER else f" --owner {quote(whose.name)}"


async def _message(tx: Connection, patch: Patch) -> Message | None:
    """The message that asked for the patch, or for the one it takes back."""
    if patch.message_id is not None:
        return await conversations.message(tx, patch.message_id)
    if patch.undoes is not None and patch.kind is not PatchKind.PATCH:
        return await _message(tx, await workflow_patches.get(tx, patch.workflow_id, patch.undoes))
    return None
