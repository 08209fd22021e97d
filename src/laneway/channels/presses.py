"""What buttons there are under a reply, and what pressing one does.

    a:APPROVAL   yes            r:APPROVAL    no          w:APPROVAL   yes, always
    c:APPROVAL:N the Nth choice s:JOB         stop it     u:JOB        put back what it changed

What a provider says was pressed may be invented, so nothing counts but what is in the store: the question or job must
be of the thread the press came from, and whoever pressed must be allowed to.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from laneway.channels.contract import Button
from laneway.domain.conversation import Principal, Thread
from laneway.domain.job import FINAL
from laneway.domain.judgement import ApprovalState, OutboxRow
from laneway.errors import BadInput, Conflict, Forbidden, LanewayError, NotFound
from laneway.store import approvals, jobs, permissions, questions
from laneway.store.database import Connection

LONGEST = 64
_ANSWERS = {"a": ApprovalState.APPROVED, "w": ApprovalState.APPROVED, "r": ApprovalState.REJECTED}
_OUTCOMES = {
    ApprovalState.APPROVED: "Approved.",
    ApprovalState.REJECTED: "Rejected.",
    ApprovalState.SUPERSEDED: "No longer asked: something newer took its place.",
    ApprovalState.EXPIRED: "Too late: the question has expired.",
    ApprovalState.PENDING: "",
}


@dataclass(frozen=True, slots=True)
class Pressed:
    """What a press did: what to tell whoever pressed, and a command to be worked on as if it had been typed."""

    say: str
    command: str | None = None


def buttons(row: OutboxRow) -> tuple[Button, ...]:
    """The buttons that belong under a reply, in order."""
    approval, choices = row.meta.get("approval"), row.meta.get("choices") or []
    if approval and choices:
        return tuple(Button(str(one["text"]), f"c:{approval}:{number}") for number, one in enumerate(choices))
    if approval:
        always = () if row.meta.get("once") else (Button("Always", f"w:{approval}"),)
        return (Button("Yes", f"a:{approval}"), Button("No", f"r:{approval}"), *always)
    undoable = row.meta.get("undoable")
    return (Button("Undo", f"u:{undoable}"),) if undoable else ()


def outcome(state: ApprovalState) -> str:
    """How a question ended, in words for those who see it."""
    return _OUTCOMES[state]


def _too_late(state: ApprovalState) -> str:
    before = {ApprovalState.APPROVED: "it was approved", ApprovalState.REJECTED: "it was rejected"}.get(state)
    return f"Too late: {before} already." if before else _OUTCOMES[state]


async def press(tx: Connection, data: str, thread: Thread, principal: Principal) -> Pressed:
    """The press has done what its button says, or the answer says why not; errors are for whoever pressed."""
    try:
        verb, subject, extra = _parsed(data)
        if verb in _ANSWERS or verb == "c":
            return await _answer(tx, verb, subject, extra, thread, principal)
        return await _about_job(tx, verb, subject, thread, principal)
    except LanewayError as error:
        return Pressed(error.message)


def _parsed(data: str) -> tuple[str, UUID, str]:
    parts = data.split(":") if len(data.encode()) <= LONGEST else []
    try:
        verb, subject, extra = (*parts, "")[:3]
        known = verb in "arwcsu" and len(verb) == 1 and len(parts) == (3 if verb == "c" else 2)
        if not known:
            raise ValueError(verb)
        return verb, UUID(subject), extra
    except ValueError:
        raise BadInput("This button does nothing.") from None


async def _answer(
    tx: Connection, verb: str, approval_id: UUID, extra: str, thread: Thread, principal: Principal
) -> Pressed:
    asked = await approvals.get(tx, approval_id)
    if asked.thread_id != thread.id and not await questions.is_put(tx, approval_id, thread.id):
        raise NotFound("This question is not of this conversation.")
    if principal.role not in asked.may_answer:
        raise Forbidden("You may not answer this; the owner may.")
    if asked.state is not ApprovalState.PENDING:
        raise Conflict(_too_late(asked.state))
    choice = None
    if verb == "c":
        if not extra.isdecimal() or int(extra) >= len(asked.choices):
            raise BadInput("There is no such choice.")
        choice = asked.choices[int(extra)]["label"]
    answered = await approvals.answer(tx, approval_id, _ANSWERS.get(verb, ApprovalState.APPROVED), principal, choice)
    if verb == "w" and answered.state is ApprovalState.APPROVED:
        await permissions.give(tx, answered, principal.id)
        return Pressed("Approved, and from now on always allowed here.")
    return Pressed("Understood." if choice is not None else _OUTCOMES[answered.state])


async def _about_job(tx: Connection, verb: str, job_id: UUID, thread: Thread, principal: Principal) -> Pressed:
    job = await jobs.get(tx, job_id)
    if job.thread_id != thread.id or not thread.is_open_to(principal):
        raise NotFound("This is not of this conversation.")
    if verb == "u":
        return Pressed("Undoing it.", f"/undo {job_id}")
    if job.status in FINAL:
        raise Conflict(f"It is {job.status} already.")
    await jobs.request_cancel(tx, job_id)
    return Pressed("Stopping.")
