"""Messages that change a workflow word for word: they are that, whatever they resemble elsewhere."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from laneway.clock import Clock
from laneway.domain.conversation import Message, World
from laneway.domain.job import Job
from laneway.domain.workflow import Document
from laneway.errors import LanewayError
from laneway.lanes.workflow.scenes import MAIN, MOST_SEEN
from laneway.lanes.workflow.sentences.find import DraftContext, WorkflowDraft
from laneway.lanes.workflow.sentences.planner import LONGEST, plan_change
from laneway.lanes.workflow.trying import checked, normalised
from laneway.store import workflows
from laneway.store.database import Connection

_CHANGES = re.compile(
    r"(?i)\b(add|after|alert|always|ask|before|call|change|delete|disable|drop|enable|every|extend|if|increase|insert|"
    r"limit|lower|mail|e-?mail|move|never|notify|pause|put|raise|reduce|remove|rename|replace|resume|retry|run|schedule|"
    r"send|set|skip|slack|start|stop|switch|tell|try|until|use|wait|when|whenever)\b"
)
"""One of these is in every sentence that changes a workflow; all other messages cost nothing here."""


class Claiming:
    """Looks at messages before they are classified."""

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
