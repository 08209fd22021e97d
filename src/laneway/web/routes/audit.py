"""The audit, to be read; nobody can change it here."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from laneway.domain.audit import Entry
from laneway.store import audit
from laneway.web.gateway import Here

router = APIRouter(tags=["audit"])


class AuditListing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: int = Field(50, ge=1, le=1000, description="How many at most.")
    before: int | None = Field(None, ge=0, lt=2**63, description="Newest first, only older than this number.")
    after: int | None = Field(None, ge=0, lt=2**63, description="Oldest first, only newer than this number.")
    what: str | None = Field(None, max_length=80, description="Only entries whose `what` begins so.")


class AuditShape(BaseModel):
    number: int
    at: str = Field(description="In UTC, to the microsecond: part of what is hashed.")
    actor: str
    what: str
    body: str = Field(description="JSON, as the very text that is hashed.")
    previous: str = Field(description="The hash of the entry before.")
    hash: str


class AuditPage(BaseModel):
    items: list[AuditShape]
    next: int | None = Field(description="Goes into `after` or `before` to get the rest; null at the end.")


@router.get("/audit", summary="Entries of the audit, newest first")
async def listed(here: Here, which: Annotated[AuditListing, Query()]) -> AuditPage:
    """With `after` oldest first, as a check of the chain needs them."""
    async with here.app.db.transaction() as tx:
        if which.after is not None:
            found = await audit.page(tx, after=which.after, limit=which.limit + 1, what=which.what)
        else:
            found = await audit.latest(tx, before=which.before, limit=which.limit + 1, what=which.what)
    return _page(found, which.limit)


def _page(found: list[Entry], limit: int) -> AuditPage:
    items: list[dict[str, Any]] = [entry.as_json() for entry in found[:limit]]
    more = found[limit - 1].number if len(found) > limit else None
    return AuditPage(items=[AuditShape(**item) for item in items], next=more)
