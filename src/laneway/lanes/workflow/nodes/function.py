"""`function`: calls a tool of the toolbox by its name, behind the gate every tool call passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from laneway.domain.judgement import ApprovalState
from laneway.lanes.workflow.hands import Doing, Done, Failed, Kind, Outcome, ToolCall, Waits
from laneway.store import approvals
from laneway.store.questions import may_i

LONGEST_WORDS = 300
_WRITTEN = ("stdout", "stderr", "exit_code")


async def called(doing: Doing) -> Outcome:
    """Its output is what the tool gave; where the gate asks, the run waits for a person's yes to exactly this call."""
    arguments = doing.config.get("arguments")
    if arguments is None and "input" in doing.config:
        arguments = {"input": doing.config["input"]}
    given: dict[str, Any] = dict(arguments or {})
    name = str(doing.config.get("name") or "")
    call = ToolCall(name, given, doing.request, list(doing.sources), doing.key, doing.shown, doing.seconds)
    outcome = await doing.hands.call_tool(call)
    if "asked" in outcome:
        return await _waiting(doing, outcome["asked"])
    if outcome.get("status") != "success":
        return Failed(_why(outcome), retryable=not outcome.get("uncertain"))
    source = outcome.get("source")
    return Done(_given(outcome), (str(source),) if source else ())


def _given(outcome: Mapping[str, Any]) -> Any:
    """What the tool gave; where it ran a program, what that wrote stands beside it."""
    result = outcome.get("result")
    if outcome.get("exit_code") is None:
        return result
    return {**(result if isinstance(result, Mapping) else {}), **{name: outcome.get(name) for name in _WRITTEN}}


def _why(outcome: Mapping[str, Any]) -> str:
    """Why it failed, and the last words of a program that says so itself."""
    said = str(outcome.get("error") or "It did not work.")
    written = str(outcome.get("stderr") or "").strip()
    return f"{said} {written[-LONGEST_WORDS:]}" if written else said


async def _waiting(doing: Doing, asked: dict[str, Any]) -> Outcome:
    fingerprint = approvals.action_hash(asked["action"])
    async with doing.db.transaction() as tx:
        found = await approvals.of_action(tx, doing.request.job.id, fingerprint)
    if found is not None and found.state is ApprovalState.APPROVED:
        # The yes came since the gate looked, which lets this very call through now.
        return await called(doing)
    if found is not None and found.state is not ApprovalState.PENDING:
        return Failed(f"Not done: the question was {found.state}.", retryable=False, code="not-approved")
    told = f"The workflow `{doing.run.tag}` wants to do this at `{doing.name}`. May it?\n[{doing.config.get('name')}]"
    lines = "\n".join(f"{key}: {value}" for key, value in asked["shown"].items())
    text, why = f"{told}\n{lines}\n{asked['why']}", asked["why"]
    question = may_i(asked["action"], text, why, doing.hands.question_seconds, asked["shown"])
    return Waits({"approval": fingerprint}, None, question if found is None else None)


KIND = Kind("function", called, knows_secrets=True, hears=True, takes=False)
