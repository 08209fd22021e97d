"""A worker is killed between the yes to a patch and its store, and around it: there is exactly one new version."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from laneway.channels.intake import Intake, Limits
from laneway.domain.conversation import Incoming
from laneway.domain.judgement import ApprovalState
from laneway.domain.workflow import Cause
from laneway.store import approvals, jobs, principals, workflow_patches, workflows
from laneway.store.database import Database
from tests.faults.worker import Orders, kill, started
from tests.lanes.workflow.stored_documents import CHAIN

PLACES = {
    "after the yes, before the store": r"store\.\d+:begin",
    "stored and not noted": r"store\.\d+:end",
    "noted": r"store\.\d+:stored",
    "before the reply": r"reply:begin",
    "replied and not noted": r"reply:end",
}


async def until(true: Callable[[], Awaitable[Any]], what: str, seconds: float = 90) -> Any:
    try:
        async with asyncio.timeout(seconds):
            while not (found := await true()):
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(what) from None
    return found


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("die_at", PLACES.values(), ids=PLACES.keys())
async def test_a_worker_killed_around_the_store_of_a_patch_leaves_exactly_one_new_version(
    db: Database, tmp_path: Path, die_at: str
) -> None:
    async with db.transaction() as tx:
        owner = await principals.owner(tx) or await principals.set_owner_key(tx, "lw_test")
        workflow, _ = await workflows.create(tx, "main", CHAIN, [], Cause(owner.id))
    receipt = await Intake(db, ["answer", "tools", "workflow"], Limits(1000, 1000)).receive(
        Incoming("http", "desk", "m1", "retry fetch 5 times", owner, lane="workflow")
    )

    async def asked() -> Any:
        async with db.transaction() as tx:
            return await approvals.page(tx, state=ApprovalState.PENDING)

    async def done() -> bool:
        async with db.transaction() as tx:
            return str((await jobs.get(tx, receipt.job_id)).status) == "done"

    workers = [started(Orders(db.url, str(tmp_path), die_at))]
    try:
        [question] = await until(asked, "the change was never asked about")
        async with db.transaction() as tx:
            await approvals.answer(tx, question.id, ApprovalState.APPROVED, owner)
        await asyncio.to_thread(workers[0].join, 90)
        assert workers[0].exitcode == -signal.SIGKILL, "it was to die here"
        workers.append(started(Orders(db.url, str(tmp_path))))
        await until(done, "nobody took the job over")
    finally:
        for worker in workers:
            kill(worker)
    async with db.transaction() as tx:
        changed = await workflows.get(tx, owner.id, "main")
        history = await workflow_patches.page(tx, workflow.id, limit=10)
        said = await (await tx.execute("SELECT text FROM messages WHERE text LIKE 'Done: %'")).fetchall()
    assert (changed.version, changed.document["nodes"][0]["retry"]) == (2, {"max_attempts": 5})
    assert [patch.version for patch in history] == [2, 1]
    assert history[0].operations
    assert len(said) == 1
