"""An engine with a runner the test wrote, and a door to put jobs in."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from laneway.channels.intake import Intake, Limits
from laneway.domain.conversation import Incoming, Principal, Role
from laneway.domain.job import FINAL, Job, JobStatus
from laneway.engine.launch import Engine
from laneway.engine.running import Run
from laneway.store import jobs, principals
from laneway.store.database import Database

Runner = Callable[[Run], Awaitable[None]]
Launch = Callable[..., AbstractAsyncContextManager[Engine]]


@dataclass
class Door:
    """Puts messages in and looks at their jobs."""

    db: Database
    owner: Principal
    customer: Principal
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    async def put(self, thread: str = "main", *, customer: bool = False, text: str = "work") -> UUID:
        who = self.customer if customer else self.owner
        intake = Intake(self.db, ["answer", "tools"], Limits(10_000, 10_000))
        incoming = Incoming("http", thread, f"m{next(self.numbers)}", text, who)
        return (await intake.receive(incoming)).job_id

    async def job(self, job_id: UUID) -> Job:
        async with self.db.transaction() as tx:
            return await jobs.get(tx, job_id)

    async def ended(self, job_id: UUID, seconds: float = 30) -> Job:
        """The job once it has ended."""
        return await self.until(job_id, *FINAL, seconds=seconds)

    async def until(self, job_id: UUID, *statuses: JobStatus, seconds: float = 30) -> Job:
        """The job once it has one of these statuses."""
        async with asyncio.timeout(seconds):
            while (job := await self.job(job_id)).status not in statuses:
                await asyncio.sleep(0.02)
        return job


@pytest.fixture
async def door(db: Database) -> Door:
    async with db.transaction() as tx:
        owner = await principals.set_owner_key(tx, "lw_test")
        customer = await principals.by_address(tx, "http:ann", Role.CUSTOMER, "a customer")
    return Door(db, owner, customer)


@pytest.fixture
def launch(db: Database) -> Launch:
    @asynccontextmanager
    async def launched(
        runner: Runner,
        slots: int = 16,
        owner_slots: int = 4,
        shape: str = "1",
        made: Callable[[Engine], None] = lambda engine: None,
    ) -> AsyncIterator[Engine]:
        engine = Engine(db, runner, slots=slots, owner_slots=owner_slots, shape=shape)
        # Before the launch: what another worker left may run before that is over.
        made(engine)
        await engine.launch()
        try:
            yield engine
        finally:
            await engine.stop(drain_seconds=0.2)

    return launched
