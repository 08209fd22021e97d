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
from tests.llm.conftest import Metered, anthropic, ask, listen, rows, worst_cost
from tests.servers import AnthropicServer, Say

STRONG, CHEAP = "claude-sonnet-5-5", "claude-haiku-5-5"


async def test_the_cheaper_one_answers_where_only_it_fits_and_the_record_says_so(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    def stepping(cap: Decimal) -> Model:
        caps = Caps(day_usd=float(cap))
        strong, cheap = (metered(anthropic(anthropic_server, name), caps) for name in (STRONG, CHEAP))
        return StepDownModel(strong, cheap)

    most, least = [await worst_cost(db, metered, anthropic(anthropic_server, name)) for name in (STRONG, CHEAP)]
    asked = len(anthropic_server.requests)
    for call in (ask(stepping(least / 2)), listen(stepping(least / 2))):
        with pytest.raises(BudgetExceeded, match=f"The cheaper {CHEAP} does not fit either") as refused:
            await call
        assert "day budget" in refused.value.message
    assert (len(anthropic_server.requests), await rows(db)) == (asked, [])
    briefly, job = Say("Briefly.", tokens_in=10, tokens_out=5), new_id()
    anthropic_server.script.then(briefly, briefly, briefly)
    with charged_to(Account(job_id=job)):
        assert (await ask(stepping((most + least) / 2))).model_name == CHEAP
        assert await listen(stepping((most + least) / 2)) == "Briefly."
    assert (await ask(stepping(2 * most))).model_name == STRONG
    made = [(row.model, row.state, row.meta_json.get("instead_of"), row.meta_json["stream"]) for row in await rows(db)]
    assert made[:2] == [(CHEAP, "settled", STRONG, False), (CHEAP, "settled", STRONG, True)]
    assert made[2:] == [(STRONG, "settled", None, False)]
    async with db.transaction() as tx:
        found = {event.kind: event.body for event in await events.of_job(tx, job)}
    assert found["budget.stepped_down"] == {"from": STRONG, "to": CHEAP}
    assert found["budget.reached"]["unit"] == "usd"


async def test_the_settings_say_whether_and_to_which_model(db: Database) -> None:
    def cheaper(**more: str) -> str | None:
        model = choose(Settings.model_validate({"anthropic_api_key": "sk-ant-any", **more}), db).execute
        return model.cheaper.model_name if isinstance(model, StepDownModel) else None

    assert cheaper() is None
    assert cheaper(budget_at_cap="step_down") == CHEAP
    assert cheaper(budget_at_cap="step_down", cheaper_model="offline") == "offline"
    # Where there is no cheaper model there is nothing to step down to.
    assert cheaper(budget_at_cap="step_down", default_model=f"anthropic:{STRONG}") is None
    assert cheaper(budget_at_cap="step_down", default_model="offline") is None
