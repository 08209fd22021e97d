"""Approvals: listed and answered."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from laneway.domain.judgement import ApprovalState
from laneway.errors import Conflict
from laneway.store import approvals
from laneway.web.gateway import Here, Me
from laneway.web.shapes import ApprovalShape, Listing, Page, shaped

router = APIRouter(tags=["approvals"])
ANSWERS = {"approve": ApprovalState.APPROVED, "reject": ApprovalState.REJECTED}


class ApprovalListing(Listing):
    state: ApprovalState | None = Field(None, description="Only in this state.")
    before: UUID | None = Field(None, description="Only older than this one.")


class ApprovalAnswer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    answer: Literal["approve", "reject"]
    choice: str | None = Field(None, description="The label of the choice made, where the question offers some.")


@router.get("/approvals", summary="List approvals, newest first")
async def listed(here: Here, which: Annotated[ApprovalListing, Query()]) -> Page[ApprovalShape]:
    async with here.app.db.transaction() as tx:
        found = await approvals.page(tx, state=which.state, limit=which.limit + 1, before=which.before)
    items = shaped(ApprovalShape, found[: which.limit])
    return Page(items=items, next=items[-1].id if len(found) > which.limit else None)


@router.post("/approvals/{approval_id}", summary="Say yes or no to exactly this action, or choose what was meant")
async def answer(here: Here, me: Me, approval_id: UUID, given: ApprovalAnswer) -> ApprovalShape:
    """The first answer counts, and the waiting job goes on with it."""
    async with here.app.db.transaction() as tx:
        answered = await approvals.answer(tx, approval_id, ANSWERS[given.answer], me, given.choice)
    if answered.state is ApprovalState.EXPIRED:
        raise Conflict(f"Approval {approval_id} has expired.", hint="Ask again if it is still wanted.")
    return ApprovalShape.model_validate(answered)
