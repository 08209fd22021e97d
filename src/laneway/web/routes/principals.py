"""Principals: who may talk to us, and for whom commands run outside the sandbox."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from laneway.store import principals
from laneway.web.gateway import Here, Me
from laneway.web.shapes import Listing, Page, PrincipalShape, paged

router = APIRouter(tags=["principals"])


class PrincipalListing(Listing):
    before: UUID | None = Field(None, description="Only older than this one.")


class HostMode(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    on: bool = Field(description="Whether commands of this principal run on the machine itself.")


@router.get("/principals", summary="List principals, newest first")
async def listed(here: Here, which: Annotated[PrincipalListing, Query()]) -> Page[PrincipalShape]:
    async with here.app.db.transaction() as tx:
        found = await principals.listed(tx, which.one_more, which.before)
    return paged(PrincipalShape, found, which)


@router.get("/principals/me", summary="Show the principal of this key")
async def me(me: Me) -> PrincipalShape:
    return PrincipalShape.model_validate(me)


@router.put("/principals/{principal_id}/host-mode", summary="Switch host mode on or off")
async def host_mode(here: Here, me: Me, principal_id: UUID, given: HostMode) -> PrincipalShape:
    """In host mode commands run on the machine itself, and everything that may change it asks first."""
    async with here.app.db.transaction() as tx:
        changed = await principals.set_host_mode(tx, principal_id, given.on, me)
    return PrincipalShape.model_validate(changed)
