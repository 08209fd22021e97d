"""Runs of workflows: started, listed, looked into node by node, retried, cancelled, and tried with pinned data."""

from __future__ import annotations

import secrets
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from laneway.domain.conversation import Principal, Role, Thread, World
from laneway.domain.workflow import Workflow
from laneway.domain.workflow_run import RunStatus, WorkflowRun
from laneway.errors import BadInput, Conflict, NotFound
from laneway.lanes.workflow.hearing import sent
from laneway.lanes.workflow.starting import Order
from laneway.store import conversations, events, principals, workflow_nodes, workflow_runs, workflow_triggers, workflows
from laneway.store.database import Connection
from laneway.web.auth import open_to
from laneway.web.gateway import Here, Me
from laneway.web.routes.workflows import Owner, owned_workflow
from laneway.web.shapes import Listing, Page
from laneway.web.workflow_run_shapes import (
    EventPosted,
    HookShape,
    NodeShape,
    RunPosted,
    RunShape,
    StartedShape,
    TestPosted,
    TriggerShape,
)
from laneway.web.workflow_shapes import OwnedListing

router = APIRouter(tags=["workflow runs"])
_BOTH = open_to(Role.OPERATOR)
OURS = frozenset({
    "approval", "attachment", "audit", "budget", "correction", "effect", "hook", "job", "memory", "message", "model",
    "outbox", "pairing", "permission", "principal", "reactor", "reminder", "reply", "schedule", "session", "task",
    "thread", "tool", "worker", "workflow",
})  # fmt: skip
"""The first words of events that only Laneway itself tells."""


class RunListing(OwnedListing):
    status: RunStatus | None = Field(None, description="Only at this status.")
    before: int | None = Field(None, ge=0, le=2**63 - 1, description="Only with a smaller `seq`.")


class NodeListing(Listing):
    before: int | None = Field(
        None, ge=0, le=2**63 - 1, description="Only after this one: the `next` of the page before."
    )


@router.post("/workflows/{tag}/execute", status_code=202, summary="Run a workflow", openapi_extra=_BOTH)
async def execute(here: Here, me: Me, tag: str, posted: RunPosted, owner: Owner = None) -> StartedShape:
    """The run is committed when this answers; GET /runs/ID tells what becomes of it."""
    async with here.app.db.transaction() as tx:
        workflow = await owned_workflow(tx, me, tag, owner)
        thread = await _thread(tx, posted.thread, me) if posted.thread else None
        key = f"{workflow.id}:given:{posted.id}" if posted.id else None
        order = Order(posted.inputs, {"type": "manual", "by": str(me.id)}, key, thread)
        return await _started(tx, here, me, workflow, posted.version, order)


@router.post("/workflows/{tag}/test", status_code=202, summary="Try a workflow with pinned data", openapi_extra=_BOTH)
async def test(here: Here, me: Me, tag: str, posted: TestPosted, owner: Owner = None) -> StartedShape:  # noqa: PT028  no test
    """Pinned nodes give what was given for them; of the others, those that would change, cost or ask anything only say
    what they would do. Nothing leaves this machine but reading requests."""
    async with here.app.db.transaction() as tx:
        workflow = await owned_workflow(tx, me, tag, owner)
        order = Order(posted.inputs, {"type": "test", "by": str(me.id)}, test=True, pinned=posted.pinned)
        return await _started(tx, here, me, workflow, posted.version, order)


@router.get("/workflows/{tag}/runs", summary="List runs of a workflow, newest first", openapi_extra=_BOTH)
async def listed(here: Here, me: Me, tag: str, which: Annotated[RunListing, Query()]) -> Page[RunShape]:
    async with here.app.db.transaction() as tx:
        workflow = await owned_workflow(tx, me, tag, which.owner)
        found = await workflow_runs.page(
            tx, workflow.id, status=which.status, limit=which.one_more, before=which.before
        )
    shown = found[: which.limit]
    return Page(items=[RunShape.of(run) for run in shown], next=shown[-1].seq if len(found) > which.limit else None)


@router.get("/workflows/{tag}/triggers", summary="What starts a workflow by itself", openapi_extra=_BOTH)
async def triggers(here: Here, me: Me, tag: str, owner: Owner = None) -> Page[TriggerShape]:
    """Those of the version in force, a moment after it was stored. A paused schedule goes on when the workflow is
    changed or a run of it ends well."""
    async with here.app.db.transaction() as tx:
        workflow = await owned_workflow(tx, me, tag, owner)
        found = await workflow_triggers.of_workflow(tx, workflow.id)
    return Page(items=[TriggerShape.of(one) for one in found], next=None)


