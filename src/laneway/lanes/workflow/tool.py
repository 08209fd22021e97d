"""`patch_workflow`: what a model calls to change a workflow. It proposes; storing is another's business.

In the workflow lane the call ends the model's turn: what it proposed goes before a person. In the toolbox of the other
lanes it hands the proposal to the workflow lane as a job of its own, which shows it and asks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from pydantic_ai import ModelRetry, RunContext

from laneway.domain.conversation import Incoming
from laneway.domain.workflow import Operations, Workflow, checked_tag
from laneway.errors import LanewayError
from laneway.lanes.contract import Request
from laneway.lanes.workflow.patches import Patches
from laneway.store import conversations, intake, principals, workflows
from laneway.store.database import Database

NAME = "patch_workflow"
MOST_DESCRIBED = 500
JUDGED = {
    "intent": "command", "summary": "A change of a workflow.", "plan": "Show it, ask, store it.",
    "needs_confirmation": False, "confidence": 1.0,
}  # fmt: skip


@dataclass(frozen=True)
class Proposed:
    """What a model proposes; it has passed every check on the version it saw."""

    tag: str
    operations: Operations
    description: str
    valid_until: datetime | None = None


@dataclass(frozen=True)
class Sight:
    """What a model sees of its owner's workflows."""

    tag: str | None
    workflows: Mapping[str, Workflow]
    patches: Patches
    until: Callable[[str], datetime]
    """A moment from the words for it."""


async def patch_workflow(
    context: RunContext[Sight], operations: list[dict[str, Any]], description: str,
    workflow_tag: str | None = None, valid_until: str | None = None,
) -> Proposed:  # fmt: skip
    """Propose a lasting change of a workflow as JSON Patch (RFC 6902).

    operations: [{"op", "path", "value"?, "from"?}]; paths may name nodes by id (/nodes/@id/…). description: what is
    different afterwards, in one sentence. workflow_tag: which workflow, if not the current one; a new tag makes a new
    workflow. valid_until: when the change shall undo itself (ISO time, or like "in 2 hours"); leave out for ever.
    """
    sight = context.deps
    try:
        tag = checked_tag(workflow_tag or sight.tag or "")
        until = sight.until(valid_until) if valid_until else None
        described = " ".join(description.split())[:MOST_DESCRIBED]
        await sight.patches.proposed(sight.workflows.get(tag), tag, operations, described)
    except LanewayError as error:
        raise ModelRetry(str(error)) from None
    return Proposed(tag, operations, described, until)


class Call(Protocol):
    """What a toolbox tells its tools of a call."""

    @property
    def request(self) -> Request: ...
    @property
    def thread_id(self) -> UUID: ...
    @property
    def job_id(self) -> UUID: ...
    @property
    def by(self) -> UUID | None: ...
    @property
    def sources(self) -> tuple[str, ...]: ...


def toolbox_tool(db: Database, patches: Patches) -> Callable[..., Awaitable[dict[str, Any]]]:
    """The same tool for a toolbox: checked at once, then shown and asked for by the workflow lane."""

    async def patch_workflow(
        call: Call,
        workflow_tag: str,
        operations: list[dict[str, Any]],
        description: str,
        valid_until: str | None = None,
    ) -> dict[str, Any]:
        """Propose a lasting change of a stored workflow as JSON Patch (RFC 6902); the owner sees it and decides.

        operations: [{"op", "path", "value"?, "from"?}]; paths may name nodes by id (/nodes/@id/…). A tag that no
        workflow has yet makes a new one: {"op": "replace", "path": "", "value": {"nodes": […], "edges": […]}}.
        description: what is different afterwards, in one sentence. valid_until: an ISO time at which it undoes itself.
        """
        async with db.transaction() as tx:
            thread = await conversations.thread(tx, call.thread_id)
            principal = await principals.by_id(tx, call.by or thread.principal_id) if thread else None
            if thread is None or principal is None:
                return _failed("This conversation is gone.")
            try:
                found = await workflows.stored(tx, principal.id, checked_tag(workflow_tag))
                await patches.proposed(found, workflow_tag, operations, description)
                if valid_until is not None:
                    datetime.fromisoformat(valid_until)
            except (LanewayError, ValueError) as error:
                return _failed(str(error))
            patch: dict[str, Any] = {
                "workflow_tag": workflow_tag, "operations": operations, "valid_until": valid_until,
                "description": " ".join(description.split())[:MOST_DESCRIBED],
            }  # fmt: skip
            key = hashlib.sha256(json.dumps(patch, sort_keys=True).encode()).hexdigest()[:16]
            incoming = Incoming(
                thread.channel, thread.external_id, f"patch:{call.job_id}:{key}", patch["description"], principal,
                lane="workflow", payload={"patch": patch, "classification": JUDGED},
                meta={"by_job": str(call.job_id), "sources": list(call.sources)}, program=call.request.job.program,
            )  # fmt: skip
            receipt = await intake.write(tx, incoming, scope=call.request.job.scope)
        return {
            "status": "success", "error": None, "stdout": None, "stderr": None, "exit_code": None,
            "result": {"job_id": str(receipt.job_id), "note": "The owner is shown the change next and decides."},
        }  # fmt: skip

    return patch_workflow


def _failed(error: str) -> dict[str, Any]:
    return {"status": "error", "result": None, "error": error, "stdout": None, "stderr": None, "exit_code": None}
