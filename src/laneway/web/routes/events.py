"""The live stream of events."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query
from pydantic import BaseModel, ConfigDict, Field

from laneway.engine.stream import Watcher
from laneway.store import jobs
from laneway.web.gateway import Here
from laneway.web.routes.threads import check_thread
from laneway.web.sse import EventStream

router = APIRouter(tags=["events"])


class Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    job: UUID | None = Field(None, description="Only of this job.")
    thread: UUID | None = Field(None, description="Only of this thread.")
    since: str = Field("now", description="`now`, `start`, or the id of the last event you have.")


@router.get(
    "/events",
    summary="Watch events as they happen (Server-Sent Events)",
    status_code=200,
    response_class=EventStream,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Events with ids, deltas without."}},
)
async def watch(
    here: Here,
    which: Annotated[Wanted, Query()],
    last_event_id: Annotated[str | None, Header(description="Wins over `since`.")] = None,
) -> EventStream:
    """Stored events come once each and in order, after a reconnect too; what a model writes comes as `delta`."""
    if which.thread is not None or which.job is not None:
        async with here.app.db.transaction() as tx:
            await check_thread(tx, which.thread)
            if which.job is not None:
                await jobs.get(tx, which.job)
    cursor = await here.hub.place(last_event_id or which.since)
    watcher = Watcher(which.job, which.thread)
    return EventStream(here.hub.watch(cursor, watcher), watcher, cursor)
