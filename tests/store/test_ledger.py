"""The ledger holds what was spent and lets nobody pass a cap, not even many at once."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from laneway.domain.ids import new_id
from laneway.domain.job import Scope
from laneway.errors import BudgetExceeded
from laneway.store import ledger
from laneway.store.database import Database
from laneway.store.ledger import Account, Caps, Usage
from tests.store.spenders import customer, job_of, owner, spend, together
from tests.store.test_migrations import FILL_DAYS

CENT = Decimal("0.01")


async def reserve(db: Database, caps: Caps | None = None, cost: Decimal = CENT, **options: Any) -> int:
    account = options.pop("account", Account())
    call: dict[str, Any] = {
        "provider": "claude",
        "model": "claude-sonnet-5-5",
        "tokens_input": 100,
        "tokens_output_max": 50,
    }
    async with db.transaction() as tx:
        return await ledger.reserve(tx, account=account, caps=caps or Caps(), cost_max=cost, meta={}, **call | options)


async def settle(db: Database, entry: int, cost: Decimal, tokens: tuple[int, int] = (80, 20)) -> None:
    async with db.transaction() as tx:
        await ledger.settle(tx, entry, Usage(*tokens, cost=cost), {})


async def spent(db: Database, **of: Any) -> tuple[Decimal, int]:
    async with db.transaction() as tx:
        sum_ = await ledger.spent(tx, **of)
    return sum_.cost, sum_.tokens


async def test_a_reservation_counts_its_worst_case_until_it_is_settled(db: Database) -> None:
    entry = await reserve(db)
    assert await spent(db) == (CENT, 150)
    await settle(db, entry, Decimal("0.003"))
    assert await spent(db) == (Decimal("0.003"), 100)


async def test_a_released_reservation_counts_nothing(db: Database) -> None:
    entry = await reserve(db)
    async with db.transaction() as tx:
        await ledger.release(tx, entry)
    assert await spent(db) == (Decimal(0), 0)


async def test_the_reservations_of_a_dead_process_stay_counted(db: Database) -> None:
    job, other = new_id(), new_id()
    settled = await reserve(db, account=Account(job_id=job))
    await settle(db, settled, Decimal("0.001"))
    await reserve(db, account=Account(job_id=job))
    await reserve(db, account=Account(job_id=other))
    async with db.transaction() as tx:
        assert await ledger.cut_all_of(tx, job) == 1
        assert await ledger.cut_all_of(tx, job) == 0
    assert await spent(db, job_id=job) == (Decimal("0.011"), 250)


async def test_a_call_cut_off_can_still_be_settled_but_a_settled_one_is_final(db: Database) -> None:
    entry = await reserve(db)
    async with db.transaction() as tx:
        await ledger.cut(tx, entry)
    await settle(db, entry, Decimal("0.002"))
    async with db.transaction() as tx:
        await ledger.release(tx, entry)
        await ledger.cut(tx, entry)
    assert await spent(db) == (Decimal("0.002"), 100)


async def test_fifty_at_once_against_a_cap_for_ten_admit_exactly_ten(db: Database) -> None:
    outcomes = await together(reserve(db, Caps(day_usd=0.10)) for _ in range(50))
    assert sum(isinstance(outcome, int) for outcome in outcomes) == 10
    assert sum(isinstance(outcome, BudgetExceeded) for outcome in outcomes) == 40
    assert (await spent(db))[0] == Decimal("0.10")


@pytest.mark.parametrize(
    ("caps", "sentence", "setting"),
    [
        (Caps(day_usd=0.015), "$0.01 of $0.0150 spent today (UTC)", "LANEWAY_BUDGET_DAY_USD"),
        (Caps(thread_usd=0.015), "$0.01 of $0.0150 spent by this thread", "LANEWAY_BUDGET_THREAD_USD"),
        (Caps(job_usd=0.015), "$0.01 of $0.0150 spent by this job", "LANEWAY_BUDGET_JOB_USD"),
        (Caps(day_tokens=200), "150 of 200 tokens spent today (UTC)", "LANEWAY_BUDGET_DAY_TOKENS"),
    ],
)
async def test_a_refusal_names_the_cap_what_is_spent_and_the_setting(
    db: Database, caps: Caps, sentence: str, setting: str
) -> None:
    account = Account(Scope.REACTIVE, new_id(), new_id())
    await reserve(db, caps, account=account)
    with pytest.raises(BudgetExceeded) as refused:
        await reserve(db, caps, account=account)
    assert sentence in refused.value.message
    assert setting in refused.value.hint
    assert (await spent(db))[0] == CENT


async def test_a_refusal_for_the_day_says_when_the_next_day_begins(db: Database) -> None:
    with pytest.raises(BudgetExceeded) as refused:
        await reserve(db, Caps(day_usd=0.0))
    assert refused.value.retry_after is not None
    begins = datetime.now(UTC) + timedelta(seconds=refused.value.retry_after + 1)
    assert begins.hour == begins.minute == 0


async def test_what_other_threads_and_jobs_spent_does_not_count_against_ours(db: Database) -> None:
    caps = Caps(thread_usd=0.01, job_usd=0.01)
    for _ in range(3):
        await reserve(db, caps, account=Account(thread_id=new_id(), job_id=new_id()))


async def test_yesterday_does_not_count_against_today(db: Database) -> None:
    await reserve(db, Caps(day_usd=0.01))
    async with db.transaction() as tx:
        await tx.execute("UPDATE token_ledger SET created_at = date_trunc('day', now(), 'UTC') - interval '1 second'")
    await reserve(db, Caps(day_usd=0.01))
    assert (await spent(db))[0] == CENT * 2
    assert (await spent(db, today=True))[0] == CENT


async def test_a_free_call_passes_when_all_money_is_spent(db: Database) -> None:
    await reserve(db, Caps(day_usd=0.01))
    await reserve(db, Caps(day_usd=0.01), cost=Decimal(0))


async def test_a_summary_adds_up_by_day_scope_provider_model_and_thread(db: Database) -> None:
    thread = UUID(int=1)
    first = await reserve(db, account=Account(thread_id=thread))
    await settle(db, first, Decimal("0.004"), (300, 100))
    small = await reserve(db, provider="haiku", model="claude-haiku-5-5", account=Account(Scope.PROACTIVE, thread))
    await settle(db, small, Decimal("0.001"), (50, 10))
    gone = await reserve(db)
    async with db.transaction() as tx:
        await ledger.release(tx, gone)
    await reserve(db, account=Account(thread_id=thread))

    async with db.transaction() as tx:
        [day] = await ledger.summary(tx, by="day")
        assert day.key == datetime.now(UTC).date().isoformat()
        assert (day.calls, day.tokens_input, day.tokens_total, day.cost) == (3, 350, 610, Decimal("0.015"))
        providers = await ledger.summary(tx, by="provider")
        assert [(line.key, line.cost) for line in providers] == [
            ("claude", Decimal("0.014")),
            ("haiku", Decimal("0.001")),
        ]
        scopes = {line.key: line.calls for line in await ledger.summary(tx, by="scope")}
        assert scopes == {"reactive": 2, "proactive": 1}
        assert [line.key for line in await ledger.summary(tx, by="model")] == ["claude-sonnet-5-5", "claude-haiku-5-5"]
        assert [line.key for line in await ledger.summary(tx, by="thread")] == [str(thread)]
        assert await ledger.summary(tx, by="day", since=datetime.now(UTC) + timedelta(hours=1)) == []


SEED = "SELECT scope, provider, SUM(tokens_total) FROM token_ledger GROUP BY scope, provider;"


async def test_the_ledger_answers_the_question_of_the_handbook(db: Database) -> None:
    await settle(db, await reserve(db), CENT, (150, 50))
    async with db.transaction() as tx:
        assert await (await tx.execute(SEED)).fetchall() == [("reactive", "claude", Decimal(200))]


async def one_of_each_state(db: Database) -> None:
    """Settled, reserved, cut and released calls of both scopes and of two providers."""
    for scope in Scope:
        for provider in ("claude", "haiku"):
            account = Account(scope, thread_id=new_id(), lane="tools")
            await settle(db, await reserve(db, account=account, provider=provider), Decimal("0.004"))
            _, lost, refused = [await reserve(db, account=account, provider=provider) for _ in range(3)]
            async with db.transaction() as tx:
                await ledger.cut(tx, lost)
                await ledger.release(tx, refused)


async def test_the_handbooks_sums_are_those_of_the_ledger_whatever_became_of_the_calls(db: Database) -> None:
    await one_of_each_state(db)
    async with db.transaction() as tx:
        rows = await (await tx.execute(SEED)).fetchall()
        scopes = {line.key: line.tokens_total for line in await ledger.summary(tx, by="scope")}
        providers = {line.key: line.tokens_total for line in await ledger.summary(tx, by="provider")}
        costs = await (await tx.execute("SELECT sum(cost) FROM token_ledger")).fetchone()
        days = await ledger.summary(tx, by="day")
    # Settled 100, reserved and cut 150 each at their worst, released nothing.
    assert {row[2] for row in rows} == {400}
    assert scopes == {scope: sum(row[2] for row in rows if row[0] == scope) for scope in Scope}
    assert providers == {name: sum(row[2] for row in rows if row[1] == name) for name in ("claude", "haiku")}
    assert costs == (days[0].cost,) == (Decimal("0.096"),)


async def test_a_summary_adds_up_by_month_principal_lane_and_job(db: Database) -> None:
    mine = await job_of(db, await owner(db), lane="tools")
    await spend(db, mine)
    await spend(db, await job_of(db, await customer(db), "ann", lane="answer"), cost=CENT * 2)
    async with db.transaction() as tx:
        [month] = await ledger.summary(tx, by="month")
        assert (month.key, month.calls) == (f"{datetime.now(UTC):%Y-%m}", 2)
        names = {line.name: line.cost for line in await ledger.summary(tx, by="principal")}
        assert names == {"ann": CENT * 2, "owner": CENT}
        assert [line.key for line in await ledger.summary(tx, by="lane")] == ["answer", "tools"]
        assert [line.name for line in await ledger.summary(tx, by="thread")] == ["http/ann", "http/main"]
        assert (await ledger.summary(tx, by="job"))[1].key == str(mine.job_id)


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
            f"SELECT * FROM ({FILL_DAYS.partition('SELECT')[1]}{FILL_DAYS.partition('SELECT')[2]}) "
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
