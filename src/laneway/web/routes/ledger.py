"""The ledger, added up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from laneway.store import ledger
from laneway.web.gateway import Here
from laneway.web.shapes import Page, SpendingShape, shaped

router = APIRouter(tags=["ledger"])


class Summing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    by: ledger.By = Field("day", description="What the lines are about.")
    since: datetime | None = Field(None, description="Only calls made since then; UTC if no zone is given.")


@router.get("/ledger", summary="Tokens and money spent")
async def summed(here: Here, which: Annotated[Summing, Query()]) -> Page[SpendingShape]:
    since = which.since
    if since is not None and since.tzinfo is None:
        since = since.replace(tzinfo=UTC)
    async with here.app.db.transaction() as tx:
        return Page(items=shaped(SpendingShape, await ledger.summary(tx, by=which.by, since=since)))
