"""What is remembered: listed and removed."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from laneway.domain.conversation import World
from laneway.store import memories
from laneway.web.gateway import Here
from laneway.web.initiative_shapes import FactShape
from laneway.web.routes.threads import check_thread
from laneway.web.shapes import Listing, Page, paged

router = APIRouter(tags=["memories"])


class FactListing(Listing):
    world: World | None = Field(None, description="Only of the owner's world, or only of customers' threads.")
    thread: UUID | None = Field(None, description="Only what was remembered in this thread.")
    before: UUID | None = Field(None, description="Only older than this one.")


@router.get("/memories", summary="List what is remembered, newest first")
async def listed(here: Here, which: Annotated[FactListing, Query()]) -> Page[FactShape]:
    async with here.app.db.transaction() as tx:
        await check_thread(tx, which.thread)
        found = await memories.page(
            tx, world=which.world, thread_id=which.thread, limit=which.one_more, before=which.before
        )
    return paged(FactShape, found, which)


@router.delete("/memories/{fact_id}", summary="Forget something")
async def remove(here: Here, fact_id: UUID) -> FactShape:
    async with here.app.db.transaction() as tx:
        return FactShape.model_validate(await memories.remove(tx, fact_id))
