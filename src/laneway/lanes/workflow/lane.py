"""The workflow lane: a lasting change from a request, shown first and stored after a yes; and the runs of workflows."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from laneway.clock import Clock
from laneway.domain.conversation import Role, World
from laneway.domain.judgement import ApprovalState
from laneway.domain.redaction import holds_secret
from laneway.domain.workflow import Patch, Workflow
from laneway.engine.running import current_run
from laneway.engine.steps import Steps
from laneway.errors import BadInput, Conflict, Forbidden, LanewayError, NotFound, Unavailable, failure
from laneway.lanes.contract import Answer, Request
from laneway.lanes.workflow.asking import Asking, Standing, Wanted
from laneway.lanes.workflow.drafting import Drafted, Drafting, Scene
from laneway.lanes.workflow.refusing import Rejected, refuse
from laneway.lanes.workflow.scenes import Scenes
from laneway.lanes.workflow.secrets import secrets
from laneway.lanes.workflow.telling import owner_option
from laneway.lanes.workflow.undoing import undo_of, undoing
from laneway.store import artifacts, conversations, principals
from laneway.store.database import Database
from laneway.store.questions import Question

Go = Callable[[Request, UUID], Awaitable[Answer | Question]]
"""Takes a run of a workflow as far as it goes now."""

NOT_STORED = {
    ApprovalState.REJECTED: ("rejected", "Not done: you said no. The workflow is as it was."),
    ApprovalState.EXPIRED: ("expired", "Not done: nobody answered in time. Ask again if you still want it."),
    ApprovalState.SUPERSEDED: ("superseded", "Not done: a newer request took its place."),
}
NOT_YOURS = "Workflows are changed by their owner only."


class WorkflowLane:
    """Changes workflows by request and runs them."""

    name = "workflow"

    def __init__(
        self, db: Database, steps: Steps, clock: Clock, scenes: Scenes, drafting: Drafting, asking: Asking, *,
        approval: bool,
    ) -> None:  # fmt: skip
        self._db, self._steps, self._clock, self._scenes = db, steps, clock, scenes
        self._drafting, self._asking, self._approval = drafting, asking, approval
        self.go: Go = _no_runs

    async def run(self, request: Request) -> Answer | Question:
        """The change is stored, refused or waits for its answer; or the run has gone as far as it can."""
        run_id = request.job.payload.get("workflow_run")
        if run_id is not None:
            return await self.go(request, UUID(str(run_id)))
        if request.world is not World.OWNER:
            return _failed("forbidden", NOT_YOURS)
        standing = await self._asking.look(request)
        try:
            return await self._resume(request, standing) if standing else await self._begin(request)
        except (Rejected, Conflict, NotFound, Forbidden, BadInput) as error:
            return _refused(error)

    async def _begin(self, request: Request) -> Answer | Question:
        scene = await self._scenes.of(request)
        given = request.job.payload.get("patch")
        undo = None if given else undo_of(request.message.text)
        if given:
            drafted = Drafted(_given(scene, given))
        elif undo is not None:
            drafted = Drafted(await undoing(self._db, self._steps, request, scene, undo))
        else:
            await self._check_words(request)
            drafted = await self._drafting.draft(request, scene)
        if drafted.wanted is None and drafted.refused:
            refused = _failed("not-understood", drafted.said)
            return Answer(refused.text, refused.result | self._told(drafted))
        if drafted.wanted is None:
            return Answer(
                drafted.said, {"result_preview": {"kind": "text", "text": drafted.said}, **self._told(drafted)}
            )
        if await self._must_ask(request):
            return await self._asking.ask(request, drafted.wanted)
        stored = await self._asking.store(request, drafted.wanted, None, request.message.principal_id)
        assert not isinstance(stored, int)
        return await self._done(request, *stored, self._told(drafted))

    async def _resume(self, request: Request, standing: Standing) -> Answer | Question:
        if standing.state is ApprovalState.PENDING:
            return self._asking.again(standing)
        if standing.state is not ApprovalState.APPROVED:
            return _failed(*NOT_STORED[standing.state])
        wanted, base = Wanted.of(standing.action), int(standing.action["arguments"]["base_version"])
        stored = await self._asking.store(request, wanted, base, standing.answered_by)
        if isinstance(stored, int):
            return await self._asking.ask(request, wanted, since=base)
        return await self._done(request, *stored, self._told(Drafted(None)))

    async def _check_words(self, request: Request) -> None:
        """Returns only if no secret is in the words; of one whose lane was not known before, nothing stays stored."""
        if holds_secret(request.turns[-1].whole):
            async with self._db.transaction() as tx:
                await conversations.hide_secrets(tx, request.message)
            refuse([*secrets({"text": request.turns[-1].whole})])

    async def _must_ask(self, request: Request) -> bool:
        """Whether a person decides first: always, unless the owner switched it off and only the owner has spoken."""
        if self._approval or current_run().sources:
            return True
        async with self._db.transaction() as tx:
            who = await principals.by_id(tx, request.message.principal_id)
        return who is None or who.role is not Role.OWNER

    async def _done(self, request: Request, workflow: Workflow, patch: Patch, metadata: dict[str, Any]) -> Answer:
        # Operations are for the version they were made for; a whole workflow is for none, and replaces none.
        made = patch.base_version == 0
        change: dict[str, Any] = {"operations": patch.operations}
        shown = {
            "kind": "new" if made else "patch", "patch_id": str(patch.id), "workflow_tag": workflow.tag,
            "base_version": patch.base_version, "version": patch.version, "description": patch.description,
        } | ({} if made else change)  # fmt: skip
        body = shown | ({"document": workflow.document} if made else change)

        async def keep() -> str:
            async with self._db.transaction() as tx:
                return await artifacts.record(tx, json.dumps(body).encode(), "application/json")

        ref = await self._steps.step("result", keep)
        until = f" It is undone by itself on {patch.valid_until:%Y-%m-%d at %H:%M} UTC." if patch.valid_until else ""
        async with self._db.transaction() as tx:
            whose = await owner_option(tx, workflow.principal_id)
        back = f"To take it back: `laneway workflow undo {workflow.tag} --patch {patch.id}{whose}`."
        now = f"Workflow `{workflow.tag}` is at version {patch.version}.{until} {back}"
        if workflow.removed_at is not None:
            now = f"Workflow `{workflow.tag}` is removed, as if it had never been made."
        text = f"Done: {patch.description or 'the workflow is changed.'} {now}"
        metadata = metadata or self._told(Drafted(None))
        return Answer(text, {"result_ref": ref, "result_preview": shown, "workflow": workflow.tag, **metadata})

    def _told(self, drafted: Drafted) -> dict[str, Any]:
        usual = {"tool_calls": ["patch_workflow"], "cache_hit": False, "cache_kind": None, "llm_model": None}
        return {"metadata": {**usual, **drafted.spent}}


async def _no_runs(request: Request, run_id: UUID) -> Answer:
    raise Unavailable(f"Run {run_id} cannot go on: nothing here runs workflows.")


def _given(scene: Scene, patch: dict[str, Any]) -> Wanted:
    """A change that somebody brought along ready-made."""
    until = datetime.fromisoformat(patch["valid_until"]) if patch.get("valid_until") else None
    tag = str(patch.get("workflow_tag") or scene.tag or "")
    return Wanted(scene.owner, tag, patch["operations"], str(patch.get("description", "")), until)


def _refused(error: LanewayError) -> Answer:
    more: dict[str, Any] = {"findings": error.findings} if isinstance(error, Rejected) else {}
    kind = error.reason if isinstance(error, Rejected) else error.code
    answer = _failed(kind, f"Nothing was changed. {error}")
    return Answer(answer.text, answer.result | more)


def _failed(kind: str, text: str) -> Answer:
    return Answer(text, {"failed": failure(kind, text)})
