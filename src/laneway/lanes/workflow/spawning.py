"""The work of an agent node that has tools: a job of its own in the tools lane, in the thread where the run reports.

It passes the same gate, asks the same people, and what taints the node's words taints it. Nobody but the run hears what
it answers, and it sees nothing of the conversation around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from laneway.domain.conversation import Incoming
from laneway.domain.job import NODE_OF, Job, JobMode, Scope
from laneway.domain.judgement import Intent
from laneway.domain.storable import storable
from laneway.domain.workflow_run import NodeRecord, WorkflowRun
from laneway.errors import NotFound
from laneway.store import conversations, intake, principals
from laneway.store.database import Connection


async def spawn(
    tx: Connection, job: Job, run: WorkflowRun, record: NodeRecord, words: str, wanted: Mapping[str, Any]
) -> UUID:
    """The job is queued, once for each attempt of the node."""
    thread = await conversations.thread(tx, job.thread_id)
    principal = await principals.by_id(tx, run.principal_id)
    if thread is None or principal is None:
        raise NotFound("Whoever owns the workflow is gone.", hint="Import it for somebody else.")
    place = {"run": str(run.id), "node": record.node}
    judged = {
        "intent": Intent.QUESTION, "summary": f"The node {record.node} of the workflow {run.tag}.",
        "plan": "Do what it says.", "needs_confirmation": False, "confidence": 1.0,
    }  # fmt: skip
    incoming = Incoming(
        thread.channel, thread.external_id, f"node:{run.id}:{record.visit}:{record.attempts}:{record.node}"[:200],
        str(storable(words)), principal, mode=JobMode.EXECUTE, lane="tools",
        payload={NODE_OF: {**place, **wanted}, "classification": judged},
        meta={"hushed": True, "alone": True, "workflow_run": str(run.id), "sources": list(record.sources)},
        program=job.program,
    )  # fmt: skip
    return (await intake.write(tx, incoming, aside=True, scope=Scope.PROACTIVE)).job_id
