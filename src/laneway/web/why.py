"""Tells the life of a message as one story: how it came, what was judged, where it went, what it took."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from laneway.domain.job import Job, JobMode, JobStatus
from laneway.domain.judgement import Classification
from laneway.journey import ROUTES
from laneway.lanes.contract import Request
from laneway.store.lives import JobLife, Life
from laneway.web.shapes import (
    ApprovalShape,
    ClassificationShape,
    CorrectionShape,
    MessageShape,
    ModelCallShape,
    Moment,
    ReplyShape,
    StepShape,
    ThreadShape,
    ToolShape,
    milliseconds,
    shaped,
)


class Received(BaseModel):
    at: Moment
    channel: str
    external_id: str
    duplicates: int


class Route(BaseModel):
    lane: str | None
    why: str


class WhyJob(BaseModel):
    id: UUID
    status: JobStatus
    mode: JobMode
    lane: str | None
    runs: int
    queued_ms: int | None
    total_ms: int | None
    steps: list[StepShape]
    model_calls: list[ModelCallShape]
    tools: list[ToolShape]
    error: dict[str, Any] | None


class WhyShape(BaseModel):
    message: MessageShape
    thread: ThreadShape
    received: Received
    classification: ClassificationShape | None
    corrections: list[CorrectionShape]
    route: Route | None
    jobs: list[WhyJob]
    approvals: list[ApprovalShape]
    replies: list[ReplyShape]
    cost: float
    tokens: int


def explained(life: Life) -> WhyShape:
    """The story of the message."""
    message = life.message
    first = life.jobs[0] if life.jobs else None
    judged = first.classification if first else None
    calls = [call for job in life.jobs for call in job.model_calls]
    return WhyShape(
        message=MessageShape.model_validate(message),
        thread=ThreadShape.model_validate(life.thread),
        received=Received(
            at=message.created_at,
            channel=message.channel,
            external_id=message.external_id,
            duplicates=life.duplicates,
        ),
        classification=None if judged is None else ClassificationShape.model_validate(judged),
        corrections=shaped(CorrectionShape, life.corrections),
        route=_route(life, first) if first else None,
        jobs=[_job(life, job) for job in life.jobs],
        approvals=shaped(ApprovalShape, [approval for job in life.jobs for approval in job.approvals]),
        replies=shaped(ReplyShape, life.replies),
        cost=float(sum(call.cost for call in calls)),
        tokens=sum(call.tokens_total for call in calls),
    )


def _job(life: Life, lived: JobLife) -> WhyJob:
    job, route = lived.job, _route(life, lived)
    return WhyJob(
        id=job.id,
        status=job.status,
        mode=job.mode,
        lane=route.lane if route else job.lane,
        runs=job.run,
        queued_ms=milliseconds(job, job.started_at),
        total_ms=milliseconds(job, job.finished_at),
        steps=shaped(StepShape, lived.steps),
        model_calls=shaped(ModelCallShape, lived.model_calls),
        tools=shaped(ToolShape, lived.tools),
        error=job.error,
    )


def _route(life: Life, lived: JobLife) -> Route | None:
    """The lane the journey's own table gives this job; None before it is classified."""
    job, judged = lived.job, lived.classification
    if judged is None:
        return None
    if job.mode is JobMode.CLASSIFY:
        return Route(lane=None, why="only its classification is wanted")
    # A finished job has the lane it took, so what the request itself named is kept with the message.
    by_table = _first_fitting(life, replace(job, lane=life.message.meta.get("lane")), judged)
    return by_table if job.lane in (None, by_table.lane) else _first_fitting(life, job, judged)


def _first_fitting(life: Life, job: Job, judged: Classification) -> Route:
    request = Request(job, life.message, life.thread.world, [], judged)
    return next(Route(lane=lane or job.lane, why=why) for why, fits, lane in ROUTES if fits(request))
