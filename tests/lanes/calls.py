"""A tool call as the lane makes it: a stored job of a real thread, and that thread's workspace."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from laneway.domain.conversation import Incoming, World
from laneway.domain.judgement import Classification, Intent
from laneway.lanes.contract import Request
from laneway.lanes.tools.entry import Call
from laneway.lanes.tools.snapshots import Snapshots
from laneway.lanes.tools.undo import Undo, Undone
from laneway.sandbox.paths import workspace_of
from laneway.store import conversations, intake, jobs, principals
from laneway.store.database import Database
from laneway.transcript import Turn

JUDGED = Classification(Intent.COMMAND, "Something is to be done.", "Do it.", False, 1.0)
_numbers = itertools.count()


async def new_call(db: Database, home: Path, thread: str = "main", **more: Any) -> Call:
    """A call of a new job in the thread."""
    async with db.transaction() as tx:
        if await principals.owner(tx) is None:
            await principals.set_owner_key(tx, "lw_test")
        owner = await principals.owner(tx)
        assert owner is not None
        incoming = Incoming("http", thread, f"call{next(_numbers)}", "do it", owner)
        receipt = await intake.write(tx, incoming)
        job = await jobs.get(tx, receipt.job_id)
        message = await conversations.message(tx, receipt.message_id)
    assert message is not None
    turns: list[Turn] = []
    request = Request(job, message, World.OWNER, turns, JUDGED)
    return replace(Call(request, workspace_of(home, job.thread_id), by=owner.id), **more)


async def end_job(db: Database, call: Call) -> None:
    """The call's job has ended."""
    async with db.transaction() as tx:
        await tx.execute("UPDATE jobs SET status = 'done' WHERE id = %s", (call.job_id,))


async def bash(snapshots: Snapshots, call: Call, command: str) -> str | None:
    """What the coordinator does around a command."""
    async with snapshots.around(call) as snapshot:
        await asyncio.to_thread(subprocess.run, ["bash", "-c", command], cwd=call.workspace, check=True)
    return snapshot.note


async def taken_back(db: Database, home: Path, call: Call) -> Undone:
    await end_job(db, call)
    async with db.transaction() as tx:
        owner = await principals.owner(tx)
    assert owner is not None
    return await Undo(db, home).undo(call.job_id, owner)
