"""Replies on their way out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
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
