"""Approvals: listed, answered and asked again; permissions: listed and taken back."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from laneway.domain.judgement import ApprovalState
from laneway.errors import BadInput, Conflict
from laneway.store import approvals, permissions
from laneway.store.again import ask_again
from laneway.web.gateway import Here, Me
from laneway.web.shapes import ApprovalShape, Listing, Page, PermissionShape, ReceiptShape, paged

router = APIRouter(tags=["approvals"])
ANSWERS = {"approve": ApprovalState.APPROVED, "reject": ApprovalState.REJECTED}


class ApprovalListing(Listing):
    state: ApprovalState | None = Field(None, description="Only in this state.")
    before: UUID | None = Field(None, description="Only older than this one.")


class PermissionListing(Listing):
    before: UUID | None = Field(None, description="Only older than this one.")


class ApprovalAnswer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    answer: Literal["approve", "reject"]
    choice: str | None = Field(None, description="The label of the choice made, where the question offers some.")
    always: bool = Field(False, description="With `approve`: exactly this is allowed in this thread from now on.")


@router.get("/approvals", summary="List approvals, newest first")
async def listed(here: Here, which: Annotated[ApprovalListing, Query()]) -> Page[ApprovalShape]:
    async with here.app.db.transaction() as tx:
        found = await approvals.page(tx, state=which.state, limit=which.one_more, before=which.before)
    return paged(ApprovalShape, found, which)


@router.post("/approvals/{approval_id}", summary="Say yes or no to exactly this action, or choose what was meant")
async def answer(here: Here, me: Me, approval_id: UUID, given: ApprovalAnswer) -> ApprovalShape:
    """The first answer counts, and the waiting job goes on with it."""
    if given.always and given.answer != "approve":
        raise BadInput("`always` goes with `approve` only.", hint="Leave it out.")
    async with here.app.db.transaction() as tx:
        answered = await approvals.answer(tx, approval_id, ANSWERS[given.answer], me, given.choice)
        if given.always and answered.state is ApprovalState.APPROVED:
            await permissions.give(tx, answered, me.id)
    if answered.state is ApprovalState.EXPIRED:
        hint = f"POST /approvals/{approval_id}/again (`laneway approve {approval_id} --again`) asks the same again."
        raise Conflict(f"Approval {approval_id} has expired.", hint=hint)
    return ApprovalShape.model_validate(answered)


@router.post(
    "/approvals/{approval_id}/again", status_code=202, summary="Be asked the same again, after it was too late"
)
async def again(here: Here, me: Me, approval_id: UUID) -> ReceiptShape:
    """A new job asks for exactly the same action; no model is called for that."""
    async with here.app.db.transaction() as tx:
        return ReceiptShape.model_validate(await ask_again(tx, approval_id, me))


@router.get("/permissions", summary="List what is always allowed, newest first")
async def permitted(here: Here, which: Annotated[PermissionListing, Query()]) -> Page[PermissionShape]:
    async with here.app.db.transaction() as tx:
        found = await permissions.page(tx, limit=which.one_more, before=which.before)
    return paged(PermissionShape, found, which)


@router.delete("/permissions/{permission_id}", summary="Be asked again from now on")
async def removed(here: Here, me: Me, permission_id: UUID) -> PermissionShape:
    async with here.app.db.transaction() as tx:
        return PermissionShape.model_validate(await permissions.remove(tx, permission_id, me.id))
