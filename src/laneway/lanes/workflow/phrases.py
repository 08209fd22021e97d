"""Messages that are for a workflow word for word: a trigger's phrase starts its run, a change is shown as any."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

from laneway.clock import Clock
from laneway.domain.conversation import Incoming, Message, Receipt, World
from laneway.domain.ids import new_id
from laneway.domain.job import Job, JobMode
from laneway.domain.judgement import Intent
from laneway.domain.workflow import Document, Workflow
from laneway.errors import LanewayError
from laneway.lanes.workflow.scenes import MAIN, MOST_SEEN
from laneway.lanes.workflow.sentences.find import DraftContext, WorkflowDraft
from laneway.lanes.workflow.sentences.planner import LONGEST, plan_change
from laneway.lanes.workflow.starting import recorded_as
from laneway.lanes.workflow.trying import checked, normalised
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


_CHANGES = re.compile(
    r"(?i)\b(add|after|alert|always|ask|before|call|change|delete|disable|drop|enable|every|extend|if|increase|insert|"
    r"limit|lower|mail|e-?mail|move|never|notify|pause|put|raise|reduce|remove|rename|replace|resume|retry|run|schedule|"
    r"send|set|skip|slack|start|stop|switch|tell|try|until|use|wait|when|whenever)\b"
)
"""One of these is in every sentence that changes a workflow; all other messages cost nothing here."""


class Claiming:
    """Looks at messages before they are classified: a change word for word is that, whatever it resembles elsewhere."""

    def __init__(self, clock: Clock, zone: str) -> None:
        self._clock, self._zone = clock, zone

    async def claimed(self, tx: Connection, job: Job, message: Message, world: World) -> str | None:
        """`workflow` if all the words together change a workflow that the sender has; the change is shown as any."""
        owner, text = message.principal_id, message.text
        if world is not World.OWNER or owner is None or len(text) > LONGEST or not _CHANGES.search(text):
            return None
        documents = {one.tag: one.document for one in await workflows.page(tx, owner, limit=MOST_SEEN)}
        tag, sent = await asyncio.to_thread(_sent, job.payload.get("runner"))
        if sent is not None:
            documents = {tag or MAIN: sent} | documents
        if not documents:
            return None
        known = DraftContext(self._clock.now(), self._zone, tag, documents)
        found = await asyncio.to_thread(plan_change, text, known)
        return "workflow" if isinstance(found, WorkflowDraft) and found.tag in documents else None


def _sent(runner: Any) -> tuple[str | None, Document | None]:
    """Which workflow the request names, and the one it brings along, if that may be one."""
    found = runner if isinstance(runner, dict) else {}
    tag, document = found.get("workflow_tag"), found.get("current_workflow")
    try:
        return (str(tag) if tag else None), None if document is None else checked(normalised(document))
    except LanewayError:
        return (str(tag) if tag else None), None
