"""The owner hears of a budget that is nearly spent, once, and of one that has no room left."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from laneway.domain.budget import Account, Budget, Caps, Period, Subject
from laneway.domain.conversation import Message, World
from laneway.errors import BudgetBusy, BudgetExceeded
from laneway.llm.meter import MeteredModel, charged_to
from laneway.llm.scripted import ScriptedModel
from laneway.store import budgets, conversations, events
from laneway.store.database import Database
from tests.llm.conftest import Metered, anthropic, ask
from tests.servers import AnthropicServer, Say
from tests.store.spenders import customer, job_of, owner, reserve, spend


async def kinds(db: Database, account: Account) -> list[tuple[str, dict[str, Any]]]:
    async with db.transaction() as tx:
        found = await events.of_job(tx, account.job_id) if account.job_id else []
    return [(event.kind, event.body) for event in found if event.kind.startswith("budget.")]


async def notices(db: Database) -> list[Message]:
    """What was said in any thread without being asked, oldest first."""
    async with db.transaction() as tx:
        said = await conversations.messages(tx, limit=200)
    return [message for message in reversed(said) if "notice" in message.meta]


@pytest.fixture
def dear(metered: Metered, anthropic_server: AnthropicServer) -> MeteredModel:
    """Each call costs one cent of a day budget of five."""
    anthropic_server.script.default = Say("dear", tokens_in=1_000, tokens_out=800)
    return metered(anthropic(anthropic_server), Caps(day_usd=0.05, customers_day_usd=0.05))


async def test_at_eighty_percent_the_owner_is_told_once(db: Database, dear: MeteredModel) -> None:
    mine = await job_of(db, await owner(db))
    with charged_to(mine):
        for _ in range(3):
            await ask(dear)
        assert await kinds(db, mine) == []
        await ask(dear)
        [(kind, body)] = await kinds(db, mine)
        assert (kind, body["percent"], body["spent"], body["cap"]) == ("budget.warned", 80.0, 0.04, 0.05)
        [told] = await notices(db)
        assert told.thread_id == mine.thread_id
        assert told.text.startswith("80 % of the day budget is spent: $0.04 of $0.05. It starts anew on ")
        assert "LANEWAY_BUDGET_DAY_USD" in told.text
        for _ in range(2):
            with pytest.raises(BudgetExceeded):
                await ask(dear)
    assert [kind for kind, _ in await kinds(db, mine)] == ["budget.warned", "budget.reached"]
    assert "no room left" in (await notices(db))[1].text
    async with db.transaction() as tx:
        await budgets.put(tx, Budget(Subject.ALL, "", Period.DAY, World.OWNER, usd=Decimal("0.06")))
    with charged_to(mine):
        await ask(dear)
    assert len(await notices(db)) == 3, "a raised budget warns anew"


async def test_what_is_reserved_is_not_told_as_spent_and_waiting_is_no_news(db: Database, dear: MeteredModel) -> None:
    mine = await job_of(db, await owner(db))
    with charged_to(mine):
        await ask(dear)
        await reserve(db, mine, cost=Decimal("0.035"))
        with pytest.raises(BudgetBusy):
            await ask(dear)
        assert await notices(db) == []
        await spend(db, mine, cost=Decimal("0.031"))
        with pytest.raises(
            BudgetExceeded, match=r"\$0.0410 of \$0.05 spent today \(UTC\), \$0.0350 reserved for calls"
        ):
            await ask(dear)
    [told] = await notices(db)
    assert told.text.startswith("The day budget has no room left: $0.0410 of $0.05. ")


async def test_what_customers_spend_is_told_to_the_owner_and_not_to_them(db: Database, dear: MeteredModel) -> None:
    boss, ann = await owner(db), await customer(db)
    mine, theirs = await job_of(db, boss), await job_of(db, ann, "ann")
    with charged_to(theirs):
        for _ in range(4):
            await ask(dear)
    [told] = await notices(db)
    assert told.thread_id == mine.thread_id
    assert "day budget of all customers" in told.text


async def test_a_thread_elsewhere_is_named_to_the_owner(db: Database, metered: Metered) -> None:
    theirs = await job_of(db, await customer(db), "ann")
    await job_of(db, await owner(db))
    async with db.transaction() as tx:
        await budgets.put(tx, Budget(Subject.THREAD, str(theirs.thread_id), Period.EVER, None, tokens=1_010))
    with charged_to(theirs):
        for _ in range(60):
            try:
                await ask(metered(ScriptedModel()))
            except BudgetExceeded:
                break
    assert f"budget of thread {theirs.thread_id}" in (await notices(db))[0].text
