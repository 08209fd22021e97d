"""Where a budget has no room for the strong model, a cheaper one answers, if that one fits."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic_ai.models import Model

from laneway.domain.ids import new_id
from laneway.errors import BudgetExceeded
from laneway.llm.choice import choose
from laneway.llm.meter import Account, Caps, charged_to
from laneway.llm.step_down import StepDownModel
from laneway.settings import Settings
from laneway.store import events
from laneway.store.database import Database
from tests.llm.conftest import Metered, anthropic, ask, listen, rows
from tests.servers import AnthropicServer, Say

STRONG, CHEAP = "claude-sonnet-5-5", "claude-haiku-5-5"


@pytest.fixture
async def worst(db: Database, metered: Metered, anthropic_server: AnthropicServer) -> tuple[Decimal, Decimal]:
    """What a call of the tests costs at worst, with the strong and with the cheaper model."""
    for name in (STRONG, CHEAP):
        await ask(metered(anthropic(anthropic_server, name)))
    strong, cheap = [row.reserved_cost for row in await rows(db)]
    async with db.transaction() as tx:
        await tx.execute("DELETE FROM token_ledger")
    anthropic_server.requests.clear()
    return strong, cheap


def stepping(metered: Metered, server: AnthropicServer, cap: Decimal) -> Model:
    caps = Caps(day_usd=float(cap))
    return StepDownModel(metered(anthropic(server, STRONG), caps), metered(anthropic(server, CHEAP), caps))


async def test_the_strong_model_answers_as_long_as_it_fits(
    metered: Metered, anthropic_server: AnthropicServer, worst: tuple[Decimal, Decimal]
) -> None:
    assert (await ask(stepping(metered, anthropic_server, worst[0]))).model_name == STRONG


async def test_the_cheaper_one_answers_where_only_it_fits_and_the_record_says_so(
    db: Database, metered: Metered, anthropic_server: AnthropicServer, worst: tuple[Decimal, Decimal]
) -> None:
    model, job = stepping(metered, anthropic_server, (worst[0] + worst[1]) / 2), new_id()
    anthropic_server.script.then(Say("Briefly.", tokens_in=10, tokens_out=5))
    with charged_to(Account(job_id=job)):
        response = await ask(model)
    assert (response.text, response.model_name) == ("Briefly.", CHEAP)
    [row] = await rows(db)
    assert (row.model, row.state, row.meta_json["instead_of"]) == (CHEAP, "settled", STRONG)
    async with db.transaction() as tx:
        found = {event.kind: event.body for event in await events.of_job(tx, job)}
    assert found["budget.stepped_down"] == {"from": STRONG, "to": CHEAP}
    assert found["budget.reached"]["unit"] == "usd"


async def test_a_stream_steps_down_as_well(
    db: Database, metered: Metered, anthropic_server: AnthropicServer, worst: tuple[Decimal, Decimal]
) -> None:
    anthropic_server.script.then(Say("Briefly, piece by piece.", tokens_in=10, tokens_out=5))
    assert await listen(stepping(metered, anthropic_server, worst[1])) == "Briefly, piece by piece."
    [row] = await rows(db)
    assert (row.model, row.state, row.meta_json["stream"]) == (CHEAP, "settled", True)


async def test_where_neither_fits_the_call_is_refused_and_none_is_made(
    db: Database, metered: Metered, anthropic_server: AnthropicServer, worst: tuple[Decimal, Decimal]
) -> None:
    model = stepping(metered, anthropic_server, worst[1] / 2)
    for call in (ask(model), listen(model)):
        with pytest.raises(BudgetExceeded, match=f"The cheaper {CHEAP} does not fit either") as refused:
            await call
        assert "day budget" in refused.value.message
    assert anthropic_server.requests == []
    assert await rows(db) == []


def chosen(db: Database, **more: object) -> Model:
    return choose(Settings.model_validate({"anthropic_api_key": "sk-ant-any", **more}), db).execute


async def test_the_settings_say_whether_and_to_which_model(db: Database) -> None:
    assert not isinstance(chosen(db), StepDownModel)
    small = chosen(db, budget_at_cap="step_down")
    assert isinstance(small, StepDownModel)
    assert (small.wrapped.model_name, small.cheaper.model_name) == (STRONG, CHEAP)
    named = chosen(db, budget_at_cap="step_down", cheaper_model="offline")
    assert isinstance(named, StepDownModel)
    assert named.cheaper.system == "offline"


async def test_without_a_cheaper_model_there_is_nothing_to_step_down_to(db: Database) -> None:
    assert not isinstance(chosen(db, budget_at_cap="step_down", default_model=f"anthropic:{STRONG}"), StepDownModel)
    assert not isinstance(chosen(db, budget_at_cap="step_down", default_model="offline"), StepDownModel)
