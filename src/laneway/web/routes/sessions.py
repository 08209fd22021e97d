"""Other agents' sessions as they were kept, and notices to the owner from a `laneway watch` outside the server."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID, uuid4

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from laneway.domain.session import EventKind, SessionEvent
from laneway.store import notices, session_reactions, sessions
from laneway.web.gateway import Here
from laneway.web.shapes import Listing, Moment, Page, Shape, paged, shaped

router = APIRouter(tags=["sessions"])


class SessionListing(Listing):
    provider: str | None = Field(None, max_length=60, description="Only of this agent.")
    before: UUID | None = Field(None, description="Only first seen before this one.")


class KeptSessionShape(Shape):
    id: UUID
    provider: str
    session_id: str
    source: str = Field(description="The file it was read from.")
    cwd: str
    model: str
    started_at: Moment | None
    last_activity: Moment | None
    ended: bool
    gone_at: Moment | None = Field(description="When its file was found to be gone.")
    life: int = Field(description="How often its file was written anew.")
    state: dict[str, Any] = Field(description="Tokens, cost, errors, turns and open calls, as they were last.")


class ReactionShape(Shape):
    id: int
    at: Moment
    reactor: str
    weight: str = Field(description="warning, notification or kill.")
    text: str
    told: bool = Field(description="Whether somebody was told; else it came too often, or too late.")


class KeptSessionDetail(KeptSessionShape):
    reactions: list[ReactionShape] = Field(description="The last fifty, newest first.")


class EventListing(Listing):
    after: int = Field(0, ge=0, lt=2**63, description="Only after the one with this `id`.")
    life: int | None = Field(None, ge=0, lt=2**31, description="Of an earlier life of its file.")


class SessionEventShape(BaseModel):
    id: int
    kind: EventKind
    at: Moment
    text: str
    tool: str
    call_id: str
    arguments: dict[str, Any]
    failed: bool
    tokens: int
    cost: float | None
    model: str
    sub_agent: bool


class EventPage(BaseModel):
    """Part of a session's events, oldest first; `next` goes into `after` to get the following part."""

    items: list[SessionEventShape]
    next: int | None = None


class NewNotice(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, max_length=2_000)
    id: str | None = Field(None, min_length=1, max_length=200, description="The owner is told once for each.")


class NoticeReceipt(BaseModel):
    told: bool = Field(description="False if the owner has no thread to be told in yet.")


@router.get("/sessions", summary="List other agents' sessions that were watched, the one first seen last first")
async def listed(here: Here, which: Annotated[SessionListing, Query()]) -> Page[KeptSessionShape]:
    async with here.app.db.transaction() as tx:
        found = await sessions.page(tx, provider=which.provider, limit=which.one_more, before=which.before)
    return paged(KeptSessionShape, found, which)


@router.get("/sessions/{session}", summary="One kept session and what reactors said about it")
async def one(here: Here, session: UUID) -> KeptSessionDetail:
    async with here.app.db.transaction() as tx:
        kept = await sessions.one(tx, session)
        said = await session_reactions.of_session(tx, session)
    return KeptSessionDetail(
        **KeptSessionShape.model_validate(kept).model_dump(), reactions=shaped(ReactionShape, said)
    )


@router.get("/sessions/{session}/events", summary="What happened in a kept session, oldest first")
async def events(here: Here, session: UUID, which: Annotated[EventListing, Query()]) -> EventPage:
    """Texts and arguments are bounded and hold no secrets."""
    async with here.app.db.transaction() as tx:
        kept = await sessions.one(tx, session)
        found = await sessions.events_of(tx, kept, life=which.life, after=which.after, limit=which.one_more)
    items = [_shape(number, event) for number, event in found[: which.limit]]
    return EventPage(items=items, next=items[-1].id if len(found) > which.limit else None)


@router.post("/notices", summary="Tell the owner something, where the owner reads")
async def tell(here: Here, notice: NewNotice) -> NoticeReceipt:
    """It goes into the thread in which the owner wrote last, as a message of ours."""
    key = uuid4().hex if notice.id is None else notice.id
    async with here.app.db.transaction() as tx:
        told = await notices.tell_owner(
            tx, notice.text, key=f"session:{key}", kind="session.reaction", pulled=here.app.pulled
        )
    return NoticeReceipt(told=told)


def _shape(number: int, event: SessionEvent) -> SessionEventShape:
    return SessionEventShape(
        id=number,
        kind=event.kind,
        at=event.at,
        text=event.text,
        tool=event.tool,
        call_id=event.call_id,
        arguments=dict(event.arguments),
        failed=event.failed,
        tokens=event.tokens.total,
        cost=None if event.cost is None else float(event.cost),
        model=event.model,
        sub_agent=event.side,
    )
