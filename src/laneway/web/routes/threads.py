"""Threads: listed, looked at, and stopped."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from laneway.domain.conversation import Thread
from laneway.errors import NotFound
from laneway.store import conversations, jobs
from laneway.store.database import Connection
from laneway.web.gateway import Here
from laneway.web.shapes import Listing, Page, ThreadShape, paged

router = APIRouter(tags=["threads"])


class ThreadListing(Listing):
    before: UUID | None = Field(None, description="Only older than this one.")


class Stopped(BaseModel):
    stopped: list[UUID]


@router.get("/threads", summary="List threads, newest first")
async def listed(here: Here, which: Annotated[ThreadListing, Query()]) -> Page[ThreadShape]:
    async with here.app.db.transaction() as tx:
        found = await conversations.threads(tx, limit=which.one_more, before=which.before)
    return paged(ThreadShape, found, which)


@router.get("/threads/{thread_id}", summary="One thread")
async def one(here: Here, thread_id: UUID) -> ThreadShape:
    async with here.app.db.transaction() as tx:
        return ThreadShape.model_validate(await known(tx, thread_id))


@router.post("/threads/{thread_id}/stop", summary="Stop everything that runs or waits in a thread")
async def stop(here: Here, thread_id: UUID) -> Stopped:
    async with here.app.db.transaction() as tx:
        await known(tx, thread_id)
        return Stopped(stopped=[job.id for job in await jobs.stop_thread(tx, thread_id)])


async def known(tx: Connection, thread_id: UUID) -> Thread:
    """The thread, or NotFound."""
    found = await conversations.thread(tx, thread_id)
    if found is None:
        raise NotFound(f"There is no thread {thread_id}.", hint="GET /threads lists them.")
    return found


async def check_thread(tx: Connection, thread_id: UUID | None) -> None:
    """Returns only if the thread a list is asked for exists."""
    if thread_id is not None:
        await known(tx, thread_id)
