"""Workflows: made, looked at, changed by patches, and every change taken back again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

from fastapi import APIRouter, Query, Request, Response

from laneway.domain.conversation import Incoming, Principal, Role
from laneway.domain.workflow import Cause, Patch, Workflow, checked_tag
from laneway.errors import BadInput, Conflict, Forbidden, NotFound
from laneway.lanes.workflow import schema
from laneway.lanes.workflow.diagram import mermaid
from laneway.lanes.workflow.operations import between
from laneway.lanes.workflow.patches import Proposal
from laneway.lanes.workflow.preview import changes_between
from laneway.lanes.workflow.tool import JUDGED
from laneway.lanes.workflow.trying import normalised
from laneway.lanes.workflow.yaml_text import to_yaml
from laneway.store import principals, workflow_patches, workflows
from laneway.store.database import Connection
from laneway.web.auth import open_to
from laneway.web.gateway import Gateway, Here, Me
from laneway.web.shapes import Page, ReceiptShape, paged, shaped
from laneway.web.workflow_bodies import YAML, body_of, sent
from laneway.web.workflow_shapes import (
    Changed,
    DiffShape,
    NumberListing,
    PatchPosted,
    PatchShape,
    PreviewShape,
    RollBack,
    VersionShape,
    VersionSummary,
    Which,
    WorkflowListing,
    WorkflowPosted,
    WorkflowPut,
    WorkflowShape,
    WorkflowSummary,
)

router = APIRouter(tags=["workflows"])
_BOTH = open_to(Role.OPERATOR)
"""An operator reads its own workflows and proposes changes; they are stored by the owner's yes."""
Owner = Annotated[
    str | None, Query(max_length=200, description="Of this principal: id, address or name; yours if absent.")
]
Work = Callable[[Connection, Workflow, Cause], Awaitable[tuple[Workflow, Patch]]]


@router.get("/workflows/schema", summary="The JSON Schema of workflows", openapi_extra=_BOTH)
async def the_schema() -> dict[str, Any]:
    return schema.schema()


@router.get("/workflows", summary="List workflows, newest first", openapi_extra=_BOTH)
async def listed(here: Here, me: Me, which: Annotated[WorkflowListing, Query()]) -> Page[WorkflowSummary]:
    async with here.app.db.transaction() as tx:
        owner = await _owner(tx, me, which.owner)
        found = await workflows.page(tx, owner, limit=which.one_more, before=which.before, removed=which.removed)
    return paged(WorkflowSummary, found, which, by="seq")


@router.post(
    "/workflows", status_code=201, summary="Make a workflow, or import one", openapi_extra=body_of(WorkflowPosted)
)
async def create(
    here: Here, me: Me, request: Request, owner: Owner = None,
    tag: Annotated[str | None, Query(max_length=80, description="For a YAML body that is the workflow alone.")] = None,
) -> Changed:  # fmt: skip
    """Its document passes every check first; a tag that is taken is a conflict."""
    posted = await sent(request, WorkflowPosted, tag=tag)
    document = normalised(posted.document)
    async with here.app.db.transaction() as tx:
        whose, tag = await _owner(tx, me, owner), checked_tag(posted.tag)
        if await workflows.stored(tx, whose, tag) is not None:
            raise Conflict(f"There is a workflow `{tag}` already.", hint="Patch it, or choose another tag.")
        whole = [{"op": "replace", "path": "", "value": document}]
        proposal = await here.app.workflows.patches.proposed(None, tag, whole, posted.description)
        made = await here.app.workflows.patches.store(tx, proposal, _cause(me), owner=whose)
    return _changed(*made)


@router.get("/workflows/{tag}", summary="One workflow as it is now", openapi_extra=_BOTH, response_model=WorkflowShape)
async def one(
    here: Here, me: Me, tag: str, owner: Owner = None,
    form: Annotated[
        Literal["json", "yaml"], Query(alias="format", description="`yaml` gives the document alone, to be imported.")
    ] = "json",
) -> WorkflowShape | Response:  # fmt: skip
    async with here.app.db.transaction() as tx:
        found = await owned_workflow(tx, me, tag, owner)
    if form == "yaml":
        return Response(to_yaml(found.document), media_type=YAML)
    return WorkflowShape.model_validate(found)


@router.put("/workflows/{tag}", summary="Replace the whole document of a workflow", openapi_extra=body_of(WorkflowPut))
async def replaced(
    here: Here, me: Me, tag: str, request: Request, owner: Owner = None,
    base_version: Annotated[
        int | None, Query(ge=1, lt=2**31, description="For a YAML body that is the workflow alone.")
    ] = None,
) -> Changed:  # fmt: skip
    """A new version with this document; refused if the workflow is no longer at `base_version`."""
    posted = await sent(request, WorkflowPut, base_version=base_version)
    document = normalised(posted.document)
    async with here.app.db.transaction() as tx:
        found = await owned_workflow(tx, me, tag, owner, lock=True)
        if found.version != posted.base_version:
            raise _elsewhere(tag, found, posted.base_version)
        operations = await asyncio.to_thread(between, found.document, document)
        proposal = await here.app.workflows.patches.proposed(
            found, found.tag, operations, posted.description or "The document was replaced."
        )
        return await _tried_or_stored(here, tx, proposal, _cause(me), dry_run=posted.dry_run)


