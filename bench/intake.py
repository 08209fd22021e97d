"""What acknowledging a message costs, beside a bare transaction of the same two statements."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from bench.report import percentile, show
from laneway.channels.intake import Intake, Limits
from laneway.domain.conversation import Incoming
from laneway.domain.ids import new_id
from laneway.store import principals
from laneway.store.database import Database
from laneway.store.embedded import EmbeddedPostgres
from laneway.store.migrate import migrate

ROUNDS = 400


async def measure() -> None:
    """The figures are printed; both kinds take turns, so that the machine treats them alike."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedPostgres(Path(folder)) as url:
        migrate(url)
        db = Database(url)
        await db.open()
        async with db.transaction() as tx:
            owner = await principals.set_owner_key(tx, "bench")
        intake = Intake(db, [], Limits(10_000, 10_000))
        first = await intake.receive(Incoming("http", "t", "first", "hello", owner))
        acknowledged, bare = [], []
        for number in range(ROUNDS):
            began = time.perf_counter()
            await intake.receive(Incoming("http", f"t{number % 20}", f"m{number}", "hello there", owner))
            acknowledged.append(time.perf_counter() - began)
            began = time.perf_counter()
            await _two_statements(db, first.thread_id, owner.id, number)
            bare.append(time.perf_counter() - began)
        await db.close()
    show("intake: acknowledged after (p50)", statistics.median(acknowledged) * 1000, "ms")
    show("intake: acknowledged after (p99)", percentile(acknowledged, 0.99) * 1000, "ms")
    show("intake: the bare transaction (p50)", statistics.median(bare) * 1000, "ms")
    show("intake: ratio of the two", statistics.median(acknowledged) / statistics.median(bare), "×", 3)


async def _two_statements(db: Database, thread_id: object, owner_id: object, number: int) -> None:
    message_id = new_id()
    async with db.transaction() as tx:
        await tx.execute(
            "INSERT INTO messages (id, thread_id, author, channel, external_id, principal_id, text) "
            "VALUES (%s, %s, 'user', 'bare', %s, %s, 'hello there')",
            (message_id, thread_id, f"b{number}", owner_id),
        )
        await tx.execute(
            "INSERT INTO jobs (id, thread_id, message_id, mode, owner) VALUES (%s, %s, %s, 'AUTO', true)",
            (new_id(), thread_id, message_id),
        )
