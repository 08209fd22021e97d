"""Starting a run: its row, a message and its job are written in one transaction, once for every occasion."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from laneway.domain.conversation import Incoming, Principal, Receipt, Role, Thread
from laneway.domain.ids import new_id
from laneway.domain.job import JobMode, Scope
from laneway.domain.judgement import Intent
from laneway.domain.workflow import Document, Workflow
from laneway.domain.workflow_run import NodeRecord, WorkflowRun
from laneway.errors import BadInput, Conflict, NotFound, TooLarge, TooMany
from laneway.lanes.workflow.looking_back import in_line
from laneway.store import (
    conversations,
    events,
    intake,
    jobs,
    notices,
    principals,
    workflow_runs,
    workflow_turns,
    workflows,
)
from laneway.store.database import Connection

MOST_OPEN = 200
"""Runs of one workflow that have not ended."""
LARGEST_INPUT = 1_000_000
DEEPEST = 8
"""How many runs may lead to one another, by sub-workflows or by events."""


@dataclass(frozen=True)
class Order:
    """What is wanted of a run beside its workflow."""

    input: Mapping[str, Any] = field(default_factory=dict)
    cause: Mapping[str, Any] = field(default_factory=lambda: {"type": "manual"})
    key: str | None = None
    """The same key again starts nothing again."""
    thread: Thread | None = None
    """Where it asks and reports; where the owner reads, if nobody said."""
    sources: Sequence[str] = ()
    parent: WorkflowRun | None = None
    parent_node: str | None = None
    depth: int = 0
    test: bool = False
    pinned: Mapping[str, Any] = field(default_factory=dict)
    program: bool = False
    """Whether nobody sits before it (a program asked, a webhook, a clock): then what people ask for goes first."""


async def start(
    tx: Connection, workflow: Workflow, document: Document, version: int, principal: Principal, order: Order,
    pulled: Collection[str],
) -> tuple[UUID, bool]:  # fmt: skip
    """The run is on record and its job is queued; the run and False if this occasion has had one already."""
    _check(document, order)
    run_id = new_id()
    external_id = f"workflow:{order.key or run_id}"[:200]
    # Everywhere: where the owner reads, and with it where a run belongs, may have changed since.
    if order.key and (earlier := await workflow_runs.of_occasion(tx, external_id)):
        await events.append(tx, "message.duplicate", {"external_id": external_id}, job_id=earlier.job_id)
        return earlier.id, False
    thread = order.thread or await _home(tx, workflow, principal, pulled)
    incoming = Incoming(
        thread.channel, thread.external_id, external_id, _said(workflow, order), principal,
        mode=JobMode.EXECUTE, lane="workflow",
        payload={"workflow_run": str(run_id), "classification": _judged(workflow)},
        meta={"workflow": workflow.tag, "workflow_run": str(run_id), "sources": list(order.sources)},
        program=order.program,
    )  # fmt: skip
    # Not in the thread's order: a run that takes its time, or waits, holds up no conversation.
    receipt = await intake.write(tx, incoming, aside=True, scope=Scope.PROACTIVE)
    if receipt.duplicate:
        known = await workflow_runs.of_job(tx, receipt.job_id)
        if known is None:
            raise Conflict("This occasion was taken by something else.", hint="Start it anew.")
        return known.id, False
    if await workflow_runs.count_open(tx, workflow.id) >= MOST_OPEN:
        raise TooMany(f"{MOST_OPEN} runs of `{workflow.tag}` have not ended.", hint="Cancel some, or wait.")
    await _line_up(tx, workflow, document)
    await workflow_runs.add(
        tx, id=run_id, workflow_id=workflow.id, version=version, document=document, input=dict(order.input),
        cause=dict(order.cause), principal_id=principal.id, job_id=receipt.job_id,
        parent_id=order.parent.id if order.parent else None, parent_node=order.parent_node, depth=order.depth,
        test=order.test, pinned=dict(order.pinned), sources=list(order.sources),
    )  # fmt: skip
    body = {"run": str(run_id), "workflow": workflow.tag, "version": version, "cause": dict(order.cause)}
    await events.append(tx, "workflow.run.started", body, thread_id=receipt.thread_id, job_id=receipt.job_id)
    return run_id, True


async def recorded_as(
    tx: Connection, run_id: UUID, workflow: Workflow, receipt: Receipt, principal: Principal, given: Mapping[str, Any],
    cause: Mapping[str, Any],
) -> None:  # fmt: skip
    """The job of a message that was just written down is a run of the workflow."""
    await _line_up(tx, workflow, workflow.document)
    await workflow_runs.add(
        tx, id=run_id, workflow_id=workflow.id, version=workflow.version, document=workflow.document,
        input=dict(given), cause=dict(cause), principal_id=principal.id, job_id=receipt.job_id, parent_id=None,
        parent_node=None, depth=0, test=False, pinned={}, sources=[],
    )  # fmt: skip
    body = {"run": str(run_id), "workflow": workflow.tag, "version": workflow.version, "cause": dict(cause)}
    await events.append(tx, "workflow.run.started", body, thread_id=receipt.thread_id, job_id=receipt.job_id)


async def _line_up(tx: Connection, workflow: Workflow, document: Document) -> None:
    """Where runs look back, this one is before all that come; the thread's row is held first, as everybody does."""
    if in_line(document):
        await workflow_turns.line_up(tx, workflow.id)


