"""Asks somebody and lets the job wait: the question is stored, its thread is told, and no worker is held."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from laneway.domain.conversation import Role, World
from laneway.domain.job import Job, JobStatus
from laneway.domain.judgement import Approval, ApprovalState
from laneway.domain.people import unmarked
from laneway.store import approvals, conversations, jobs, notices, outbox, principals
from laneway.store.database import Connection

NOT_APPROVED = {
    ApprovalState.REJECTED: "Not done: you said no.",
    ApprovalState.EXPIRED: "Not done: nobody answered in time. Ask again if you still want it.",
    ApprovalState.SUPERSEDED: "Not done: a newer request took its place.",
}


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


def may_i(
    action: dict[str, Any], text: str, why: str, seconds: int, shown: dict[str, Any], *, once: bool = True,
    cost: Decimal | None = None,
) -> Question:  # fmt: skip
    """Whether exactly this action may be done. Its key names it, so that a later run finds the question again."""
    words, key = "yes or no" if once else "yes, no or always", f"approve.{approvals.action_hash(action)[:12]}"
    how = f"Answer {words}, or: `laneway approve {{id}}`, `laneway reject {{id}}`."
    return Question(key, action, why, text, seconds, how=how, shown=shown, estimated_cost=cost, once=once)


async def put(
    tx: Connection, job: Job, question: Question, pulled: Collection[str], may_answer: Sequence[str] = ()
) -> Approval:
    """The question is asked, where one of those who may answer reads it, and the job waits for its answer."""
    asked = await approvals.ask(
        tx, job, question.action, question.why, question.seconds, question.choices, question.estimated_cost,
        question.shown, may_answer,
    )  # fmt: skip
    meta: dict[str, Any] = {"approval": str(asked.id)} | ({"choices": asked.choices} if asked.choices else {})
    meta |= {"sources": question.sources} if question.sources else {}
    meta |= {"once": True} if question.once else {}
    text = "\n".join(part for part in (question.text, question.how.replace("{id}", str(asked.id))) if part)
    await outbox.write_reply(tx, job, text, key=question.key, pulled=pulled, meta=meta)
    if not await notices.is_read(tx, job.thread_id, asked.may_answer):
        await _ask_elsewhere(tx, job, asked, text, meta, pulled)
    await jobs.move(tx, job.id, JobStatus.WAITING)
    return asked


async def _ask_elsewhere(
    tx: Connection, job: Job, asked: Approval, text: str, meta: dict[str, Any], pulled: Collection[str]
) -> None:
    """A program or an operator asked for the job: whoever may answer has the question where they read."""
    role = Role.OWNER if Role.OWNER in asked.may_answer else Role.OPERATOR
    place = await notices.owners_thread(tx, pulled, not_in=job.thread_id, role=role)
    thread, message = await conversations.thread(tx, job.thread_id), await conversations.message(tx, job.message_id)
    who = await principals.by_id(tx, message and message.principal_id)
    if place is None or thread is None or thread.world is not World.OWNER:
        return
    whose = f"A job of {unmarked(who.name) if who else 'somebody'} ({thread.channel}/{thread.external_id})"
    said = f"{whose} asks; here a button or a command answers it.\n{text}"
    meta = meta | {"notice": "question"}
    await outbox.write(tx, place, said, external_id=f"notice:asks:{asked.id}", pulled=pulled, meta=meta)


async def is_put(tx: Connection, approval_id: UUID, thread_id: UUID) -> bool:
    """Whether the question stands in this thread."""
    cursor = await tx.execute(
        "SELECT 1 FROM messages WHERE thread_id = %s AND author = 'assistant' AND meta->>'approval' = %s LIMIT 1",
        (thread_id, str(approval_id)),
    )
    return await cursor.fetchone() is not None
