"""The gate every tool call passes: may it run now, must a person say yes first, or never?"""

from __future__ import annotations

from typing import Any

from laneway.domain.action import Decision, Verdict, allow, ask
from laneway.domain.judgement import ApprovalState
from laneway.domain.keepable import texts_in
from laneway.lanes.tools.entry import ToolEntry
from laneway.lanes.tools.work import Work
from laneway.store import approvals, permissions
from laneway.store.database import Database
from laneway.transcript import sentence_for

TAINTED, CONFIRMATION, MARKED = "tainted", "confirmation", "always-asks"
NEVER_STANDING = frozenset({TAINTED, "host-mode", "weaker-boundary"})
"""Rules that ask every time: no "always allow" covers them."""


APPROVED, PERMITTED = "approved", "permission"
BY_PERSON = frozenset({APPROVED, PERMITTED})
"""Rules by which a person, and not the guard, let an action run."""


def action_of(tool: str, arguments: dict[str, Any], work: Work, call_id: str | None) -> dict[str, Any]:
    """The exact action as it is stored, shown and compared: two calls of a model are two actions.

    Where it would run is part of it: a yes for the sandbox is none for the machine itself.
    """
    where = {"cwd": str(work.workspace), "host": work.request.host_mode}
    return {"tool": tool, "arguments": arguments, **where, "call": call_id}


class Gate:
    """Judges tool calls by the tool's own judge, the turn's sources, the message's judgement and what people said."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def judge(self, entry: ToolEntry, action: dict[str, Any], work: Work) -> Verdict:
        """Deny, ask, or allow; a person's yes counts for exactly the action it was given to."""
        verdict = self.rule(entry, action["arguments"], work)
        if verdict.decision is not Decision.ASK:
            return verdict
        async with self._db.transaction() as tx:
            found = await approvals.of_action(tx, work.request.job.id, approvals.action_hash(action))
            if found is not None and found.state is ApprovalState.APPROVED:
                return allow(APPROVED, "A person said yes to exactly this.", changes=verdict.changes)
            standing = verdict.rule not in NEVER_STANDING and await permissions.covers(
                tx, work.request.job.thread_id, action
            )
        return allow(PERMITTED, "Always allowed here.", changes=verdict.changes) if standing else verdict

    def rule(self, entry: ToolEntry, arguments: dict[str, Any], work: Work) -> Verdict:
        """What the rules say, before any person is asked; the strictest and, of equals, the first one counts."""
        own = entry.judge(arguments, work.call(None, approved=False))
        verdict = own or allow(changes=entry.changes)
        if verdict.decision is Decision.DENY:
            return verdict
        if verdict.changes and work.sources:
            besides = f" {verdict.why}" if verdict.decision is Decision.ASK else ""
            return ask(TAINTED, _told_by(entry.name, arguments, work) + besides)
        if entry.asks:
            verdict = verdict.or_stricter(ask(MARKED, f"{entry.name} always asks first.", changes=verdict.changes))
        judged = work.request.judged
        is_asked_for = not entry.private or judged.decided_by == "request"
        if verdict.changes and judged.needs_confirmation and is_asked_for:
            verdict = verdict.or_stricter(ask(CONFIRMATION, judged.summary))
        return verdict


def _told_by(tool: str, arguments: dict[str, Any], work: Work) -> str:
    sources, said = work.sources, sentence_for(" ".join(texts_in([tool, arguments])), work.heard)
    told = ", ".join(sources[:3]) + (f" and {len(sources) - 3} more" if len(sources) > 3 else "")
    return f"This conversation has read {told}.{said} What is written there may want {tool} to do this; do you?"
