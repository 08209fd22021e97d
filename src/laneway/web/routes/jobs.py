"""Jobs: listed, looked into, cancelled and retried."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from laneway.domain.job import JobStatus
from laneway.errors import NotFound
from laneway.store import conversations, events, jobs, lives
from laneway.web.gateway import Here
from laneway.web.routes.threads import check_thread
from laneway.web.shapes import (
    ApprovalShape,
    ClassificationShape,
    EventShape,
    JobShape,
    Listing,
    ModelCallShape,
    Page,
    StepShape,
    ToolShape,
    paged,
    shaped,
)

router = APIRouter(tags=["jobs"])


class JobListing(Listing):
    status: JobStatus | None = Field(None, description="Only at this status.")
    thread: UUID | None = Field(None, description="Only of this thread.")
    message: UUID | None = Field(None, description="Only of this message.")
    before: int | None = Field(None, ge=0, le=2**63 - 1, description="Only with a smaller `seq`.")


class JobDetail(JobShape):
    classification: ClassificationShape | None
    steps: list[StepShape]
    events: list[EventShape]
    ledger: list[ModelCallShape]
    tools: list[ToolShape]
    approvals: list[ApprovalShape]


@router.get("/jobs", summary="List jobs, newest first")
async def listed(here: Here, which: Annotated[JobListing, Query()]) -> Page[JobShape]:
    async with here.app.db.transaction() as tx:
        await check_thread(tx, which.thread)
        if which.message is not None and await conversations.message(tx, which.message) is None:
            raise NotFound(f"There is no message {which.message}.", hint="GET /messages lists them.")
        found = await jobs.page(
            tx,
            status=which.status,
            thread_id=which.thread,
            message_id=which.message,
            limit=which.one_more,
            before=which.before,
        )
    return paged(JobShape, found, which, by="seq")


@router.get("/jobs/{job_id}", summary="One job with its steps, events, model calls, tools and approvals")
async def one(here: Here, job_id: UUID) -> JobDetail:
    async with here.app.db.transaction() as tx:
        life = await lives.of_job(tx, await jobs.get(tx, job_id))
        happened = await events.of_job(tx, job_id)
    judged = life.classification
    return JobDetail(
        **JobShape.model_validate(life.job).model_dump(),
        classification=None if judged is None else ClassificationShape.model_validate(judged),
        steps=shaped(StepShape, life.steps),
        events=shaped(EventShape, happened),
        ledger=shaped(ModelCallShape, life.model_calls),
        tools=shaped(ToolShape, life.tools),
        approvals=shaped(ApprovalShape, life.approvals),
    )


@router.post("/jobs/{job_id}/cancel", summary="Stop a job")
async def cancel(here: Here, job_id: UUID) -> JobShape:
    """A queued or waiting job is cancelled; a running one has been told to stop and says so in its events."""
    async with here.app.db.transaction() as tx:
        return JobShape.model_validate(await jobs.request_cancel(tx, job_id))


@router.post("/jobs/{job_id}/retry", summary="Try a failed job again, from its last good step")
async def retry(here: Here, job_id: UUID) -> JobShape:
    async with here.app.db.transaction() as tx:
        return JobShape.model_validate(await jobs.retry(tx, job_id))
