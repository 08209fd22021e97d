"""Owner threads and customer threads are different worlds from the first row on."""

from __future__ import annotations

import pytest

from laneway.channels.intake import Intake, Limits
from laneway.domain.conversation import Incoming, Principal, Role, World
from laneway.domain.ids import new_id
from laneway.errors import Forbidden
from laneway.store import conversations, jobs, principals
from laneway.store.database import Database


async def people(db: Database) -> tuple[Principal, Principal]:
    async with db.transaction() as tx:
        return (
            await principals.set_owner_key(tx, "lw_one"),
            await principals.by_address(tx, "http:ann", Role.CUSTOMER, "a customer"),
        )


async def test_a_customer_cannot_write_into_an_owner_thread_and_nothing_is_stored(db: Database) -> None:
    owner, customer = await people(db)
    intake = Intake(db, ["tools"], Limits(100, 100))
    await intake.receive(Incoming("http", "main", "1", "hello", owner))
    with pytest.raises(Forbidden, match="another trust world"):
        await intake.receive(Incoming("http", "main", "2", "hello", customer))
    async with db.transaction() as tx:
        assert len(await conversations.messages(tx)) == 1


async def test_a_customers_stop_does_not_reach_an_owner_thread(db: Database) -> None:
    owner, customer = await people(db)
    intake = Intake(db, ["tools", "answer"], Limits(100, 100))
    receipt = await intake.receive(Incoming("http", "main", "1", "work", owner))
    with pytest.raises(Forbidden):
        await intake.receive(Incoming("http", "main", "2", "/stop", customer))
    async with db.transaction() as tx:
        assert (await jobs.get(tx, receipt.job_id)).status == "queued"


async def test_a_new_owner_key_shuts_the_old_one_out(db: Database) -> None:
    await people(db)
    async with db.transaction() as tx:
        await principals.set_owner_key(tx, "lw_two")
    async with db.transaction() as tx:
        assert await principals.by_key(tx, "lw_one") is None
        found = await principals.by_key(tx, "lw_two")
    assert found is not None
    assert (found.role, found.world) == (Role.OWNER, World.OWNER)


def test_ids_sort_by_the_time_they_were_made() -> None:
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert all(one.version == 7 for one in ids)
    assert [one.int >> 80 for one in ids] == sorted(one.int >> 80 for one in ids)
