"""The way of a patch: tried and checked on the version somebody saw, stored on exactly that one, taken back later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from laneway.domain.workflow import (
    Cause,
    Document,
    Operations,
    Patch,
    PatchKind,
    Workflow,
    checked_tag,
)
from laneway.errors import Conflict, NotFound
from laneway.lanes.workflow.merging import merged
from laneway.lanes.workflow.operations import between, same
from laneway.lanes.workflow.refusing import MergeConflict, Rejected, refuse
from laneway.lanes.workflow.secrets import secrets, secrets_in_patch
from laneway.lanes.workflow.trying import checked, tried
from laneway.store import workflow_patches, workflows
from laneway.store.database import Connection

Changed = Callable[[Connection, Workflow, Patch], Awaitable[None]]
"""Told of every new version, inside the transaction that stores it."""


@dataclass(frozen=True)
class Proposal:
    """A change that passed every check and is not stored."""

    tag: str
    base_version: int
    """The version it was made for; 0 makes a new workflow."""
    operations: Operations
    inverse: Operations
    description: str
    before: Document
    after: Document
    workflow: Workflow | None


class Patches:
    """Changes workflows; `changed` hears of every new version."""

    def __init__(self, *changed: Changed) -> None:
        self._changed = changed

    def propose(self, workflow: Workflow | None, tag: str, operations: Operations, description: str) -> Proposal:
        """The change as it would be stored, or Rejected with everything that is wrong with it."""
        before = workflows.EMPTY if workflow is None else workflow.document
        after, plain = tried(before, operations)
        refuse([*secrets({"description": description, "tag": tag}), *secrets_in_patch(operations)])
        if same(before, after):
            raise Rejected([_no_change(tag)])
        base = 0 if workflow is None else workflow.version
        return Proposal(
            checked_tag(tag), base, plain, between(after, before), description, before, after, workflow
        )  # fmt: skip

    async def proposed(self, workflow: Workflow | None, tag: str, operations: Operations, description: str) -> Proposal:
        """The same, and the loop goes on meanwhile: a large document takes a second."""
        return await asyncio.to_thread(self.propose, workflow, tag, operations, description)

    async def store(
        self, tx: Connection, proposal: Proposal, cause: Cause, *, owner: UUID | None = None,
        kind: PatchKind = PatchKind.PATCH,
    ) -> tuple[Workflow, Patch]:  # fmt: skip
        """The proposal is the next version; Conflict if the workflow is no longer what it was made for."""
        if cause.once and (earlier := await workflow_patches.under(tx, cause.once)):
            found = await workflows.by_id(tx, earlier.workflow_id)
            assert found is not None
            return found, earlier
        if proposal.workflow is None:
            made = await workflows.create(
                tx, proposal.tag, proposal.after, proposal.operations, cause, owner=owner,
                kind=PatchKind.CREATE if kind is PatchKind.PATCH else kind, description=proposal.description,
            )  # fmt: skip
        else:
            made = await workflows.add_version(
                tx, proposal.workflow, proposal.after, proposal.operations, proposal.inverse, cause, kind=kind,
                description=proposal.description,
            )  # fmt: skip
        return await self._told(tx, *made)

    async def put(
        self, tx: Connection, workflow: Workflow, document: Document, cause: Cause, kind: PatchKind, description: str,
        undoes: UUID | None = None,
    ) -> tuple[Workflow, Patch]:  # fmt: skip
        """The workflow has this whole document as its next version."""
        forth = await asyncio.to_thread(between, workflow.document, document)
        back = await asyncio.to_thread(between, document, workflow.document)
        made = await workflows.add_version(
            tx, workflow, document, forth, back, cause, kind=kind, description=description, undoes=undoes
        )
        return await self._told(tx, *made)

    async def undo(
        self, tx: Connection, workflow: Workflow, patch_id: UUID | None, cause: Cause, *,
        kind: PatchKind = PatchKind.UNDO,
    ) -> tuple[Workflow, Patch]:  # fmt: skip
        """One patch is taken back and all later ones stay; MergeConflict names what stands in the way."""
        patch = await self._in_force(tx, workflow, patch_id)
        if patch.base_version == 0:
            return await self._unmade(tx, workflow, patch, cause, kind)
        document = await self._turned(tx, workflow, patch, "undone")
        described = undone(patch)
        changed, made = await self.put(tx, workflow, document, cause, kind, described, undoes=patch.id)
        await workflow_patches.mark_undone(tx, patch.id, made.id)
        if patch.undoes is not None:
            # What takes back an undoing has made the first change again.
            await workflow_patches.mark_undone(tx, patch.undoes, None)
        return changed, made

    async def _unmade(
        self, tx: Connection, workflow: Workflow, patch: Patch, cause: Cause, kind: PatchKind
    ) -> tuple[Workflow, Patch]:
        """The workflow is removed, as if it had never been made; what was changed since stands in the way."""
        await self._check_unmade(tx, workflow, patch)
        described = undone(patch)
        changed, made = await self.put(tx, workflow, workflows.EMPTY, cause, kind, described, undoes=patch.id)
        await workflow_patches.mark_undone(tx, patch.id, made.id)
        await workflows.remove(tx, changed, cause.principal_id)
        return changed, made

    async def _check_unmade(self, tx: Connection, workflow: Workflow, patch: Patch) -> None:
        """Returns only if the workflow is as it was made."""
        first = await workflows.document_at(tx, workflow.id, patch.version)
        if not same(first, workflow.document):
            later = await self._later(tx, workflow, patch)
            raise MergeConflict(f"Workflow `{workflow.tag}` cannot be unmade", ["it has been changed since"], later)

    async def propose_undo(self, tx: Connection, workflow: Workflow, patch_id: UUID) -> Proposal:
        """What taking back this patch would change; MergeConflict names what stands in the way."""
        patch = await self._in_force(tx, workflow, patch_id)
        if patch.base_version == 0:
            await self._check_unmade(tx, workflow, patch)
            after = workflows.EMPTY
        else:
            after = await self._turned(tx, workflow, patch, "undone")
        before = workflow.document
        described = undone(patch)
        return Proposal(
            workflow.tag, workflow.version, between(before, after), between(after, before), described, before, after,
            workflow,
        )  # fmt: skip

    async def _in_force(self, tx: Connection, workflow: Workflow, patch_id: UUID | None) -> Patch:
        patch = await self._wanted(tx, workflow, patch_id)
        if patch.undone_by is not None:
            raise Conflict(f"Patch {patch.id} is undone already.", hint="`laneway workflow redo` makes it again.")
        return patch

    async def redo(
        self, tx: Connection, workflow: Workflow, patch_id: UUID | None, cause: Cause
    ) -> tuple[Workflow, Patch]:
        """A patch that was undone holds again."""
        undoing = await self._undoing(tx, workflow, patch_id)
        assert undoing.undoes is not None
        first = await workflow_patches.get(tx, workflow.id, undoing.undoes)
        document = await self._turned(tx, workflow, undoing, "redone")
        described = f"Redone: {_called(first)}"
        changed, made = await self.put(tx, workflow, document, cause, PatchKind.REDO, described, undoes=undoing.id)
        await workflow_patches.mark_undone(tx, undoing.id, made.id)
        await workflow_patches.mark_undone(tx, first.id, None)
        return changed, made

    async def remake(self, tx: Connection, owner: UUID, tag: str, cause: Cause) -> tuple[Workflow, Patch]:
        """A workflow that went because its making was undone is made again, or NotFound."""
        removed = await workflows.last_removed(tx, owner, tag)
        if removed is None or not same(removed.document, workflows.EMPTY):
            hint = "`laneway workflow restore` brings it back." if removed else "`laneway workflow list` lists them."
            raise NotFound(f"There is no workflow `{tag[:80]}`.", hint=hint)
        return await self.redo(tx, await workflows.restore(tx, removed, cause.principal_id), None, cause)

    async def restore(self, tx: Connection, owner: UUID, tag: str, cause: Cause) -> Workflow:
        """What was removed last under this tag is there again; where its making was undone, that is redone."""
        removed = await workflows.last_removed(tx, owner, tag)
        if removed is None:
            raise NotFound(
                f"No workflow `{tag[:80]}` was removed.", hint="`laneway workflow list --removed` lists them."
            )
        if same(removed.document, workflows.EMPTY):
            return (await self.remake(tx, owner, tag, cause))[0]
        # The rules may have become stricter since it was stored.
        await asyncio.to_thread(checked, removed.document)
        return await workflows.restore(tx, removed, cause.principal_id)

    async def roll_back(self, tx: Connection, workflow: Workflow, number: int, cause: Cause) -> tuple[Workflow, Patch]:
        """The workflow is what it was at a version, as a new version."""
        then = await workflows.version(tx, workflow.id, number)
        if same(then.document, workflow.document):
            raise Conflict(f"Version {number} is what the workflow is now.", hint="There is nothing to roll back.")
        # The rules may have become stricter since that version was stored.
        await asyncio.to_thread(checked, then.document)
        described = f"Rolled back to version {number}."
        return await self.put(tx, workflow, then.document, cause, PatchKind.ROLLBACK, described)

    async def _wanted(self, tx: Connection, workflow: Workflow, patch_id: UUID | None) -> Patch:
        if patch_id is not None:
            return await workflow_patches.get(tx, workflow.id, patch_id)
        found = await workflow_patches.newest_in_force(tx, workflow.id)
        if found is None:
            raise Conflict(
                f"Workflow `{workflow.tag}` has no patch to undo.",
                hint="All its changes are undone, or it was imported: `laneway workflow history` shows them.",
            )
        return found

    async def _undoing(self, tx: Connection, workflow: Workflow, patch_id: UUID | None) -> Patch:
        """The undoing that is to be taken back: the last one, or that of the patch named."""
        if patch_id is None:
            found = await workflow_patches.last_undo(tx, workflow.id)
        else:
            named = await workflow_patches.get(tx, workflow.id, patch_id)
            found = None if named.undone_by is None else await workflow_patches.get(tx, workflow.id, named.undone_by)
        if found is None or found.undoes is None:
            raise Conflict(f"Workflow `{workflow.tag}` has nothing to redo.", hint="Only what was undone can be.")
        return found

    async def _turned(self, tx: Connection, workflow: Workflow, patch: Patch, how: str) -> Document:
        """The document without what the patch did to it."""
        left = await workflows.document_at(tx, workflow.id, patch.version)
        wanted = await workflows.document_at(tx, workflow.id, patch.base_version)
        result = await asyncio.to_thread(merged, workflow.document, left, wanted)
        what = f"Patch {patch.id} cannot be {how}"
        if not result.conflicts and not result.turned:
            raise Conflict(f"{what}: nothing of it is left in version {workflow.version}.")
        conflicts = result.conflicts or await asyncio.to_thread(_broken, result.document)
        if conflicts:
            raise MergeConflict(what, conflicts, await self._later(tx, workflow, patch))
        return result.document

    async def _later(self, tx: Connection, workflow: Workflow, patch: Patch) -> list[str]:
        since = await workflow_patches.since(tx, workflow.id, patch.version)
        return [f"version {one.version} ({one.description or one.kind})" for one in since[-5:]]

    async def _told(self, tx: Connection, workflow: Workflow, patch: Patch) -> tuple[Workflow, Patch]:
        for listener in self._changed:
            await listener(tx, workflow, patch)
        return workflow, patch


def _broken(document: Document) -> list[str]:
    """What the checks say of a document that was put together anew."""
    try:
        checked(document)
    except Rejected as error:
        return [str(one["message"]).rstrip(".") for one in error.findings]
    return []


def _no_change(tag: str) -> dict[str, str]:
    return {
        "reason": "no-change", "message": f"The patch leaves workflow `{tag}` as it is.",
        "repair": "Leave it out, or say what should be different.",
    }  # fmt: skip


def undone(patch: Patch) -> str:
    """The description of what takes a patch back."""
    return f"Undone: {_called(patch)}"


def _called(patch: Patch) -> str:
    """A patch by its own words, or by the version it made."""
    return patch.description.strip() or f"the change that made version {patch.version}."
