"""A worker is killed while it hands work on, waits for it and goes on with it: nothing is handed on or said twice."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from laneway.channels.intake import Intake, Limits
from laneway.domain.conversation import Incoming
from laneway.store import principals
from laneway.store.database import Database
from tests.faults.test_workflow_patches_outlive_the_worker import until
from tests.faults.worker import Orders, kill, started

PLACES = {
    "handed on and not noted": r"tool\.delegate:end",
    "paused and not noted": r"pause:end",
    "waiting and not noted": r"wait\.1:end",
    "the other job has ended": r"reply:end",
    "gone on with it": r"paused:stored",
}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("die_at", PLACES.values(), ids=PLACES.keys())
async def test_a_worker_killed_around_delegated_work_hands_it_on_once_and_tells_its_end(
    db: Database, tmp_path: Path, die_at: str
) -> None:
    async with db.transaction() as tx:
        owner = await principals.owner(tx) or await principals.set_owner_key(tx, "lw_test")
    await Intake(db, ["answer", "tools"], Limits(1000, 1000)).receive(
        Incoming("http", "desk", "m1", "delegate to the tools lane: list the files", owner, lane="tools")
    )

    async def done() -> bool:
        async with db.transaction() as tx:
            cursor = await tx.execute("SELECT count(*) FROM jobs WHERE status = 'done'")
            return await cursor.fetchone() == (2,)

    async def dead() -> bool:
        return not first.is_alive()

    first = started(Orders(db.url, str(tmp_path), die_at))
    try:
        await until(dead, "it was to die here")
        second = started(Orders(db.url, str(tmp_path)))
        try:
            await until(done, "nobody took the jobs over")
        finally:
            kill(second)
    finally:
        kill(first)
    assert first.exitcode == -signal.SIGKILL
    async with db.transaction() as tx:
        cursor = await tx.execute("SELECT text FROM messages ORDER BY seq")
        assert [text for (text,) in await cursor.fetchall()] == [
            "delegate to the tools lane: list the files", "list the files", "No files here.",
            "Handed to the tools lane: list the files",
        ]  # fmt: skip
