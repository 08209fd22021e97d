"""`delegate`: hands a piece of work to another lane, as a job of its own in the same thread."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection

from laneway.domain.conversation import Incoming
from laneway.domain.job import DELEGATED
from laneway.lanes.tools.entry import Call, Outcome, ToolEntry, failure, success
from laneway.store import conversations, intake, principals
from laneway.store.database import Database

MOST = 5
"""Pieces of work one job may hand on."""
DEEPEST = 3
"""How many times work may be handed on: two lanes must not play ball with it."""


def delegate_entry(db: Database, lanes: Callable[[], Collection[str]]) -> ToolEntry:
    """The tool `delegate`; what taints the turn that calls it taints the job it makes."""

    async def delegate(call: Call, lane: str, text: str) -> Outcome:
        """Hand work to another lane as a job of its own; what comes of it is told here when it has ended.

        lane: the lane's name, such as tools or answer. text: what is to be done, complete in itself.
        """
        job, message = call.request.job, call.request.message
        schedule = {"schedule": job.payload["schedule"]} if "schedule" in job.payload else {}
        seconds = (job.payload.get("runner") or {}).get("timeout_sec")
        limit = {"runner": {"timeout_sec": seconds}} if seconds else {}
        depth = int(message.meta.get("delegated", 0)) + 1
        if lane not in lanes():
            return failure(f"There is no lane `{lane}`. There are: {', '.join(sorted(lanes()))}.")
        if depth > DEEPEST:
            return failure(f"This work was handed on {DEEPEST} times already. Do it here.")
        async with db.transaction() as tx:
            thread = await conversations.thread(tx, call.thread_id)
            principal = await principals.by_id(tx, call.by or thread.principal_id) if thread else None
            if thread is None or principal is None:
                return failure("This conversation is gone.")
            if await conversations.made_by(tx, job.id) >= MOST:
                return failure(f"This job has handed on {MOST} pieces of work already. Do the rest here.")
            fingerprint = hashlib.sha256(f"{lane}\n{text}".encode()).hexdigest()[:16]
            receipt = await intake.write(
                tx,
                Incoming(
                    thread.channel, thread.external_id, f"delegate:{call.job_id}:{fingerprint}", text, principal,
                    lane=lane, payload={**schedule, **limit, DELEGATED: depth}, program=job.program,
                    meta={
                        **schedule, "delegated": depth, "by_job": str(job.id), "sources": list(call.sources),
                        "origin": message.meta.get("origin", str(message.id)),
                    },
                ),
                scope=job.scope,
            )  # fmt: skip
        return success({"job_id": str(receipt.job_id), "lane": lane, "note": "It runs after this job."})

    return ToolEntry(delegate, changes=True, hands_on=True, tags=("hand over", "spawn", "another lane"))
