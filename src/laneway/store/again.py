"""Asks once more what was not answered in time: the same action, in a job of its own."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from laneway.domain.conversation import Incoming, Principal, Receipt, sources_of
from laneway.domain.judgement import ApprovalState
from laneway.errors import Conflict, Forbidden, NotFound
from laneway.store import approvals, conversations, intake, jobs, pauses
from laneway.store.database import Connection


async def ask_again(tx: Connection, approval_id: UUID, principal: Principal) -> Receipt:
    """A new job waits where the old one stood, so the same action is asked for without a model call."""
    asked = await approvals.get(tx, approval_id)
    if principal.role not in asked.may_answer:
        raise Forbidden(f"You may not answer approval {approval_id}.", hint="Ask its owner.")
    if asked.state in (ApprovalState.PENDING, ApprovalState.APPROVED):
        raise Conflict(f"Approval {approval_id} is {asked.state}.", hint="There is nothing to ask again.")
    old = await jobs.get(tx, asked.job_id)
    message = await conversations.message(tx, old.message_id)
    thread = await conversations.thread(tx, asked.thread_id)
    judged = await jobs.classification_of(tx, old.id)
    if message is None or thread is None or judged is None:
        raise NotFound(f"What approval {approval_id} was about is gone.", hint="Send the message again.")
    incoming = Incoming(
        thread.channel, thread.external_id, f"again:{approval_id}", message.text, principal, lane=old.lane,
        payload={**_kept(old.payload, ("schedule",)), "classification": judged.as_dict(), "again_of": str(old.id)},
        meta={
            **_kept(message.meta, ("delegated", "origin", "schedule", "forwarded", "voice")),
            "again_of": str(message.id),
            "sources": list(sources_of(message, await conversations.attachments(tx, [message.id]))),
        },
        program=old.program,
    )  # fmt: skip
    receipt = await intake.write(tx, incoming, scope=old.scope)
    if not receipt.duplicate:
        await pauses.copy(tx, old.id, receipt.job_id)
    return receipt


def _kept(facts: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: facts[name] for name in names if name in facts}
