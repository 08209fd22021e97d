"""Owner threads and customer threads are different worlds from the first row on."""

from __future__ import annotations

import pytest

from laneway.channels.intake import Intake, Limits
from laneway.domain.conversation import Incoming, Principal, Role, World
from laneway.errors import Forbidden
from laneway.store import conversations, jobs, principals
from laneway.store import intake as kept
from laneway.store.database import Database


async def people(db: Database) -> tuple[Principal, Principal]:
    async with db.transaction() as tx:
        return (
            await principals.set_owner_key(tx, "lw_one"),
            await principals.by_address(tx, "http:ann", Role.CUSTOMER, "a customer"),
        )


async def test_a_customer_neither_writes_into_an_owner_thread_nor_stops_its_jobs(db: Database) -> None:
    owner, customer = await people(db)
    intake = Intake(db, ["tools", "answer"], Limits(100, 100))
    receipt = await intake.receive(Incoming("http", "main", "1", "work", owner))
    for text in ("hello", "/stop"):
        with pytest.raises(Forbidden, match="somebody else's"):
            await intake.receive(Incoming("http", "main", text, text, customer))
    async with db.transaction() as tx:
        assert len(await conversations.messages(tx)) == 1
        assert (await jobs.get(tx, receipt.job_id)).status == "queued"


async def test_a_customer_neither_writes_into_another_customers_thread_nor_stops_its_jobs(db: Database) -> None:
    _, ann = await people(db)
    async with db.transaction() as tx:
        bob = await principals.by_address(tx, "http:bob", Role.CUSTOMER, "another")
    intake = Intake(db, ["tools", "answer"], Limits(100, 100))
    receipt = await intake.receive(Incoming("http", "customer:ann", "1", "my number is 12", ann))
    for text in ("what is the number?", "/stop"):
        with pytest.raises(Forbidden, match="somebody else's"):
            await intake.receive(Incoming("http", "customer:ann", text, text, bob))
    async with db.transaction() as tx:
        assert not await kept.keep(tx, Incoming("http", "customer:ann", "silent", "only noted", bob))
        assert len(await conversations.messages(tx)) == 1
        assert (await jobs.get(tx, receipt.job_id)).status == "queued"
    assert (await intake.receive(Incoming("http", "customer:ann", "2", "and 13", ann))).thread_id == receipt.thread_id


async def test_a_new_owner_key_shuts_the_old_one_out(db: Database) -> None:
    await people(db)
    async with db.transaction() as tx:
        await principals.set_owner_key(tx, "lw_two")
    async with db.transaction() as tx:
        assert await principals.by_key(tx, "lw_one") is None
        found = await principals.by_key(tx, "lw_two")
    assert found is not None
    assert (found.role, found.world) == (Role.OWNER, World.OWNER)
