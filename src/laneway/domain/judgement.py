"""What was judged, corrected, asked and done: classifications, corrections, approvals, events, effects."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID


class Intent(StrEnum):
    QUESTION = "question"
    COMMAND = "command"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Classification:
    """The judgement on one message.

    `decided_by` is who made it: rules, a local tier, the model, memory (what the model said before), request (given by
    the sender), person (who was asked) or default (the safe choice, when nobody answered). `choices` are the labels it
    may be when nobody is sure; a person is asked then.
    """

    intent: Intent
    summary: str
    plan: str
    needs_confirmation: bool
    confidence: float
    lane: str = "tools"
    decided_by: str = "rules"
    runner_up: str | None = None
    milliseconds: float = 0.0
    choices: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def given(cls, fields: dict[str, Any]) -> Classification:
        """The classification a request brought along, in the seed's shape."""
        intent = Intent(fields["intent"])
        return cls(
            intent,
            str(fields.get("summary", "")),
            str(fields.get("plan", "")),
            bool(fields.get("needs_confirmation", False)),
            float(fields.get("confidence", 1.0)),
            lane="answer" if intent is Intent.OTHER else "tools",
            decided_by="request",
        )


class CorrectionState(StrEnum):
    PENDING = "pending"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Correction:
    """What somebody says a text is; `flag` is the yes or no beside the label, if it was said."""

    id: UUID
    taxonomy: str
    text: str
    label: str
    flag: bool | None
    message_id: UUID
    principal_id: UUID
    state: CorrectionState
    reason: str
    created_at: datetime
    decided_at: datetime | None


class ApprovalState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Approval:
    """A stored question: may this exact action run, or, with `choices`, which of these was meant?"""

    id: UUID
    job_id: UUID
    thread_id: UUID
    action: dict[str, Any]
    action_hash: str
    why: str
    state: ApprovalState
    deadline: datetime
    answered_by: UUID | None
    answered_at: datetime | None
    created_at: datetime
    choices: list[dict[str, str]] = field(default_factory=list)
    choice: str | None = None
    estimated_cost: Decimal | None = None
    may_answer: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened; `cursor` names its place in the order everybody sees."""

    id: int
    cursor: str
    thread_id: UUID | None
    job_id: UUID | None
    kind: str
    body: dict[str, Any]
    created_at: datetime


class EffectState(StrEnum):
    INTENT = "intent"
    DONE = "done"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Effect:
    """An outside effect of a job: its intent is stored before, its outcome after."""

    job_id: UUID
    key: str
    tool: str
    state: EffectState
    outcome: Any
    created_at: datetime
    finished_at: datetime | None
    about: str = ""


class OutboxState(StrEnum):
    PENDING = "pending"
    SENDING = "sending"
    UNCERTAIN = "uncertain"
    SENT = "sent"
    UNDELIVERABLE = "undeliverable"


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A reply on its way out."""

    id: int
    message_id: UUID
    thread_id: UUID
    channel: str
    thread_external_id: str
    text: str
    state: OutboxState
    attempts: int
    resent: bool
    error: str | None
    created_at: datetime
    sent_at: datetime | None
    meta: dict[str, Any] = field(default_factory=dict)
    """What is known of the reply: the approval it asks for, its choices, its job."""
    address: str = ""
    """Where the person of the thread was last seen on this channel; empty if nowhere."""
    parts_sent: int = 0
    """How many messages of the provider have gone out of it already."""
    result_preview: dict[str, Any] | None = None
    """What it shows of its result; in `meta`, too, where the database alone would sort the columns."""

    def __post_init__(self) -> None:
        if self.result_preview is not None:
            self.meta["result_preview"] = self.result_preview
