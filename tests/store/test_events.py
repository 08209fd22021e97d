"""Events are read in one order that never skips, however transactions overlap."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta

from laneway.domain.session import EventKind, SessionEvent, SessionState
from laneway.store import events, housekeeping, sessions
from laneway.store.database import Database


async def test_an_event_of_an_older_open_transaction_is_never_skipped(db: Database) -> None:
    async with db.transaction() as early:
        await events.append(early, "first.begun", {})
        async with db.transaction() as late:
            await events.append(late, "second.committed", {})
        async with db.transaction() as tx:
            # The later one is committed, but to show it now would mean to skip the earlier one for good.
            assert await events.after(tx, events.START) == []
    async with db.transaction() as tx:
        assert [event.kind for event in await events.after(tx, events.START)] == ["first.begun", "second.committed"]


async def test_a_reader_that_comes_back_with_its_cursor_misses_and_doubles_nothing(db: Database) -> None:
    async def write(number: int) -> None:
        async with db.transaction() as tx:
            await events.append(tx, "n", {"n": number})
            await asyncio.sleep(random.random() * 0.02)

    seen: list[int] = []

    async def read() -> None:
        cursor = events.START
        while len(seen) < 80:
            async with db.transaction() as tx:
                page = await events.after(tx, cursor, limit=7)
            seen.extend(event.body["n"] for event in page)
            cursor = page[-1].cursor if page else cursor
            await asyncio.sleep(0.001)

    reader = asyncio.create_task(read())
    for batch in range(10):
        await asyncio.gather(*(write(batch * 8 + number) for number in range(8)))
    await asyncio.wait_for(reader, 60)
    assert sorted(seen) == list(range(80))


async def test_old_events_and_sessions_are_tidied_away_and_young_events_stay(db: Database) -> None:
    async with db.transaction() as tx:
        await events.append(tx, "old", {})
        await tx.execute("UPDATE events SET created_at = now() - interval '100 days'")
        await events.append(tx, "young", {})
        session = await sessions.opened(tx, "pi", "s", "/x")
        began = SessionEvent("s", "pi", EventKind.USER, datetime.now(UTC) - timedelta(days=400))
        await sessions.note_state(tx, session, SessionState("s", "pi").after(began))
    async with db.transaction() as tx:
        assert await housekeeping.tidy(tx, days=90) == 2
    async with db.transaction() as tx:
        assert await sessions.page(tx) == []
        assert [event.kind for event in await events.after(tx, events.START)] == ["young"]