@router.delete("/workflows/{tag}", summary="Remove a workflow")
async def remove(here: Here, me: Me, tag: str, owner: Owner = None) -> WorkflowShape:
    """It starts no more and its tag is free; its runs can still be looked into by their ids."""
    async with here.app.db.transaction() as tx:
        found = await owned_workflow(tx, me, tag, owner, lock=True)
        await workflows.remove(tx, found, me.id)
    return WorkflowShape.model_validate(found)


@router.post("/workflows/{tag}/restore", summary="Bring back the workflow that was removed last under a tag")
async def restore(here: Here, me: Me, tag: str, owner: Owner = None) -> WorkflowShape:
    """It is what it was, with its history and its triggers; where it went because its making was undone, that is
    redone. A tag that is taken is a conflict."""
    async with here.app.db.transaction() as tx:
        whose = await _owner(tx, me, owner)
        found = await here.app.workflows.patches.restore(tx, whose, checked_tag(tag), _cause(me))
    return WorkflowShape.model_validate(found)


@router.post("/workflows/{tag}/patch", summary="Change a workflow by JSON Patch", openapi_extra=_BOTH)
@router.patch("/workflows/{tag}/patch", summary="The same as POST", openapi_extra=_BOTH)
async def patch(
    here: Here, me: Me, response: Response, tag: str, posted: PatchPosted, owner: Owner = None
) -> Changed | ReceiptShape:
    """All operations or none, checked before anything is stored. With `dry_run` the verdict, the preview and the
    recorded runs that would have ended differently, and nothing is stored. With `ask` it is shown in your thread and
    stored after a yes. A tag that no workflow has yet makes a new one."""
    async with here.app.db.transaction() as tx:
        whose = await _owner(tx, me, owner)
        found = await workflows.stored(tx, whose, checked_tag(tag), lock=not posted.dry_run)
        if posted.base_version is not None and posted.base_version != (found.version if found else 0):
            raise _elsewhere(tag, found, posted.base_version)
        proposal = await here.app.workflows.patches.proposed(found, tag, posted.operations, posted.description)
        if posted.valid_until is not None and posted.valid_until <= here.clock.now():
            raise BadInput("`valid_until` is past already.", hint="Name a later time.")
        if posted.dry_run or not posted.ask:
            if me.role is not Role.OWNER and not posted.dry_run:
                raise Forbidden("A change is stored by the owner's yes.", hint="Send it with `ask`, or try `dry_run`.")
            cause = _cause(me, posted.valid_until)
            return await _tried_or_stored(here, tx, proposal, cause, dry_run=posted.dry_run, owner=whose)
    response.status_code = 202
    return await _asked(here, me, tag, posted, whose)


@router.get("/workflows/{tag}/versions", summary="List the versions of a workflow, newest first", openapi_extra=_BOTH)
async def versions(here: Here, me: Me, tag: str, which: Annotated[NumberListing, Query()]) -> Page[VersionSummary]:
    async with here.app.db.transaction() as tx:
        found = await owned_workflow(tx, me, tag, which.owner)
        rows = await workflows.versions(tx, found.id, limit=which.one_more, before=which.before)
    items = shaped(VersionSummary, rows[: which.limit])
    return Page(items=items, next=items[-1].number if len(rows) > which.limit else None)


@router.get("/workflows/{tag}/versions/{number}", summary="A workflow as it was at a version", openapi_extra=_BOTH)
async def version(here: Here, me: Me, tag: str, number: int, owner: Owner = None) -> VersionShape:
    async with here.app.db.transaction() as tx:
        found = await owned_workflow(tx, me, tag, owner)
        return VersionShape.model_validate(await workflows.version(tx, found.id, _small(number)))


@router.get("/workflows/{tag}/history", summary="List the patches of a workflow, newest first", openapi_extra=_BOTH)
async def history(here: Here, me: Me, tag: str, which: Annotated[NumberListing, Query()]) -> Page[PatchShape]:
    async with here.app.db.transaction() as tx:
        found = await owned_workflow(tx, me, tag, which.owner)
        rows = await workflow_patches.page(tx, found.id, limit=which.one_more, before=which.before)
    return paged(PatchShape, rows, which, by="seq")


@router.get("/workflows/{tag}/diff", summary="What differs between two versions", openapi_extra=_BOTH)
async def diff(
    here: Here, me: Me, tag: str, older: Annotated[int, Query(ge=0, lt=2**31)],
    newer: Annotated[int | None, Query(ge=0, lt=2**31, description="The newest if absent.")] = None,
    owner: Owner = None,
) -> DiffShape:  # fmt: skip
    async with here.app.db.transaction() as tx:
        found = await owned_workflow(tx, me, tag, owner)
        until = found.version if newer is None else newer
        before = await workflows.document_at(tx, found.id, older)
        after = await workflows.document_at(tx, found.id, until)
    return DiffShape(
        older=older, newer=until, changes=changes_between(before, after), operations=between(before, after),
        diagram=mermaid(after, before if before["nodes"] else None) if after["nodes"] else "",
    )  # fmt: skip