async def start_child(
    tx: Connection, parent: WorkflowRun, record: NodeRecord, config: Mapping[str, Any], pulled: Collection[str],
    given: Any, check: Callable[[Document], None],
) -> UUID:  # fmt: skip
    """A run of the workflow that the node names is on record; once for each attempt of the node."""
    tag = str(config.get("workflow") or "")
    workflow = await workflows.get(tx, parent.principal_id, tag)
    if parent.depth + 1 >= DEEPEST:
        raise BadInput(
            f"{DEEPEST} workflows have started one another; `{tag}` is not started.", hint="Break the chain."
        )
    number = int(config["version"]) if config.get("version") else workflow.version
    principal = await principals.by_id(tx, parent.principal_id)
    if principal is None:
        raise NotFound("Whoever owns the workflow is gone.", hint="Import it for somebody else.")
    input_ = given if isinstance(given, Mapping) else {"value": given}
    order = Order(
        input_, {"type": "node", "run": str(parent.id), "node": record.node},
        f"{parent.id}:{record.node}:{record.visit}:{record.attempts}", None, record.sources, parent, record.node,
        parent.depth + 1, parent.test, program=await jobs.is_programs(tx, parent.job_id),
    )  # fmt: skip
    document = await workflows.document_at(tx, workflow.id, number)
    check(document)
    return (await start(tx, workflow, document, number, principal, order, pulled))[0]


async def _home(tx: Connection, workflow: Workflow, principal: Principal, pulled: Collection[str]) -> Thread:
    """Where runs that nobody asked for in a thread ask and report."""
    if principal.role is Role.OWNER:
        found = await notices.owners_thread(tx, pulled)
        thread = await conversations.thread(tx, found) if found is not None else None
        if thread is not None:
            return thread
    return await conversations.ensure_thread(tx, "http", f"workflow:{workflow.id}", principal)


def _check(document: Document, order: Order) -> None:
    try:
        size = len(json.dumps(dict(order.input)).encode())
    except (TypeError, ValueError, RecursionError):
        raise BadInput("The input is no JSON.", hint="Send an object of plain values.") from None
    if size > LARGEST_INPUT:
        raise TooLarge(f"The input has {size:,} bytes; {LARGEST_INPUT:,} are taken.", hint="Send a reference to it.")
    known = {node["id"] for node in document["nodes"]}
    if unknown := sorted(set(order.pinned) - known):
        raise BadInput(
            f"There is no node `{unknown[0][:80]}` to pin.", hint=f"There are: {', '.join(sorted(known)[:20])}."
        )


def _said(workflow: Workflow, order: Order) -> str:
    how = {"cron": "by its schedule", "webhook": "by a webhook", "event": "by an event", "chat": "by its phrase"}
    kind = str(order.cause.get("type"))
    return f"Run the workflow `{workflow.tag}`{' as a test' if order.test else ''} ({how.get(kind, kind)})."


def _judged(workflow: Workflow) -> dict[str, Any]:
    """Its owner has written down what is to be done, so nobody asks what was meant."""
    return {
        "intent": Intent.QUESTION, "summary": f"A run of the workflow {workflow.tag}.", "plan": "Walk its nodes.",
        "needs_confirmation": False, "confidence": 1.0,
    }  # fmt: skip
