"""What is stored as clients see it: JSON with times in UTC."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, computed_field

from laneway.domain.conversation import Author, Role, World
from laneway.domain.job import Job, JobMode, JobStatus, Scope
from laneway.domain.judgement import ApprovalState, CorrectionState, EffectState, Intent, OutboxState

T = TypeVar("T")
Moment = Annotated[datetime, AfterValidator(lambda moment: moment.astimezone(UTC))]


class Shape(BaseModel):
    """Something the API shows, made from what the store returned."""

    model_config = ConfigDict(from_attributes=True)


class Page(BaseModel, Generic[T]):
    """Part of a list, newest first; `next` goes into `before` to get the following part."""

    items: list[T]
    next: int | UUID | None = None


class Listing(BaseModel):
    """How much of a list is wanted."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(50, ge=1, le=200, description="At most so many items.")

    @property
    def one_more(self) -> int:
        """How many the store is asked for: that there is one more tells that the list goes on."""
        return self.limit + 1


class ReceiptShape(Shape):
    message_id: UUID
    thread_id: UUID
    job_id: UUID
    duplicate: bool


class PrincipalShape(Shape):
    id: UUID
    role: Role
    name: str
    host_mode: bool
    created_at: Moment


class ThreadShape(Shape):
    id: UUID
    channel: str
    external_id: str
    principal_id: UUID
    world: World
    context_from: int
    created_at: Moment


class MessageShape(Shape):
    id: UUID
    seq: int
    thread_id: UUID
    author: Author
    channel: str
    external_id: str
    principal_id: UUID | None
    text: str
    meta: dict[str, Any]
    created_at: Moment


class AttachmentShape(Shape):
    id: UUID
    kind: str
    name: str
    mime: str
    size: int
    artifact: str | None
    preview: str
    meta: dict[str, Any]
    created_at: Moment


class ReplyShape(Shape):
    message_id: UUID
    text: str
    state: OutboxState
    resent: bool
    error: str | None
    created_at: Moment
    sent_at: Moment | None


class JobShape(Shape):
    id: UUID
    seq: int
    thread_id: UUID
    message_id: UUID
    mode: JobMode
    lane: str | None
    scope: Scope
    owner: bool
    program: bool
    aside: bool
    status: JobStatus
    run: int
    attempts: int
    worker: str | None
    not_before: Moment | None
    cancel_requested_at: Moment | None
    payload: dict[str, Any]
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None


class ClassificationShape(Shape):
    intent: Intent
    lane: str
    summary: str
    plan: str
    needs_confirmation: bool
    confidence: float
    decided_by: str
    runner_up: str | None
    milliseconds: float


class CorrectionShape(Shape):
    id: UUID
    message_id: UUID
    taxonomy: str
    text: str
    label: str
    flag: bool | None
    state: CorrectionState
    reason: str
    created_at: Moment
    decided_at: Moment | None


class StepShape(Shape):
    name: str
    run: int
    began: Moment | None
    milliseconds: int | None
    failed: bool


class EventShape(Shape):
    id: int
    cursor: str
    thread_id: UUID | None
    job_id: UUID | None
    kind: str
    body: dict[str, Any]
    created_at: Moment


class ModelCallShape(Shape):
    id: int
    provider: str
    model: str
    tokens_input: int
    tokens_output: int
    tokens_total: int
    tokens_cached: int
    cost: float
    state: str
    meta_json: dict[str, Any]
    created_at: Moment
    settled_at: Moment | None


class JobReaction(BaseModel):
    """What a reactor said while the job ran, and what was done about it."""

    at: Moment
    reactor: str
    what: str = Field(description="warned, notified, killed or failed")
    message: str
    tool: str | None = None


class ToolShape(Shape):
    tool: str
    about: str = Field(description="What was done, in a few words.")
    state: EffectState
    outcome: Any
    created_at: Moment
    finished_at: Moment | None

    @computed_field
    def milliseconds(self) -> int | None:
        """How long the tool took; None if nobody knows."""
        return None if self.finished_at is None else _milliseconds(self.created_at, self.finished_at)


class ApprovalShape(Shape):
    id: UUID
    job_id: UUID
    thread_id: UUID
    action: dict[str, Any]
    why: str
    state: ApprovalState
    deadline: Moment
    answered_by: UUID | None
    answered_at: Moment | None
    created_at: Moment
    choices: list[dict[str, str]] = Field(description="What was offered, each with its label and text; often nothing.")
    choice: str | None = Field(description="The label of the choice that was made.")
    action_hash: str = Field(description="The fingerprint of exactly this action; it is compared when the action runs.")
    estimated_cost: float | None = Field(description="What going on will probably cost in dollars.")
    may_answer: list[str] = Field(description="The roles whose answer counts.")


class PermissionShape(Shape):
    id: UUID
    thread_id: UUID
    action: dict[str, Any]
    given_by: UUID
    used: int
    created_at: Moment


class OutboxShape(Shape):
    id: int
    message_id: UUID
    thread_id: UUID
    channel: str
    thread_external_id: str
    address: str
    text: str
    state: OutboxState
    attempts: int
    resent: bool
    error: str | None
    created_at: Moment
    sent_at: Moment | None


class SpendingShape(Shape):
    key: str
    name: str = Field(description="What people call a principal or a thread; else empty.")
    calls: int
    tokens_input: int
    tokens_output: int
    tokens_total: int
    tokens_cached: int
    cost: float
    reserved: float = Field(description="For calls being made, at their worst case; not part of `cost`.")


class WorkerShape(Shape):
    id: str
    host: str
    pid: int
    version: str
    slots: int
    started_at: Moment
    beat_at: Moment


S = TypeVar("S", bound=Shape)


def shaped(kind: type[S], found: Sequence[object]) -> list[S]:
    """Each of what the store found, as clients see it."""
    return [kind.model_validate(one) for one in found]


def paged(kind: type[S], found: Sequence[object], which: Listing, by: Literal["id", "seq"] = "id") -> Page[S]:
    """As many as were wanted; `found` holds one more of them where there is a following part."""
    items = shaped(kind, found[: which.limit])
    return Page(items=items, next=getattr(items[-1], by) if len(found) > which.limit else None)


def milliseconds(job: Job, until: datetime | None) -> int | None:
    """How long after it was queued; None if that has not come."""
    return None if until is None else _milliseconds(job.created_at, until)


def _milliseconds(began: datetime, ended: datetime) -> int:
    return round((ended - began).total_seconds() * 1000)