@router.get("/workflows/{tag}/diagram", summary="A workflow as a Mermaid diagram", openapi_extra=_BOTH)
async def drawn(here: Here, me: Me, tag: str, owner: Owner = None) -> Response:
    async with here.app.db.transaction() as tx:
        found = await owned_workflow(tx, me, tag, owner)
    return Response(mermaid(found.document), media_type="text/plain; charset=utf-8")


@router.post("/workflows/{tag}/undo", summary="Take one patch back; later ones stay")
async def undo(here: Here, me: Me, tag: str, which: Which, owner: Owner = None) -> Changed:
    """Refused, with what stands in the way, if a later patch changed the same place."""
    return await _turned(here, me, tag, owner, lambda tx, w, c: here.app.workflows.patches.undo(tx, w, which.patch, c))


@router.post("/workflows/{tag}/redo", summary="Make a patch hold again that was undone")
async def redo(here: Here, me: Me, tag: str, which: Which, owner: Owner = None) -> Changed:
    """Where the patch that made the workflow was undone, the workflow is there again."""
    patches, cause = here.app.workflows.patches, _cause(me)
    async with here.app.db.transaction() as tx:
        whose, name = await _owner(tx, me, owner), checked_tag(tag)
        found = await workflows.stored(tx, whose, name, lock=True)
        if found is None:
            return _changed(*await patches.remake(tx, whose, name, cause))
        return _changed(*await patches.redo(tx, found, which.patch, cause))


@router.post("/workflows/{tag}/rollback", summary="Make a workflow what it was at a version, as a new version")
async def roll_back(here: Here, me: Me, tag: str, to: RollBack, owner: Owner = None) -> Changed:
    patches = here.app.workflows.patches
    return await _turned(here, me, tag, owner, lambda tx, w, c: patches.roll_back(tx, w, to.version, c))


async def _turned(here: Gateway, me: Principal, tag: str, owner: str | None, work: Work) -> Changed:
    async with here.app.db.transaction() as tx:
        found = await owned_workflow(tx, me, tag, owner, lock=True)
        return _changed(*await work(tx, found, _cause(me)))


async def _tried_or_stored(
    here: Gateway, tx: Connection, proposal: Proposal, cause: Cause, *, dry_run: bool, owner: UUID | None = None
) -> Changed:
    preview = await here.app.workflows.previews.of(tx, proposal)
    shown = PreviewShape(**preview.document())
    if dry_run:
        return Changed(stored=False, preview=shown, document=proposal.after)
    made, stored = await here.app.workflows.patches.store(tx, proposal, cause, owner=owner)
    return Changed(
        stored=True, workflow=WorkflowShape.model_validate(made), patch=PatchShape.model_validate(stored), preview=shown
    )


async def _asked(here: Gateway, me: Principal, tag: str, posted: PatchPosted, whose: UUID) -> ReceiptShape:
    """A job of the workflow lane shows the change and waits for the answer."""
    until = posted.valid_until.isoformat() if posted.valid_until else None
    described = posted.description or f"A patch of {len(posted.operations)} operations."
    change = {"workflow_tag": tag, "operations": posted.operations, "description": described, "valid_until": until}
    thread = "main" if me.role is Role.OWNER else f"workflows-{me.id}"
    incoming = Incoming(
        "http", thread, f"patch:{uuid4().hex}", described, me, lane="workflow",
        payload={"patch": change | {"owner": str(whose)}, "classification": JUDGED},
    )  # fmt: skip
    return ReceiptShape.model_validate(await here.app.intake.receive(incoming))


def _changed(workflow: Workflow, patch: Patch) -> Changed:
    return Changed(stored=True, workflow=WorkflowShape.model_validate(workflow), patch=PatchShape.model_validate(patch))


def _cause(me: Principal, until: datetime | None = None) -> Cause:
    return Cause(me.id, approved_by=me.id, valid_until=until)


async def _owner(tx: Connection, me: Principal, named: str | None) -> UUID:
    """Whose workflows are meant: one's own, or those of the principal named."""
    if named is None:
        return me.id
    if me.role is not Role.OWNER:
        raise Forbidden("You see your own workflows only.", hint="Leave `owner` out.")
    return (await principals.only_one(tx, named)).id


async def owned_workflow(tx: Connection, me: Principal, tag: str, owner: str | None, *, lock: bool = False) -> Workflow:
    return await workflows.get(tx, await _owner(tx, me, owner), checked_tag(tag), lock=lock)


def _elsewhere(tag: str, found: Workflow | None, version: int) -> Conflict:
    now = f"is at version {found.version}" if found else "does not exist yet"
    return Conflict(
        f"Workflow `{tag}` {now}; this change was made for version {version}.",
        hint="Look at what changed in between and make the change anew.",
    )


def _small(number: int) -> int:
    if not 0 < number < 2**31:
        raise NotFound(f"The workflow has no version {number}.", hint="GET /workflows/TAG/versions lists them.")
    return number
