"""Workflows that are started by what somebody says: a message that is nothing but a trigger's phrase is its run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from laneway.domain.conversation import Incoming, Receipt, World
from laneway.domain.ids import new_id
from laneway.domain.job import JobMode
from laneway.domain.judgement import Intent
from laneway.domain.workflow import Workflow
from laneway.lanes.workflow.starting import recorded_as
from laneway.store import workflow_triggers, workflows
from laneway.store.database import Connection
from laneway.store.workflow_triggers import Trigger


class Spoken:
    """A message that starts a workflow, as it is written down; its job is the run."""

    def __init__(self, incoming: Incoming, workflow: Workflow, trigger: Trigger, rest: str) -> None:
        self._workflow, self._trigger, self._run = workflow, trigger, new_id()
        self._input = {"text": incoming.text, "rest": rest, **dict(trigger.config.get("input") or {})}
        judged: dict[str, Any] = {
            "intent": Intent.QUESTION, "summary": f"A run of the workflow {workflow.tag}.", "plan": "Walk its nodes.",
            "needs_confirmation": False, "confidence": 1.0,
        }  # fmt: skip
        payload = {**incoming.payload, "workflow_run": str(self._run), "classification": judged}
        self.incoming = replace(incoming, mode=JobMode.EXECUTE, lane="workflow", payload=payload)

    async def begun(self, tx: Connection, receipt: Receipt) -> None:
        """The run of the message's job is on record."""
        cause = {"type": "chat", "trigger": self._trigger.number}
        await recorded_as(tx, self._run, self._workflow, receipt, self.incoming.principal, self._input, cause)


async def spoken(tx: Connection, incoming: Incoming) -> Spoken | None:
    """The run this message is, if it is nothing but the phrase of one of the sender's workflows."""
    plain = incoming.mode == JobMode.AUTO and incoming.lane is None and not incoming.files
    told = any(incoming.meta.get(key) for key in ("forwarded", "voice", "sources"))
    if not plain or told or incoming.principal.world is not World.OWNER:
        return None
    for trigger in await workflow_triggers.phrases_of(tx, incoming.principal.id):
        rest = matched(str(trigger.config.get("phrase") or ""), incoming.text)
        workflow = await workflows.by_id(tx, trigger.workflow_id) if rest is not None else None
        if rest is not None and workflow is not None and workflow.removed_at is None:
            return Spoken(incoming, workflow, trigger, rest)
    return None


def matched(phrase: str, text: str) -> str | None:
    """What follows the phrase after a colon, empty if nothing does; None if the text is not the phrase."""
    head, _, rest = text.partition(":")
    wanted = _words(phrase)
    if not wanted:
        return None
    if _words(text) == wanted:
        return ""
    return rest.strip() if _words(head) == wanted else None


def _words(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!?…")
