"""A tool call as the lane makes it: of a stored job and its workspace, or without a whole Laneway around it."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from laneway.domain.conversation import Author, Incoming, Message, Role, World
from laneway.domain.ids import new_id
from laneway.domain.job import Job, JobMode, JobStatus, Scope
from laneway.domain.judgement import Classification, Intent
from laneway.lanes.contract import Request
from laneway.lanes.tools.entry import Call
from laneway.lanes.tools.snapshots import Snapshots
from laneway.lanes.tools.undo import Undo, Undone
from laneway.sandbox.paths import workspace_of
from laneway.sandbox.scan import Caps
from laneway.store import conversations, intake, jobs, principals
from laneway.store.database import Database
from laneway.transcript import Turn

JUDGED = Classification(Intent.COMMAND, "Something is to be done.", "Do it.", False, 1.0)
_numbers = itertools.count()


async def new_call(db: Database, home: Path, thread: str = "main", world: World = World.OWNER, **more: Any) -> Call:
    """A call of a new job in the thread; customers all write from one address."""
    async with db.transaction() as tx:
        if world is World.CUSTOMER:
            asking = await principals.by_address(tx, "http:ann", Role.CUSTOMER, "a customer")
        else:
            asking = await principals.owner(tx) or await principals.set_owner_key(tx, "lw_test")
        receipt = await intake.write(tx, Incoming("http", thread, f"call{next(_numbers)}", "do it", asking))
        job = await jobs.get(tx, receipt.job_id)
        message = await conversations.message(tx, receipt.message_id)
    assert message is not None
    request = Request(job, message, world, [], JUDGED)
    return replace(Call(request, workspace_of(home, job.thread_id), by=asking.id), **more)


async def end_job(db: Database, call: Call) -> None:
    """The call's job has ended."""
    async with db.transaction() as tx:
        await tx.execute("UPDATE jobs SET status = 'done' WHERE id = %s", (call.job_id,))


@dataclass
class Work:
    """The workspace of a stored job, what is recorded of it, and how that is taken back."""

    db: Database
    home: Path
    call: Call
    caps: Caps | None = None

    def __post_init__(self) -> None:
        self.folder = self.call.workspace
        self.snapshots = Snapshots(self.db, self.home, self.caps or Caps())

    async def bash(self, command: str, call: Call | None = None) -> str | None:
        """What the coordinator does around a command."""
        async with self.snapshots.around(call or self.call) as snapshot:
            await asyncio.to_thread(subprocess.run, ["bash", "-c", command], cwd=self.folder, check=True)
        return snapshot.note

    async def undo(self, call: Call | None = None) -> Undone:
        await end_job(self.db, call or self.call)
        async with self.db.transaction() as tx:
            owner = await principals.owner(tx)
        assert owner is not None
        return await Undo(self.db, self.home).undo((call or self.call).job_id, owner)


NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_call(text: str = "do it", world: World = World.OWNER, thread_id: UUID | None = None) -> Call:
    """A call for a message in a thread, of which nothing is stored."""
    thread_id = thread_id or new_id()
    message = Message(new_id(), 1, thread_id, Author.USER, "http", "1", None, text, {}, NOW)
    empty: dict[str, Any] = dict.fromkeys(
        ("lane", "worker", "not_before", "cancel_requested_at", "result", "error", "started_at", "finished_at")
    )
    job = Job(
        id=new_id(), seq=1, thread_id=thread_id, message_id=message.id, mode=JobMode.AUTO, scope=Scope.REACTIVE,
        owner=True, program=False, aside=False, status=JobStatus.RUNNING, run=1, epoch=1, attempts=1, resume=False,
        payload={}, created_at=NOW, **empty,
    )  # fmt: skip
    return Call(Request(job, message, world, [Turn(message.id, Author.USER, text)], JUDGED), Path("/nowhere"))
