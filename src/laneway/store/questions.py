"""Asks somebody and lets the job wait: the question is stored, its thread is told, and no worker is held."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from laneway.domain.job import Job, JobStatus
from laneway.domain.judgement import Approval
from laneway.store import approvals, jobs, outbox
from laneway.store.database import Connection


@dataclass(frozen=True)
class Question:
    """What is asked: `action` tells it from others of the job, `text` is what the thread reads.

    `how` says how to answer; {id} in it is the approval's. What an action costs beyond itself is the estimate.
    """

    key: str
    action: dict[str, Any]
    why: str
    text: str
    seconds: int
    choices: list[dict[str, str]] = field(default_factory=list)
    how: str = ""
    sources: list[str] = field(default_factory=list)
    """Whose words are in it besides the owner's."""
    shown: dict[str, Any] | None = None
    """The action's arguments as events may show them."""
    estimated_cost: Decimal | None = None
    once: bool = False
    """Whether a yes holds for this time only, whatever is said."""


async def put(tx: Connection, job: Job, question: Question, pulled: Collection[str]) -> Approval:
    """The question is asked and the job waits for its answer."""
    asked = await approvals.ask(
        tx, job, question.action, question.why, question.seconds, question.choices, question.estimated_cost,
        question.shown,
    )  # fmt: skip
    meta: dict[str, Any] = {"approval": str(asked.id)} | ({"choices": asked.choices} if asked.choices else {})
    meta |= {"sources": question.sources} if question.sources else {}
    meta |= {"once": True} if question.once else {}
    text = "\n".join(part for part in (question.text, question.how.replace("{id}", str(asked.id))) if part)
    await outbox.write_reply(tx, job, text, key=question.key, pulled=pulled, meta=meta)
    await jobs.move(tx, job.id, JobStatus.WAITING)
    return asked
