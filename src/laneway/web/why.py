"""Tells the life of a message as one story: how it came, what was judged, where it went, what it took."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from laneway.domain.job import Job, JobMode, JobStatus
from laneway.domain.judgement import Classification, Event
from laneway.journey import ROUTES
from laneway.lanes.contract import Request
from laneway.store.lives import JobLife, Life
from laneway.web.shapes import (
    ApprovalShape,
    ClassificationShape,
    CorrectionShape,
    JobReaction,
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
    reactions: list[JobReaction]
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


def explained(life: Life, lanes: Collection[str]) -> WhyShape:
    """The story of the message, which may have gone down one of these lanes."""
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
        route=_route(life, first, lanes) if first else None,
        jobs=[_job(life, job, lanes) for job in life.jobs],
        approvals=shaped(ApprovalShape, [approval for job in life.jobs for approval in job.approvals]),
        replies=shaped(ReplyShape, life.replies),
        cost=float(sum(call.cost for call in calls)),
        tokens=sum(call.tokens_total for call in calls),
    )


def _job(life: Life, lived: JobLife, lanes: Collection[str]) -> WhyJob:
    job, route = lived.job, _route(life, lived, lanes)
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
        reactions=[_reaction(event) for event in lived.reactions],
        error=job.error,
    )


def _reaction(event: Event) -> JobReaction:
    body = event.body
    return JobReaction(
        at=event.created_at, reactor=str(body.get("reactor", "")), what=event.kind.removeprefix("reactor."),
        message=str(body.get("message") or body.get("error") or ""), tool=body.get("tool"),
    )  # fmt: skip


def _route(life: Life, lived: JobLife, lanes: Collection[str]) -> Route | None:
    """The lane the journey's own table gives this job; None before it is classified."""
    job, judged = lived.job, lived.classification
    if judged is None:
        return None
    if job.mode is JobMode.CLASSIFY:
        return Route(lane=None, why="only its classification is wanted")
    # A finished job has the lane it took, so what the request itself named is kept with the message.
    by_table = _first_fitting(life, replace(job, lane=life.message.meta.get("lane")), judged, lanes)
    return by_table if job.lane in (None, by_table.lane) else _first_fitting(life, job, judged, lanes)


def _first_fitting(life: Life, job: Job, judged: Classification, lanes: Collection[str]) -> Route:
    request = Request(job, life.message, life.thread.world, [], judged)
    return next(Route(lane=lane, why=why) for why, pick in ROUTES if (lane := pick(request)) in lanes)
