"""Reminders: listed and cancelled."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from laneway.domain.schedule import ReminderState
from laneway.store import reminders
from laneway.web.gateway import Here
from laneway.web.initiative_shapes import ReminderShape
from laneway.web.shapes import Listing, Page, paged

router = APIRouter(tags=["schedules"])


class ReminderListing(Listing):
    state: ReminderState | None = Field(None, description="Only in this state.")
    before: int | None = Field(None, ge=0, lt=2**63, description="Only older than the one with this `seq`.")


@router.get("/reminders", summary="List reminders and results that wait for quiet hours to end, newest first")
async def listed(here: Here, which: Annotated[ReminderListing, Query()]) -> Page[ReminderShape]:
    async with here.app.db.transaction() as tx:
        found = await reminders.page(tx, state=which.state, limit=which.one_more, before=which.before)
    return paged(ReminderShape, found, which, by="seq")


@router.delete("/reminders/{reminder_id}", summary="Cancel a reminder")
async def cancel(here: Here, reminder_id: UUID) -> ReminderShape:
    """It will not be delivered; refused if it has been."""
    async with here.app.db.transaction() as tx:
        return ReminderShape.model_validate(await reminders.cancel(tx, reminder_id))
