"""Budgets of every subject and period hold, those set by hand before those of the settings, each world by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from laneway.domain.budget import Account, Budget, Caps, Period, Standing, Subject
from laneway.domain.conversation import World
from laneway.domain.ids import new_id
from laneway.domain.job import Scope
from laneway.errors import BudgetBusy, BudgetExceeded, NotFound
from laneway.store import budgets, ledger
from laneway.store.database import Database
from tests.store.spenders import CENT, customer, job_of, owner, reserve, scheduled, settle, spend, together


async def put(db: Database, subject: Subject, name: str, period: Period, **caps: Any) -> None:
    world = caps.pop("world", None)
    async with db.transaction() as tx:
        await budgets.put(tx, Budget(subject, name, period, world, **caps))


async def in_force(db: Database, caps: Caps | None = None) -> dict[tuple[str, str, str], Standing]:
    async with db.transaction() as tx:
        found = await budgets.in_force(tx, caps or Caps())
    return {(one.budget.subject, one.budget.name, one.budget.period): one for one in found}


@pytest.fixture
async def spender(db: Database) -> Account:
    """The account of a job of the owner, all of it known, that has spent one cent and 100 tokens."""
    mine = await scheduled(db, await job_of(db, await owner(db), lane="tools"), "disk")
    await spend(db, mine)
    async with db.transaction() as tx:
        known, _ = await budgets.whose(tx, mine)
    return known


SUBJECTS = [
    (subject, period)
    for subject in Subject
    for period in Period
    if not (subject is Subject.JOB and period is not Period.EVER)
    and not (subject is Subject.ALL and period is Period.EVER)
]


@pytest.mark.parametrize("caps", [{"usd": Decimal("0.015")}, {"tokens": 240}], ids=["money", "tokens"])
async def test_a_budget_of_any_subject_and_period_refuses_what_does_not_fit(
    db: Database, spender: Account, caps: dict[str, Any]
) -> None:
    # The caller knows no more than the job: the rest is looked up.
    bare = Account(spender.scope, spender.thread_id, spender.job_id)
    for subject, period in SUBJECTS:
        world = World.OWNER if subject in (Subject.ALL, Subject.LANE, Subject.SCOPE) else None
        name = spender.name(subject)
        assert name is not None
        budget = Budget(subject, name, period, world, **caps)
        async with db.transaction() as tx:
            await budgets.put(tx, budget)
        with pytest.raises(BudgetExceeded) as refused:
            await reserve(db, bare)
        found = (await in_force(db))[subject, name, period]
        assert (found.spent, found.spent_tokens) == (CENT, 100)
        async with db.transaction() as tx:
            await budgets.remove(tx, budget)
        spent = "100 of 240 tokens spent" if "tokens" in caps else "$0.01 of $0.0150 spent"
        assert spent in refused.value.message
        assert budget.title in refused.value.message
        assert f"laneway budget set {budget.options}" in refused.value.hint
        assert (refused.value.retry_after is None) is (period is Period.EVER)


CAPS = {
    "day_usd": "$0.01 of $0.0150 spent today (UTC)",
    "day_tokens": "100 of 200 tokens spent today (UTC)",
    "thread_usd": "$0.01 of $0.0150 spent by this thread",
    "job_usd": "$0.01 of $0.0150 spent by this job",
    "month_usd": "$0.01 of $0.0150 spent this month (UTC)",
    "month_tokens": "100 of 200 tokens spent this month (UTC)",
    "thread_tokens": "spent by this thread,",
    "job_tokens": "spent by this job,",
    "principal_day_usd": "by this principal today (UTC)",
    "principal_day_tokens": "by this principal today (UTC)",
    "lane_day_usd": "by the lane tools today (UTC)",
    "lane_day_tokens": "by the lane tools today (UTC)",
    "proactive_day_usd": "by proactive work today (UTC)",
    "proactive_day_tokens": "by proactive work today (UTC)",
}


async def test_every_cap_of_the_settings_holds_and_says_when_it_starts_anew(db: Database, spender: Account) -> None:
    for cap, spent in CAPS.items():
        least: dict[str, Any] = {cap: 0.015 if cap.endswith("usd") else 200}
        caps = Caps(**least)
        with pytest.raises(BudgetExceeded) as refused:
            await reserve(db, Account(spender.scope, spender.thread_id, spender.job_id), caps)
        assert spent in refused.value.message
        assert f"LANEWAY_BUDGET_{cap.upper()}" in refused.value.hint
        if "day" in cap:
            begins = datetime.now(UTC) + timedelta(seconds=(refused.value.retry_after or 0) + 1)
            assert begins.hour == begins.minute == 0
    # What costs nothing passes, and so does another thread with another job.
    await reserve(db, spender, Caps(day_usd=0.01), cost=Decimal(0))
    await reserve(db, Account(thread_id=new_id(), job_id=new_id()), Caps(thread_usd=0.01, job_usd=0.01))


async def test_customers_and_the_owner_never_share_a_budget(db: Database) -> None:
    mine = await job_of(db, await owner(db), lane="tools")
    theirs = await job_of(db, await customer(db), "ann", lane="tools")
    caps = Caps(day_usd=0.02, customers_day_usd=0.01)
    await spend(db, theirs, caps=caps)
    with pytest.raises(BudgetExceeded, match="day budget of all customers") as refused:
        await reserve(db, theirs, caps)
    assert "LANEWAY_BUDGET_CUSTOMERS_DAY_USD" in refused.value.hint
    # What customers spent leaves the owner's whole budget, and the other way round.
    await spend(db, mine, caps=caps, cost=CENT * 2)
    with pytest.raises(BudgetExceeded, match="The day budget does not allow"):
        await reserve(db, mine, caps)
    await reserve(db, theirs, Caps(day_usd=0.0))
    await reserve(db, mine, Caps(customers_day_usd=0.0))
    # A lane has a budget in each world.
    await put(db, Subject.LANE, "tools", Period.DAY, world=World.CUSTOMER, usd=Decimal(0))
    await reserve(db, mine)
    with pytest.raises(BudgetExceeded, match="lane tools for customers"):
        await reserve(db, theirs)


async def test_a_budget_set_by_hand_takes_the_place_of_the_setting_until_it_is_removed(
    db: Database, spender: Account
) -> None:
    caps = Caps(principal_day_usd=0.015, principal_day_tokens=1_000)
    mine = Budget(Subject.PRINCIPAL, str(spender.principal), Period.DAY, None, usd=Decimal(1))
    with pytest.raises(BudgetExceeded):
        await reserve(db, spender, caps)
    async with db.transaction() as tx:
        await budgets.put(tx, mine)
    await reserve(db, spender, caps)
    found = (await in_force(db, caps))["principal", str(spender.principal), "day"]
    # The measure that was not set by hand stays as the settings have it.
    assert [(m.unit, float(m.cap), m.setting_name) for m in found.measures()] == [
        ("usd", 1.0, ""),
        ("tokens", 1_000.0, "budget.principal_day_tokens"),
    ]
    async with db.transaction() as tx:
        await budgets.remove(tx, mine)
    with pytest.raises(BudgetExceeded):
        await reserve(db, spender, caps)
    with pytest.raises(NotFound, match="Nobody set"):
        async with db.transaction() as tx:
            await budgets.remove(tx, mine)


async def test_a_budget_for_one_leaves_others_alone(db: Database, spender: Account) -> None:
    for subject in (Subject.PRINCIPAL, Subject.THREAD, Subject.JOB, Subject.SCHEDULE):
        await put(db, subject, str(spender.name(subject)), Period.EVER, usd=Decimal(0))
    await put(db, Subject.LANE, "tools", Period.DAY, world=World.OWNER, usd=Decimal(0))
    await put(db, Subject.SCOPE, Scope.PROACTIVE, Period.DAY, world=World.OWNER, usd=Decimal(0))
    with pytest.raises(BudgetExceeded):
        await reserve(db, spender)
    await reserve(db, await job_of(db, await customer(db), "ann", lane="answer"))


async def test_a_day_and_a_month_start_anew(db: Database) -> None:
    await spend(db)
    async with db.transaction() as tx:
        await tx.execute("UPDATE token_ledger SET created_at = date_trunc('day', now(), 'UTC') - interval '1 second'")
    await reserve(db, caps=Caps(day_usd=0.01))
    async with db.transaction() as tx:
        await tx.execute("UPDATE token_ledger SET created_at = date_trunc('month', now(), 'UTC') - interval '1 second'")
    await spend(db, caps=Caps(month_usd=0.01))
    with pytest.raises(BudgetExceeded) as refused:
        await reserve(db, caps=Caps(month_usd=0.01))
    assert "or wait for the next month (UTC)" in refused.value.hint


@pytest.mark.parametrize("caps", [{"usd": Decimal("0.11")}, {"tokens": 1_600}], ids=["money", "tokens"])
async def test_fifty_at_once_from_two_processes_against_room_for_ten_admit_exactly_ten(
    db: Database, spender: Account, caps: dict[str, Any]
) -> None:
    await put(db, Subject.THREAD, str(spender.thread_id), Period.MONTH, **caps)
    other = Database(db.url)
    await other.open()
    try:
        outcomes = await together(reserve(place, spender) for place in (db, other) * 25)
    finally:
        await other.close()
    assert sum(isinstance(outcome, int) for outcome in outcomes) == 10
    assert sum(isinstance(outcome, BudgetBusy) for outcome in outcomes) == 40
    [measure] = (await in_force(db))["thread", str(spender.thread_id), "month"].measures()
    assert measure.spent + measure.reserved == measure.cap


async def test_what_calls_being_made_reserve_stands_in_the_way_only_as_long_as_they_are_made(db: Database) -> None:
    caps = Caps(day_usd=0.015, day_tokens=1_000)
    open_call = await reserve(db, caps=caps)
    with pytest.raises(BudgetBusy) as busy:
        await reserve(db, caps=caps)
    assert "$0.00 of $0.0150 spent today (UTC), $0.01 reserved for calls being made, and it may cost" in str(busy.value)
    await settle(db, open_call, CENT / 10)
    left = await reserve(db, caps=caps)
    # Even if the open call were free, this one would not fit: nobody need wait for that.
    with pytest.raises(BudgetExceeded, match=r"\$0.0010 of \$0.0150 spent"):
        await reserve(db, caps=caps, cost=Decimal("0.0145"))
    async with db.transaction() as tx:
        await ledger.cut(tx, left)
    with pytest.raises(BudgetExceeded, match=r"\$0.0110 of \$0.0150 spent today \(UTC\), and it may"):
        await reserve(db, caps=caps)


async def test_only_a_proactive_job_is_charged_to_a_schedule(db: Database) -> None:
    """What a sender writes into a payload cannot spend a schedule's budget."""
    await put(db, Subject.SCHEDULE, "disk", Period.DAY, usd=Decimal(0))
    await reserve(db, await job_of(db, await owner(db), payload={"schedule": "disk"}))
    with pytest.raises(BudgetExceeded, match="schedule disk"):
        await reserve(db, Account(Scope.PROACTIVE, schedule="disk"))
