"""What a request is about: whose workflow, which one, whether it was sent along, and what was offered before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID

from laneway.domain.conversation import Author, Role
from laneway.domain.workflow import Cause, PatchKind, Workflow, checked_tag
from laneway.engine.running import current_run
from laneway.engine.steps import Steps
from laneway.errors import BadInput, Conflict, Forbidden, NotFound
from laneway.lanes.contract import Request
from laneway.lanes.workflow.document import equal
from laneway.lanes.workflow.drafting import Scene
from laneway.lanes.workflow.patches import Patches
from laneway.lanes.workflow.preview import changes_between
from laneway.lanes.workflow.refusing import Rejected
from laneway.lanes.workflow.trying import checked, normalised
from laneway.store import conversations, principals, workflows
from laneway.store.database import Connection, Database

MOST_SEEN = 100
"""Workflows of one owner that a request is read against."""
LAST_REPLIES = 20
MAIN = "main"
QUEUE = "redis"


class Scenes:
    """Reads the surroundings of a request; a workflow sent along that is new, or was changed, is imported."""

    def __init__(self, db: Database, steps: Steps, patches: Patches) -> None:
        self._db, self._steps, self._patches = db, steps, patches

    async def of(self, request: Request) -> Scene:
        """The scene as it is when the request begins; Conflict if what was sent is not what is stored."""

        async def look() -> dict[str, Any]:
            try:
                return await self._look(request)
            except Rejected as error:
                return {"rejected": error.findings}
            except (Conflict, NotFound, Forbidden, BadInput) as error:
                return {"error": error.code, "message": error.message, "hint": error.hint}

        found = await self._steps.step("scene", look)
        if "rejected" in found:
            raise Rejected(found["rejected"])
        if "error" in found:
            kinds: dict[str, Callable[..., Exception]] = {one.code: one for one in (Conflict, NotFound, Forbidden)}
            raise kinds.get(found["error"], BadInput)(found["message"], hint=found["hint"])
        owner = UUID(found["owner"])
        async with self._db.transaction() as tx:
            # Read anew: what a model proposes is checked again on what is stored when it is stored.
            known = {one.tag: one for one in await workflows.page(tx, owner, limit=MOST_SEEN)}
        return Scene(owner, found["tag"], known, found["offer"])

    async def _look(self, request: Request) -> dict[str, Any]:
        runner = request.job.payload.get("runner") or {}
        async with self._db.transaction() as tx:
            await self._steps.hold(tx, current_run())
            owner = await _owner(tx, request, runner)
            tag = runner.get("workflow_tag") or request.job.payload.get("workflow")
            tag = checked_tag(str(tag)) if tag else None
            if runner.get("current_workflow") is not None:
                tag = tag or MAIN
                await self._sent(tx, request, owner, tag, runner["current_workflow"])
            offer = await _offer(tx, request)
        return {"owner": str(owner), "tag": tag, "offer": offer}

    async def _sent(self, tx: Connection, request: Request, owner: UUID, tag: str, sent: Any) -> None:
        """What was sent is what is stored, or is stored now: whoever sends it has made or changed it.

        Conflict if it is what the workflow was before: who sends that does not know of a change here.
        """
        document = await asyncio.to_thread(normalised, sent)
        stored = await workflows.stored(tx, owner, tag, lock=True)
        cause = Cause(
            request.message.principal_id or owner, request.message.text[:4000], request.message.id, request.job.id,
            once=f"{request.job.id}:import",
        )  # fmt: skip
        if stored is None:
            await asyncio.to_thread(checked, document)
            operations = [{"op": "replace", "path": "", "value": document}]
            proposal = await self._patches.proposed(None, tag, operations, "Imported with a request.")
            await self._patches.store(tx, proposal, cause, owner=owner, kind=PatchKind.IMPORT)
        elif not _alike(document, stored.document):
            await _check_is_newer(tx, stored, document)
            await asyncio.to_thread(checked, document)
            said = "; ".join(changes_between(stored.document, document)[:5])
            described = f"Changed by whoever sent it with a request: {said}"[:2000]
            await self._patches.put(tx, stored, document, cause, PatchKind.IMPORT, described)


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two documents are the same workflow; a map of nodes knows no order of them."""
    return equal(_in_order(one), _in_order(other))


def _in_order(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "nodes": sorted(document["nodes"], key=lambda node: str(node.get("id")))}


async def _check_is_newer(tx: Connection, stored: Workflow, document: dict[str, Any]) -> None:
    """Returns only if what was sent is none of the versions that are known here."""
    for one in await workflows.versions(tx, stored.id, limit=50):
        if _alike(one.document, document):
            raise Conflict(
                f"The workflow sent along is version {one.number} of `{stored.tag}`; "
                f"stored is version {stored.version}.",
                hint="Send the version that is stored, or leave current_workflow out.",
            )


async def _owner(tx: Connection, request: Request, runner: dict[str, Any]) -> UUID:
    """Whose workflow it is: the asking principal's, or the named one's where the asker may speak for others."""
    asking = await principals.by_id(tx, request.message.principal_id)
    if asking is None:
        raise Forbidden("Nobody is known to ask for this.", hint="Send it with a key.")
    named = runner.get("workflow_owner") or (request.job.payload.get("patch") or {}).get("owner")
    # The queue's door has already made the job act as whoever its owner is among us.
    if not named or str(named) in (str(asking.id), asking.name) or request.message.channel == QUEUE:
        return asking.id
    if asking.role is not Role.OWNER:
        raise Forbidden(f"You may not change the workflows of `{str(named)[:60]}`.", hint="Ask their owner.")
    return (await principals.only_one(tx, str(named))).id


async def _offer(tx: Connection, request: Request) -> dict[str, Any] | None:
    """What the last reply of the thread that can be made permanent was: offered so, or only done once."""
    said = await conversations.messages(tx, thread_id=request.job.thread_id, limit=LAST_REPLIES)
    for message in said:
        found = message.meta.get("offer") or message.meta.get("lasting")
        if message.author is Author.ASSISTANT and isinstance(found, dict):
            return found
    return None
