"""Replies on their way out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from laneway.domain.judgement import OutboxState
from laneway.store import outbox
from laneway.web.gateway import Here
from laneway.web.shapes import Listing, OutboxShape, Page, paged

router = APIRouter(tags=["outbox"])


class OutboxListing(Listing):
    state: OutboxState | None = Field(None, description="Only in this state.")
    before: int | None = Field(None, ge=0, le=2**63 - 1, description="Only with a smaller `id`.")


@router.get("/outbox", summary="List replies and how far they got, newest first")
async def listed(here: Here, which: Annotated[OutboxListing, Query()]) -> Page[OutboxShape]:
    async with here.app.db.transaction() as tx:
        found = await outbox.page(tx, state=which.state, limit=which.one_more, before=which.before)
    return paged(OutboxShape, found, which)


@router.post("/outbox/{row_id}/retry", summary="Send a reply again that was given up")
async def retry(here: Here, row_id: Annotated[int, Path(ge=0, le=2**63 - 1)]) -> OutboxShape:
    """A reply that may have arrived before says so when it is sent again."""
    async with here.app.db.transaction() as tx:
        return OutboxShape.model_validate(await outbox.retry(tx, row_id))
