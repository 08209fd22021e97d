"""`hitl`: asks a person and waits as a row; the answer is its output's `decision`."""

from __future__ import annotations

import json
from typing import Any

from laneway.domain.conversation import Role
from laneway.domain.judgement import Approval, ApprovalState
from laneway.errors import BadInput
from laneway.lanes.workflow.hands import LONGEST_MS, Doing, Done, Failed, Kind, Outcome, Waits
from laneway.store import approvals
from laneway.store.questions import Question

YES_OR_NO = "Answer yes or no, or: `laneway approve {id}`, `laneway reject {id}`."
CHOICE = "Answer with a number or its words, or: `laneway approve {id} --choice WORDS`, `laneway reject {id}`."
MOST_ASKED = 50
"""How often a question is put again after something newer was said in its place."""
LONGEST_SHOWN = 2000
LONGEST_WHY = 300
"""Characters of the question in lists of what is asked."""


async def asked(doing: Doing) -> Outcome:
    """Its output is {decision, by, at}: approved, rejected, expired, or the option that was chosen."""
    times = int((doing.record.waits or {}).get("asked", 1))
    action = _action(doing, times)
    async with doing.db.transaction() as tx:
        found = await approvals.of_action(tx, doing.request.job.id, approvals.action_hash(action))
    if found is None:
        return _put(doing, action, times)
    if found.state is ApprovalState.PENDING:
        return Waits({"asked": times, "approval": found.action_hash})
    if found.state is ApprovalState.SUPERSEDED:
        # Something else was asked for in this thread meanwhile; nobody has decided this.
        if times >= MOST_ASKED:
            return Failed("The question was put aside too often.", retryable=False, code="not-approved")
        return _put(doing, _action(doing, times + 1), times + 1)
    return Done(_decision(found))


def _put(doing: Doing, action: dict[str, Any], times: int) -> Waits:
    named = doing.config.get("approvers") or "owner"
    roles = {str(one).strip().lower() for one in ([named] if isinstance(named, str) else named)}
    if unknown := sorted(roles - {Role.OWNER, Role.OPERATOR}):
        raise BadInput(f"`{unknown[0][:60]}` cannot answer for a workflow.", hint="Name owner or operator.")
    waits = {"asked": times, "approval": approvals.action_hash(action)}
    return Waits(waits, None, _question(doing, action), tuple(sorted(roles | {Role.OWNER})))


def _decision(found: Approval) -> dict[str, Any]:
    decision = found.choice if found.state is ApprovalState.APPROVED and found.choice else str(found.state)
    at = None if found.answered_at is None else found.answered_at.isoformat()
    return {"decision": decision, "by": str(found.answered_by) if found.answered_by else None, "at": at, "comment": ""}


def _action(doing: Doing, times: int) -> dict[str, Any]:
    about = {"workflow": doing.run.tag, "node": doing.name, "message": doing.shown(_message(doing))}
    place = {"run": str(doing.run.id), "visit": doing.record.visit, "asked": times}
    return {"tool": "workflow.hitl", "arguments": about, **place}


def _message(doing: Doing) -> str:
    text = str(doing.config.get("message") or f"May the workflow `{doing.run.tag}` go on at `{doing.name}`?")
    if "input" not in doing.config:
        return text
    given = doing.config["input"]
    told = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, indent=1, default=str)
    return f"{text}\n{told[:LONGEST_SHOWN]}"


def _question(doing: Doing, action: dict[str, Any]) -> Question:
    options = [str(one)[:60] for one in doing.config.get("options") or ()][:20]
    usual = {one.lower() for one in options} <= {"approve", "approved", "reject", "rejected"}
    choices = [] if usual else [{"label": one, "text": one} for one in options]
    deadline = min(int(doing.config.get("deadline_ms") or 0), LONGEST_MS) / 1000 or doing.own_seconds
    seconds = max(1, int(deadline)) if deadline else doing.hands.question_seconds
    message = doing.shown(_message(doing))
    line = " ".join(str(message).split())
    why = f"The workflow {doing.run.tag} asks: {line if len(line) <= LONGEST_WHY else line[: LONGEST_WHY - 1] + '…'}"
    return Question(
        f"hitl.{approvals.action_hash(action)[:12]}", action, why, message, seconds, choices,
        CHOICE if choices else YES_OR_NO, once=True,
    )  # fmt: skip


KIND = Kind("hitl", asked, takes=False)
