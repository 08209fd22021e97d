"""Corrections: what a message really was, what was made of that, and taking it back."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from laneway.classify.context import meant
from laneway.classify.rules import normalise
from laneway.domain.bounded_text import bounded
from laneway.domain.conversation import Role
from laneway.domain.judgement import CorrectionState
from laneway.errors import BadInput, NotFound
from laneway.store import conversations, corrections
from laneway.transcript import bounded_turns, build
from laneway.web.auth import open_to
from laneway.web.gateway import Here, Me
from laneway.web.shapes import CorrectionShape, Listing, Page, paged

router = APIRouter(tags=["classification"])


class CorrectionPosted(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    label: str = Field(description="What the message really is: question, command or other.")
    needs_confirmation: bool | None = Field(None, description="Whether such a command needs an approval.")
    taxonomy: str = Field("message", description="Which decision is corrected.")


class CorrectionListing(Listing):
    state: CorrectionState | None = Field(None, description="Only in this state.")
    before: UUID | None = Field(None, description="Only older than this one.")


@router.post(
    "/messages/{message_id}/correct",
    status_code=202,
    summary="Say what a message really was",
    openapi_extra=open_to(Role.OPERATOR),
)
async def correct(here: Here, me: Me, message_id: UUID, posted: CorrectionPosted) -> CorrectionShape:
    """The correction is stored; whether it is learnt is decided later, told by an event and by `why`.

    Operators may correct, too.
    """
    settings = here.app.settings
    async with here.app.db.transaction() as tx:
        found = await conversations.message(tx, message_id)
        if found is None:
            raise NotFound(f"There is no message {message_id}.", hint="GET /messages lists them.")
        here.app.corrections.check(found, posted.taxonomy, posted.label, posted.needs_confirmation)
        turns = await build(tx, found, limit=settings.message_history_limit, token_budget=settings.context_tokens)
        meaning = meant(bounded_turns(turns))
        if meaning.order or normalise(meaning.text) != normalise(bounded(found.text)):
            raise BadInput("It was judged by what was said before it.", hint="Only judgements by words can be learnt.")
        stored = await here.app.corrections.take(
            tx, found, meaning.text, taxonomy=posted.taxonomy, label=posted.label, flag=posted.needs_confirmation,
            by=me.id,
        )  # fmt: skip
    return CorrectionShape.model_validate(stored)


@router.get("/corrections", summary="List corrections, newest first", openapi_extra=open_to(Role.OPERATOR))
async def corrected(here: Here, which: Annotated[CorrectionListing, Query()]) -> Page[CorrectionShape]:
    """Each with its state, and the reason for it. Operators may look, too."""
    async with here.app.db.transaction() as tx:
        found = await corrections.page(tx, state=which.state, limit=which.one_more, before=which.before)
    return paged(CorrectionShape, found, which)


@router.delete("/corrections/{correction_id}", summary="Withdraw a correction")
async def withdraw(here: Here, correction_id: UUID) -> CorrectionShape:
    """The correction stays listed as withdrawn; what was learnt from it is forgotten in the background."""
    async with here.app.db.transaction() as tx:
        return CorrectionShape.model_validate(await corrections.withdraw(tx, correction_id))
