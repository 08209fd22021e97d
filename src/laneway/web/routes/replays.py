"""Sessions that are over, kept ones and our own jobs alike: replayed event by event, and reviewed."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from laneway.domain.session import SessionEvent
from laneway.domain.session_json import as_json
from laneway.engine.replay import MOST, replayed
from laneway.errors import BadInput, NotFound
from laneway.reactors.ai_reviewer import Digest, digested
from laneway.reactors.shipped import shipped
from laneway.store import jobs, sessions
from laneway.store.database import Connection
from laneway.web.gateway import Here

router = APIRouter(tags=["sessions"])
PAGE = 1000


class Place(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: int = Field(0, ge=0, lt=2**63, description="Only events behind this number.")


class ReplayPage(BaseModel):
    items: list[dict[str, Any]]
    next: int | None = Field(description="Goes into `after` to get the rest; null at the end.")


class Reviewed(BaseModel):
    """Either the id of a kept session or of a job, or a digest made where the log is."""

    model_config = ConfigDict(extra="forbid")

    session: UUID | None = None
    digest: dict[str, Any] | None = None


class ReviewShape(BaseModel):
    text: str
    by: str = Field(description="The model that wrote it, or `rules`.")
    label: str


@router.get("/replays/{session_id}", summary="All that happened in a kept session or in a job, for a rehearsal")
async def replay(here: Here, session_id: UUID, which: Annotated[Place, Query()]) -> ReplayPage:
    async with here.app.db.transaction() as tx:
        found, more = await _events(tx, session_id, which.after)
    return ReplayPage(items=[as_json(event) for event in found], next=more)


@router.post("/reviews", summary="A short report on a session that is over")
async def review(here: Here, wanted: Reviewed) -> ReviewShape:
    """Written by the model that executes, and paid for; without one, made by rules and labelled so."""
    digest = await _digest(here, wanted)
    report = await here.app.reviews.report(digest)
    return ReviewShape(text=report.text, by=report.by, label=report.label)


async def _digest(here: Here, wanted: Reviewed) -> Digest:
    if (wanted.session is None) == (wanted.digest is None):
        raise BadInput("A review needs a session or a digest.", hint="Send one of the two.")
    if wanted.digest is not None:
        try:
            return Digest.given(wanted.digest)
        except (TypeError, ValueError) as error:
            raise BadInput(
                f"This is no digest of a session: {error}.", hint="`laneway sessions review` makes one."
            ) from None
    assert wanted.session is not None
    found: list[SessionEvent] = []
    after: int | None = 0
    while after is not None and len(found) < MOST:
        async with here.app.db.transaction() as tx:
            page, after = await _events(tx, wanted.session, after)
        found += page
    made = digested(found, shipped())
    if made is None:
        raise NotFound(f"Nothing happened in session {wanted.session}.", hint="`laneway sessions list` shows others.")
    return made


async def _events(tx: Connection, session: UUID, after: int) -> tuple[list[SessionEvent], int | None]:
    """A page of events, and the number of the last one if there are more."""
    try:
        kept = await sessions.one(tx, session)
    except NotFound:
        told = (await replayed(tx, await _job(tx, session))).seen
        return told[after : after + PAGE], after + PAGE if len(told) > after + PAGE else None
    rows = await sessions.events_of(tx, kept, after=after, limit=PAGE + 1)
    return [event for _, event in rows[:PAGE]], rows[PAGE - 1][0] if len(rows) > PAGE else None


async def _job(tx: Connection, job: UUID) -> Any:
    try:
        return await jobs.get(tx, job)
    except NotFound:
        raise NotFound(
            f"There is no session and no job {job}.", hint="GET /sessions and GET /jobs list them."
        ) from None
