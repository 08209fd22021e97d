"""The ledger holds what was spent and lets nobody pass a cap, not even many at once."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from laneway.domain.ids import new_id
from laneway.domain.job import Scope
from laneway.store import ledger
from laneway.store.database import Database
from laneway.store.ledger import Account, Usage
from tests.store.spenders import CENT, customer, job_of, owner, reserve, settle, spend
from tests.store.test_migrations import FILL_DAYS


async def spent(db: Database, **of: Any) -> tuple[Decimal, int]:
    async with db.transaction() as tx:
        sum_ = await ledger.spent(tx, **of)
    return sum_.cost, sum_.tokens


async def test_a_reservation_is_not_spent_and_a_lost_call_is_in_full_until_its_price_is_known(db: Database) -> None:
    entry = await reserve(db)
    assert await spent(db) == (Decimal(0), 0)
    async with db.transaction() as tx:
        assert (await ledger.spent(tx)).reserved == CENT
        [line] = await ledger.summary(tx, by="day")
    assert (line.calls, line.cost, line.tokens_total, line.reserved) == (1, Decimal(0), 0, CENT)
    async with db.transaction() as tx:
        await ledger.cut(tx, entry)
    assert await spent(db) == (CENT, 150)
    await settle(db, entry, Decimal("0.003"))
    async with db.transaction() as tx:
        await ledger.release(tx, await reserve(db))
        # What was settled is final.
        await ledger.release(tx, entry)
        await ledger.cut(tx, entry)
    assert await spent(db) == (Decimal("0.003"), 100)


async def test_a_call_nobody_closed_is_lost_once_its_time_is_over(db: Database) -> None:
    """Whoever made it has died, belongs to no job, or could not reach the database; the clock says so."""
    ages = {
        "fresh": (30, {}),
        "slow": (800, {"seconds_most": 900}),
        "old": (800, {}),
        "quick": (100, {"seconds_most": 30}),
    }
    entries = {name: await reserve(db, meta=meta) for name, (_, meta) in ages.items()}
    async with db.transaction() as tx:
        for name, (age, _) in ages.items():
            await tx.execute(
                "UPDATE token_ledger SET created_at = created_at - make_interval(secs => %s) WHERE id = %s",
                (age, entries[name]),
            )
        await ledger.cut_overdue(tx)
        cursor = await tx.execute("SELECT state, cost FROM token_ledger ORDER BY id")
        found = dict(zip(ages, await cursor.fetchall(), strict=True))
    assert found == {"fresh": ("reserved", 0), "slow": ("reserved", 0), "old": ("cut", CENT), "quick": ("cut", CENT)}
    # The one who made it was only frozen, and knows by now.
    await settle(db, entries["old"], CENT / 10)
    assert await spent(db) == (CENT + CENT / 10, 250)


async def test_the_reservations_of_a_dead_process_are_spent_in_full(db: Database) -> None:
    job, other = new_id(), new_id()
    settled = await reserve(db, account=Account(job_id=job))
    await settle(db, settled, Decimal("0.001"))
    await reserve(db, account=Account(job_id=job))
    await reserve(db, account=Account(job_id=other))
    async with db.transaction() as tx:
        assert await ledger.cut_all_of(tx, job) == 1
        assert await ledger.cut_all_of(tx, job) == 0
    assert await spent(db, job_id=job) == (Decimal("0.011"), 250)


async def test_a_summary_adds_up_by_whatever_is_asked_for(db: Database) -> None:
    mine = await job_of(db, await owner(db), lane="tools")
    await settle(db, await reserve(db, mine), Decimal("0.004"), (300, 100))
    theirs = await job_of(db, await customer(db), "ann", lane="answer")
    theirs = replace(theirs, scope=Scope.PROACTIVE)
    small = await reserve(db, theirs, provider="haiku", model="claude-haiku-5-5")
    await settle(db, small, Decimal("0.001"), (50, 10))
    async with db.transaction() as tx:
        await ledger.release(tx, await reserve(db))
    await reserve(db, mine)
    async with db.transaction() as tx:
        [day] = await ledger.summary(tx, by="day")
        found = {
            by: {line.name or line.key: line.cost for line in await ledger.summary(tx, by=by)}
            for by in ("month", "scope", "provider", "model", "thread", "principal", "lane", "job")
        }
        assert await ledger.summary(tx, by="day", since=datetime.now(UTC) + timedelta(hours=1)) == []
    assert day.key == datetime.now(UTC).date().isoformat()
    assert (day.calls, day.tokens_input, day.tokens_total) == (3, 350, 460)
    assert (day.cost, day.reserved) == (Decimal("0.005"), CENT)
    assert found.pop("month") == {f"{datetime.now(UTC):%Y-%m}": Decimal("0.005")}
    names = {
        "scope": ("reactive", "proactive"),
        "provider": ("claude", "haiku"),
        "model": ("claude-sonnet-5-5", "claude-haiku-5-5"),
        "thread": ("http/main", "http/ann"),
        "principal": ("owner", "ann"),
        "lane": ("tools", "answer"),
        "job": (str(mine.job_id), str(theirs.job_id)),
    }
    assert found == {
        by: dict(zip(each, (Decimal("0.004"), Decimal("0.001")), strict=True)) for by, each in names.items()
    }


SEED = "SELECT scope, provider, SUM(tokens_total) FROM token_ledger GROUP BY scope, provider;"


async def test_the_handbooks_sums_are_those_of_the_ledger_whatever_became_of_the_calls(db: Database) -> None:
    for scope, provider in itertools.product(Scope, ("claude", "haiku")):
        account = Account(scope, thread_id=new_id(), lane="tools")
        entry, _, lost, refused = [await reserve(db, account, provider=provider) for _ in range(4)]
        await settle(db, entry, Decimal("0.004"))
        async with db.transaction() as tx:
            await ledger.cut(tx, lost)
            await ledger.release(tx, refused)
    async with db.transaction() as tx:
        rows = await (await tx.execute(SEED)).fetchall()
        scopes = {line.key: line.tokens_total for line in await ledger.summary(tx, by="scope")}
        providers = {line.key: line.tokens_total for line in await ledger.summary(tx, by="provider")}
        costs = await (await tx.execute("SELECT sum(cost) FROM token_ledger")).fetchone()
        days = await ledger.summary(tx, by="day")
    # Settled 100, cut 150 at its worst; what is reserved or released is not spent.
    assert {row[2] for row in rows} == {250}
    assert scopes == {scope: sum(row[2] for row in rows if row[0] == scope) for scope in Scope}
    assert providers == {name: sum(row[2] for row in rows if row[1] == name) for name in ("claude", "haiku")}
    assert costs == (days[0].cost,) == (Decimal("0.056"),)


ADDED_UP = FILL_DAYS.partition("SELECT")[2].replace("THEN cost", "THEN reserved_cost")
ADDED_UP = ADDED_UP.replace("THEN tokens_total", "THEN reserved_tokens")


async def test_the_daily_sums_are_those_of_the_calls_whatever_is_done_to_them(db: Database) -> None:
    """Random changes, by the ledger and by hand, leave `ledger_days` equal to what the calls add up to."""
    chance = random.Random(7)
    people = [Account(scope, thread_id=new_id(), principal=new_id(), lane=lane) for scope in Scope for lane in "ab"]
    entries: list[int] = []
    for _ in range(120):
        entries.append(await reserve(db, account=chance.choice(people), cost=Decimal(chance.randint(0, 900)) / 10_000))
        entry = chance.choice(entries)
        async with db.transaction() as tx:
            match chance.randint(0, 5):
                case 0 | 1:
                    await ledger.settle(tx, entry, Usage(chance.randint(1, 90), 3, cost=Decimal("0.0123")), {})
                case 2:
                    await ledger.cut(tx, entry)
                case 3:
                    await ledger.release(tx, entry)
                case 4:
                    back = chance.randint(0, 40)
                    await tx.execute(
                        "UPDATE token_ledger SET created_at = created_at - %s * interval '1 day', lane = NULL "
                        "WHERE id = %s",
                        (back, entry),
                    )
                case _:
                    await tx.execute("DELETE FROM token_ledger WHERE id = %s", (entry,))
    async with db.transaction() as tx:
        kept = await tx.execute(
            "SELECT world, day, principal, thread, lane, scope, schedule, spent, reserved, spent_tokens, "
            "reserved_tokens FROM ledger_days WHERE spent_tokens + reserved_tokens > 0 ORDER BY 1, 2, 3, 4, 5, 6"
        )
        found = await kept.fetchall()
        added = await tx.execute(
            f"SELECT * FROM (SELECT {ADDED_UP}) "
            "AS days (world, day, principal, thread, lane, scope, schedule, spent, reserved, "
            "spent_tokens, reserved_tokens) WHERE spent_tokens + reserved_tokens > 0 "
            "ORDER BY 1, 2, 3, 4, 5, 6".encode()
        )
        assert found == await added.fetchall() != []
        await tx.execute("TRUNCATE token_ledger")
        assert await (await tx.execute("SELECT * FROM ledger_days")).fetchall() == []


async def test_one_more_round_costs_what_the_last_ones_did(db: Database) -> None:
    mine = await job_of(db, await owner(db))
    async with db.transaction() as tx:
        assert await ledger.usual_cost(tx, mine.job_id) == 0
    for cents in (9, 1, 2, 3):
        await spend(db, mine, cost=CENT * cents)
    await spend(db, Account(job_id=mine.job_id, lane="classify"), cost=CENT * 50, model="claude-haiku-5-5")
    await reserve(db, account=mine, cost=CENT * 70)
    other = await job_of(db, await owner(db))
    async with db.transaction() as tx:
        assert await ledger.usual_cost(tx, mine.job_id) == CENT * 2
        # A job that has made no call yet will do as its thread did.
        assert await ledger.usual_cost(tx, other.job_id) == CENT * 2
        assert await ledger.usual_cost(tx, thread_id=mine.thread_id) == CENT * 2
    await spend(db, other, cost=Decimal(0), model="offline", provider="offline")
    async with db.transaction() as tx:
        assert await ledger.usual_cost(tx, other.job_id) == 0
