"""How fast one sender may write: exactly so many messages in any minute, whoever else writes at the same time."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from laneway.channels.arrival import Taken
from laneway.channels.intake import Intake, Limits
from laneway.channels.people import Welcome
from laneway.domain.conversation import Incoming, Principal
from laneway.errors import TooMany
from laneway.store.database import Database
from tests.channels.arriving import Gate, gate, written

SLOW = Limits(10_000, 10_000, per_minute=6, customer_per_minute=3)
WELCOME = Welcome(owners=frozenset({"1"}), customers=True)


async def outcomes(here: Gate, user: str, count: int) -> list[str]:
    return [(await here.take(f"message {number}", user)).outcome for number in range(count)]


async def test_many_senders_at_once_have_each_exactly_what_one_may_send(db: Database) -> None:
    here = await gate(db, SLOW, telegram=WELCOME)
    for user in range(1, 21):
        await here.admit(user=str(user))

    async def send(user: int) -> tuple[int, Taken]:
        return user, await here.take("hello", str(user))

    taken = await asyncio.gather(*(send(user) for user in range(1, 21) for _ in range(10)))
    counts = Counter(user for user, one in taken if one.outcome == "taken")
    assert counts == {user: 6 if user == 1 else 3 for user in range(1, 21)}
    assert len(taken) == 200
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


async def test_what_is_delivered_again_is_recognised_at_the_limit_too(db: Database) -> None:
    here = await gate(db, SLOW, telegram=WELCOME)
    first = written("hello")
    assert (await here.door.take(first)).outcome == "taken"
    await outcomes(here, "7", 5)
    assert (await here.door.take(first)).outcome == "duplicate"


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


async def test_a_customers_commands_count_like_any_message(db: Database) -> None:
    here = await gate(db, SLOW, telegram=WELCOME)
    taken = [(await here.take("/help", "7")).outcome for _ in range(5)]
    assert taken == ["taken"] * 3 + ["refused"] * 2


async def test_it_is_said_how_long_to_wait(db: Database) -> None:
    here = await gate(db)
    intake = Intake(db, ["answer", "tools"], SLOW)

    async def send(number: int, principal: Principal) -> None:
        await intake.receive(Incoming("http", "main", f"m{number}", "hello", principal))

    for number in range(6):
        await send(number, here.owner)
    await here.rows("UPDATE messages SET created_at = now() - interval '20 seconds' WHERE external_id = 'm0'")

    async def left() -> float:
        """Seconds until the oldest of them was a minute ago."""
        rest = "SELECT extract(epoch FROM created_at + interval '1 minute' - clock_timestamp())::float8 FROM messages "
        return float((await here.rows(f"{rest} WHERE external_id = 'm0'"))[0][0])

    before = await left()
    with pytest.raises(TooMany, match="You have sent 6 messages") as refused:
        await send(6, here.owner)
    assert refused.value.retry_after is not None
    assert before <= 40
    assert before >= refused.value.retry_after >= await left()
