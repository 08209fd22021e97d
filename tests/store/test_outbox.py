"""The outbox where two do something about one reply at the same moment."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from laneway.clock import SystemClock
from laneway.domain.judgement import OutboxState
from laneway.errors import Conflict
from laneway.store import outbox
from laneway.store.database import Database
from tests.channels.test_delivery_faults import rows, write
from tests.gates import somebody_waits


async def test_a_reply_that_two_retry_at_once_is_sent_once(db: Database, database_url: str) -> None:
    await write(db, "one", "again")
    async with db.transaction() as tx:
        await tx.execute("UPDATE outbox SET state = 'undeliverable'")
    (row,) = await rows(db)

    async def retry() -> None:
        async with db.transaction() as tx:
            await outbox.retry(tx, row.id)

    async with await psycopg.AsyncConnection.connect(database_url) as first:
        await first.execute("LOCK TABLE deliveries IN EXCLUSIVE MODE")
        await outbox.retry(first, row.id)
        second = asyncio.create_task(retry())
        await somebody_waits(db)
        # The first one's reply is on its way before the second one goes on.
        assert len(await outbox.claim(first, "w", "post", 5, SystemClock().now())) == 1
        await first.commit()
    with pytest.raises(Conflict, match="is sending"):
        await second
    assert [(one.state, one.attempts) for one in await rows(db)] == [(OutboxState.SENDING, 1)]
