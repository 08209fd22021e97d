"""How fast one sender may write, and what is written at the very moment at which something else ends."""

from __future__ import annotations

import asyncio
from collections import Counter

import psycopg

from laneway.channels.arrival import Taken
from laneway.channels.entry import Welcome
from laneway.channels.intake import Limits
from laneway.domain.job import JobStatus
from laneway.store import jobs
from laneway.store.database import Database
from tests.channels.arriving import Gate, gate
from tests.gates import somebody_waits

SLOW = Limits(10_000, 10_000, per_minute=6, customer_per_minute=3)
WELCOME = Welcome(owners=frozenset({"1"}), customers=True)


async def outcomes(here: Gate, user: str, count: int) -> list[str]:
    return [(await here.take(f"message {number}", user)).outcome for number in range(count)]


async def test_many_senders_at_once_have_each_exactly_what_one_may_send(db: Database) -> None:
    here = await gate(db, SLOW, telegram=WELCOME)
    for user in range(1, 9):
        await here.admit(user=str(user))

    async def send(user: int) -> tuple[int, Taken]:
        return user, await here.take("hello", str(user))

    taken = await asyncio.gather(*(send(user) for user in range(1, 9) for _ in range(10)))
    counts = Counter(user for user, one in taken if one.outcome == "taken")
    assert counts == {user: 6 if user == 1 else 3 for user in range(1, 9)}
    assert len(taken) == 80
    assert {one.outcome for _, one in taken} == {"taken", "refused"}


async def test_who_writes_too_fast_is_told_once_a_minute_and_taken_again_when_a_minute_has_passed(db: Database) -> None:
    here = await gate(db, SLOW, telegram=WELCOME)
    assert await outcomes(here, "7", 8) == ["taken"] * 3 + ["refused"] * 5
    notices = "SELECT m.text FROM outbox o JOIN messages m ON m.id = o.message_id WHERE m.meta->>'notice' = 'too-many'"
    told = [text for (text,) in await here.rows(notices)]
    # The fourth may have come in one minute of the clock and the eighth in the next.
    assert 1 <= len(told) <= 2
    assert told[0].startswith("I did not take this. You have sent 3 messages within a minute. Wait ")
    await here.rows("UPDATE messages SET created_at = created_at - interval '61 seconds' WHERE seq = "
                    "(SELECT min(seq) FROM messages WHERE author = 'user')")  # fmt: skip
    assert await outcomes(here, "7", 2) == ["taken", "refused"]


async def test_the_owner_can_always_stop_and_answer(db: Database) -> None:
    here = await gate(db, SLOW, telegram=WELCOME)
    assert await outcomes(here, "1", 8) == ["taken"] * 6 + ["refused"] * 2
    [(job_id, thread_id)] = await here.rows("SELECT id, thread_id FROM jobs ORDER BY seq LIMIT 1")
    approval = await here.asked(job_id, thread_id)
    assert (await here.take("yes", "1")).outcome == "taken"
    assert await here.rows("SELECT state FROM approvals WHERE id = %s", approval) == [("approved",)]
    assert (await here.take("/stop", "1")).outcome == "taken"
    assert (await here.rows("SELECT count(*) FROM jobs WHERE status = 'queued' AND NOT aside"))[0][0] == 0
    assert (await here.take("and now?", "1")).outcome == "refused"


async def test_stop_is_taken_though_a_job_ends_at_that_very_moment(db: Database, database_url: str) -> None:
    here = await gate(db, telegram=WELCOME)
    first, second = await here.take("one", "1"), await here.take("two", "1")
    assert first.receipt is not None
    assert second.receipt is not None
    async with db.transaction() as tx:
        (running,) = await jobs.claim(tx, "w", limit=5)
    assert running.id == first.receipt.job_id
    async with await psycopg.AsyncConnection.connect(database_url) as ending:
        await jobs.move(ending, running.id, JobStatus.DONE)
        stopping = asyncio.create_task(here.take("/stop", "1"))
        await somebody_waits(db)
        await ending.commit()
    stopped = await stopping
    async with db.transaction() as tx:
        left = await jobs.get(tx, second.receipt.job_id)
    assert (stopped.outcome, left.status) == ("taken", JobStatus.CANCELLED)
