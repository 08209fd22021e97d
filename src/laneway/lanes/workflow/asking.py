"""The question before a workflow changes: exact operations on an exact version, shown, approved, and then stored.

The proposal is a row while a person thinks about it. A yes holds for what was shown; if the workflow has changed by
then, the same operations are tried on what it is now, and the question is asked anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from laneway.domain.judgement import ApprovalState
from laneway.domain.workflow import Cause, Operations, Patch, Workflow
from laneway.engine.running import current_run
from laneway.engine.steps import Steps
from laneway.errors import Conflict
from laneway.lanes.contract import Request
from laneway.lanes.workflow.patches import Patches, Proposal
from laneway.lanes.workflow.preview import Previews
from laneway.lanes.workflow.refusing import Rejected
from laneway.store import approvals, pauses, workflow_patches, workflows
from laneway.store.database import Connection, Database
from laneway.store.pauses import Pause
from laneway.store.questions import Question, may_i

TOOL = "patch_workflow"


@dataclass(frozen=True)
class Wanted:
    """A change as it was drafted: what, for whose workflow, for how long."""

    owner: UUID
    tag: str
    operations: Operations
    description: str
    valid_until: datetime | None = None
    notes: tuple[str, ...] = ()
    undoes: str | None = None
    """The patch that is taken back by it; then its operations are whatever that takes."""

    def action(self, base_version: int) -> dict[str, Any]:
        """The exact action that is approved."""
        arguments = {
            "workflow": self.tag, "owner": str(self.owner), "base_version": base_version,
            "description": self.description, "operations": self.operations,
            "valid_until": self.valid_until.isoformat() if self.valid_until else None, "notes": list(self.notes),
        }  # fmt: skip
        return {"tool": TOOL, "arguments": arguments | ({"undoes": self.undoes} if self.undoes else {})}

    @classmethod
    def of(cls, action: dict[str, Any]) -> Wanted:
        """The change that an action is about."""
        given = action["arguments"]
        until = datetime.fromisoformat(given["valid_until"]) if given.get("valid_until") else None
        return cls(
            UUID(given["owner"]), given["workflow"], given["operations"], given["description"], until,
            tuple(given.get("notes", ())), given.get("undoes"),
        )  # fmt: skip


@dataclass(frozen=True)
class Standing:
    """Where the job stands with its question."""

    action: dict[str, Any]
    state: ApprovalState
    answered_by: UUID | None


class Asking:
    """Puts proposals before a person, and stores what was approved."""

    def __init__(self, db: Database, steps: Steps, patches: Patches, previews: Previews, seconds: int) -> None:
        self._db, self._steps, self._patches, self._previews, self._seconds = db, steps, patches, previews, seconds

    async def proposal(self, tx: Connection, wanted: Wanted) -> Proposal:
        """The change on what the workflow is now; Rejected if it does not hold there."""
        workflow = await workflows.stored(tx, wanted.owner, wanted.tag)
        if wanted.undoes is not None:
            if workflow is None:
                raise Conflict(f"Workflow `{wanted.tag}` is gone.", hint="There is nothing left to undo.")
            return await self._patches.propose_undo(tx, workflow, UUID(wanted.undoes))
        return await self._patches.proposed(workflow, wanted.tag, wanted.operations, wanted.description)

    async def ask(self, request: Request, wanted: Wanted, since: int | None = None) -> Question:
        """The change is a row that waits for an answer; `since` is the version it was asked about before."""

        async def put() -> dict[str, Any]:
            async with self._db.transaction() as tx:
                await self._steps.hold(tx, current_run())
                proposal = await self.proposal(tx, wanted)
                preview = await self._previews.of(tx, proposal)
                action = wanted.action(proposal.base_version)
                shown = {**action["arguments"], "operations": proposal.operations}
                call = {"action": action, "why": wanted.description, "rule": "workflow", "shown": shown}
                pause = Pause([], [call], dict(current_run().calls), list(current_run().sources), [])
                await pauses.put(tx, request.job.id, pause)
            return {"action": action, "preview": preview.text(wanted.notes, wanted.valid_until)}

        put_down = await self._checked(f"propose.{request.job.run}", put)
        text = put_down["preview"]
        if since is not None:
            text = f"The workflow has changed since you were asked (it was at version {since}).\n{text}"
        return self._question(put_down["action"], wanted.description, text)

    async def look(self, request: Request) -> Standing | None:
        """Where an earlier run of the job stopped, if one did."""

        async def read() -> dict[str, Any] | None:
            async with self._db.transaction() as tx:
                found = await pauses.of_job(tx, request.job.id)
                if found is None or not found.calls or found.calls[0]["action"].get("tool") != TOOL:
                    return None
                action = found.calls[0]["action"]
                asked = await approvals.of_action(tx, request.job.id, approvals.action_hash(action))
            if asked is None:
                return {"action": action, "state": str(ApprovalState.PENDING), "by": None}
            by = str(asked.answered_by) if asked.answered_by else None
            return {"action": action, "state": str(asked.state), "by": by}

        found = await self._steps.step("standing", read)
        if found is None:
            return None
        return Standing(found["action"], ApprovalState(found["state"]), UUID(found["by"]) if found["by"] else None)

    def again(self, standing: Standing) -> Question:
        """The question that is still open."""
        return self._question(standing.action, standing.action["arguments"]["description"], "")

    async def store(
        self, request: Request, wanted: Wanted, base: int | None, by: UUID | None
    ) -> tuple[Workflow, Patch] | int:
        """The change is stored once; its version, and nothing is stored, if the workflow is no longer at `base`."""
        action = wanted.action(-1 if base is None else base)
        once = f"{request.job.id}:{approvals.action_hash(action)[:24]}"

        async def put() -> dict[str, Any]:
            async with self._db.transaction() as tx:
                await self._steps.hold(tx, current_run())
                earlier = await workflow_patches.under(tx, once)
                if earlier is not None:
                    # A crash came between this and its being noted.
                    return {"workflow": str(earlier.workflow_id), "patch": str(earlier.id)}
                proposal = await self.proposal(tx, wanted)
                if base is not None and proposal.base_version != base:
                    return {"version": proposal.base_version}
                who = request.message.principal_id or wanted.owner
                cause = Cause(
                    who, request.message.text[:4000], request.message.id, request.job.id, by, wanted.valid_until, once
                )
                if wanted.undoes is not None and proposal.workflow is not None:
                    changed, patch = await self._patches.undo(tx, proposal.workflow, UUID(wanted.undoes), cause)
                else:
                    changed, patch = await self._patches.store(tx, proposal, cause, owner=wanted.owner)
            return {"workflow": str(changed.id), "patch": str(patch.id)}

        async def patiently() -> dict[str, Any]:
            try:
                return await put()
            except Conflict:
                # Another change came in between: look again at what there is now.
                return await put()

        kept = await self._checked(f"store.{request.job.run}", patiently)
        if "version" in kept:
            return int(kept["version"])
        async with self._db.transaction() as tx:
            workflow = await workflows.by_id(tx, UUID(kept["workflow"]))
            assert workflow is not None
            return workflow, await workflow_patches.of_id(tx, UUID(kept["patch"]))

    async def _checked(self, name: str, work: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """The outcome of a step; what the checks refuse is an outcome, too, and no fault of the step."""

        async def guarded() -> dict[str, Any]:
            try:
                return await work()
            except Rejected as error:
                return {"rejected": error.findings}
            except Conflict as error:
                return {"conflict": error.message, "hint": error.hint}

        found = await self._steps.step(name, guarded)
        if "conflict" in found:
            raise Conflict(found["conflict"], hint=found["hint"])
        if "rejected" in found:
            raise Rejected(found["rejected"])
        return found

    def _question(self, action: dict[str, Any], why: str, text: str) -> Question:
        return may_i(action, text, why, self._seconds, action["arguments"])