@router.post(
    "/workflows/{tag}/hook", status_code=201, summary="Make the address and secret of a webhook", openapi_extra=_BOTH
)
async def hook(here: Here, me: Me, tag: str, owner: Owner = None) -> HookShape:
    """For a workflow with a trigger of the type webhook. The secret is shown once; a new one replaces it."""
    async with here.app.db.transaction() as tx:
        workflow = await owned_workflow(tx, me, tag, owner)
        if not has_webhook(workflow):
            raise Conflict(f"Workflow `{tag}` has no trigger of the type webhook.", hint="Add one to its triggers.")
        made = await workflow_triggers.make_hook(tx, workflow.id, f"whsec_{secrets.token_urlsafe(32)}")
    named = own_secret(workflow)
    return HookShape(id=made.id, path=f"/workflow-hooks/{made.id}", secret=named or made.secret)


@router.post("/workflow-events", status_code=202, summary="Tell workflows that something happened")
async def happened(here: Here, posted: EventPosted) -> EventPosted:
    """Every workflow with a trigger for this event, and every node that waits for it, gets it. Our own kinds of events
    happen by themselves and cannot be sent."""
    if posted.event.partition(".")[0] in OURS:
        raise BadInput(f"Events like `{posted.event}` are ours to tell.", hint="Use a name of your own.")
    body = sent(posted.data, posted.id)
    async with here.app.db.transaction() as tx:
        await events.append(tx, posted.event, body)
    return posted


@router.get("/runs/{run_id}", summary="One run", openapi_extra=_BOTH)
async def one(here: Here, me: Me, run_id: UUID) -> RunShape:
    async with here.app.db.transaction() as tx:
        return RunShape.of(await _mine(tx, me, run_id))


@router.get("/runs/{run_id}/nodes", summary="What happened at the nodes of a run, in order", openapi_extra=_BOTH)
async def nodes(here: Here, me: Me, run_id: UUID, which: Annotated[NodeListing, Query()]) -> Page[NodeShape]:
    async with here.app.db.transaction() as tx:
        run = await _mine(tx, me, run_id)
        found = await workflow_nodes.page(tx, run.id, limit=which.one_more, after=which.before or 0)
    shown = found[: which.limit]
    return Page(
        items=[NodeShape.of(record, run) for _, record in shown],
        next=shown[-1][0] if len(found) > which.limit else None,
    )


@router.post("/runs/{run_id}/retry", summary="Try a failed run again, from its failed node", openapi_extra=_BOTH)
async def retry(here: Here, me: Me, run_id: UUID) -> RunShape:
    """What earlier nodes gave is kept; nothing they did is done again."""
    async with here.app.db.transaction() as tx:
        await _mine(tx, me, run_id)
        return RunShape.of(await workflow_runs.reopen(tx, run_id))


@router.post("/runs/{run_id}/cancel", summary="Stop a run and those it started", openapi_extra=_BOTH)
async def cancel(here: Here, me: Me, run_id: UUID) -> RunShape:
    async with here.app.db.transaction() as tx:
        await _mine(tx, me, run_id)
        return RunShape.of(await workflow_runs.cancel(tx, run_id))


def has_webhook(workflow: Workflow) -> bool:
    """Whether the version in force takes webhooks."""
    return webhook_of(workflow) is not None


def webhook_of(workflow: Workflow) -> dict[str, Any] | None:
    """The trigger by which the version in force takes webhooks."""
    triggers = workflow.document.get("triggers") or []
    return next((one for one in triggers if one.get("type") == "webhook" and one.get("enabled") is not False), None)


def own_secret(workflow: Workflow) -> str | None:
    """The reference to a secret of the owner's own, if the trigger names one to sign with."""
    triggers = [one for one in workflow.document.get("triggers") or [] if one.get("type") == "webhook"]
    return next((str(one["secret"]) for one in triggers if one.get("secret")), None)


async def _started(
    tx: Connection, here: Here, me: Principal, workflow: Workflow, version: int | None, order: Order
) -> StartedShape:
    document = None if version is None else (await workflows.version(tx, workflow.id, version)).document
    # As whoever it belongs to: what others wrote into theirs must not run with the rights of the owner who starts it.
    whose = await principals.by_id(tx, workflow.principal_id)
    run_id, new = await here.app.runs.start(tx, workflow, whose or me, order, version, document)
    run = await workflow_runs.get(tx, run_id)
    return StartedShape(run_id=run_id, job_id=run.job_id, duplicate=not new)


async def _mine(tx: Connection, me: Principal, run_id: UUID) -> WorkflowRun:
    """The run, if it is of the one who asks; the owner sees everybody's."""
    found = await workflow_runs.get(tx, run_id)
    if me.role is not Role.OWNER and found.principal_id != me.id:
        raise NotFound(f"There is no run {run_id}.", hint="`laneway workflow runs TAG` lists them.")
    return found


async def _thread(tx: Connection, name: str, me: Principal) -> Thread:
    found = await conversations.threads_named(tx, name)
    if not found:
        return await conversations.ensure_thread(tx, "http", name, me)
    theirs = me.role is not Role.OWNER and found[0].principal_id != me.id
    if len(found) > 1 or theirs or found[0].world is not World.OWNER:
        raise BadInput(f"`{name[:60]}` is not one thread of yours.", hint="Write its id, or channel/name.")
    return found[0]
