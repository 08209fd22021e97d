"""Every model call is in the ledger, with the real SDKs against loopback providers."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from pydantic_ai.exceptions import ModelAPIError, ModelConnectionError, ModelHTTPError
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from laneway.domain.ids import new_id
from laneway.domain.job import Scope
from laneway.errors import BudgetExceeded, LeaseLost, PermanentFault
from laneway.llm import guard
from laneway.llm.meter import Account, Caps, charged_to, prompted_by
from laneway.llm.scripted import Fail as ScriptedFail
from laneway.llm.scripted import Say as ScriptedSay
from laneway.llm.scripted import ScriptedModel
from laneway.store.database import Database
from tests.gates import somebody_waits
from tests.llm.conftest import Metered, anthropic, ask, listen, openai, rows, said
from tests.servers import AnthropicServer, CutStream, Fail, Hang, Malformed, OpenAIServer, Order, Say

FIVE_DAYS = Say("Five days.", tokens_in=1_000, tokens_out=200)
"""It costs $0.004: $2 and $10 for a million tokens in and out."""


async def test_a_call_is_settled_at_the_exact_price(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    anthropic_server.script.then(FIVE_DAYS, FIVE_DAYS, Say("x", tokens_in=10, tokens_out=10, cache_read=1_000))
    model = metered(anthropic(anthropic_server))
    assert (await ask(model, "How long are you up?")).text == await listen(model) == "Five days."
    await ask(model)
    whole, streamed, cached = await rows(db)
    for row in (whole, streamed):
        assert (row.state, row.provider, row.model) == ("settled", "claude", "claude-sonnet-5-5")
        assert (row.tokens_input, row.tokens_output, row.tokens_total) == (1_000, 200, 1_200)
        assert row.cost == Decimal("0.004")
    assert (whole.meta_json["stream"], streamed.meta_json["stream"]) == (False, True)
    assert (cached.tokens_input, cached.tokens_cached) == (1_010, 1_000)
    # What is read from the cache costs $0.10 for a million.
    assert cached.cost == (10 * 2 + 1_000 * Decimal("0.1") + 10 * 10) / 1_000_000


async def test_a_stream_that_breaks_off_is_settled_for_what_came(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    words = Say("one two three four five six seven eight", tokens_in=1_000)
    anthropic_server.script.then(CutStream(4, words), Hang(30, words, after_pieces=2))
    model, settings, heard = metered(anthropic(anthropic_server)), ModelSettings(max_tokens=1000), asyncio.Event()
    with pytest.raises(ModelAPIError):
        await listen(model)

    async def listening() -> None:
        async with model.request_stream(said("Hello"), settings, ModelRequestParameters()) as stream:
            async for _ in stream:
                heard.set()

    listener = asyncio.create_task(listening())
    await heard.wait()
    listener.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listener
    for row in await rows(db):
        assert (row.state, row.tokens_input, row.meta_json["estimated"]) == ("settled", 1_000, True)
        assert 0 < row.tokens_output < 30
        assert 0 < row.cost < row.reserved_cost


async def test_a_call_turned_away_costs_nothing(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    model, statuses = metered(anthropic(anthropic_server)), (400, 401, 429, 500, 529)
    for status in statuses:
        anthropic_server.script.then(Fail(status), Fail(status), Fail(status, after_pieces=0))
        for call in (ask, listen, listen):
            with pytest.raises(ModelHTTPError, match=str(status)):
                await call(model)
    with AnthropicServer() as gone:
        pass
    with pytest.raises(ModelConnectionError):
        await ask(metered(anthropic(gone)))
    with pytest.raises(PermanentFault):
        await ask(metered(ScriptedModel([ScriptedFail("permanent")])))
    assert [(row.state, row.cost) for row in await rows(db)] == [("released", Decimal(0))] * (3 * len(statuses) + 2)


@pytest.mark.parametrize("order", [CutStream(0), Malformed(), Hang(30)])
async def test_a_call_nobody_knows_the_end_of_stays_counted_in_full(
    db: Database, metered: Metered, anthropic_server: AnthropicServer, order: Order
) -> None:
    anthropic_server.script.then(order)
    with pytest.raises(ModelAPIError):
        await ask(metered(anthropic(anthropic_server)), settings=ModelSettings(max_tokens=1000, timeout=0.5))
    [row] = await rows(db)
    assert row.state == "cut"
    assert row.reserved_cost > 0


async def test_the_worst_case_is_reserved_before_the_call(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    text = "word " * 400
    await ask(metered(anthropic(anthropic_server)), text, settings=ModelSettings(max_tokens=3_000))
    [row] = await rows(db)
    assert row.reserved_tokens >= 3_000 + len(text) // 4
    # At least the longest answer, and the question at the price of writing it to the cache.
    assert row.reserved_cost >= Decimal("0.03") + len(text) // 4 * Decimal("2.5") / 1_000_000
    assert row.cost <= row.reserved_cost


async def test_a_call_over_the_cap_is_not_made_and_a_cap_on_a_job_leaves_other_jobs_alone(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    with pytest.raises(BudgetExceeded, match="day budget"):
        await ask(metered(anthropic(anthropic_server), Caps(day_usd=0.005)))
    assert (anthropic_server.requests, await rows(db)) == ([], [])
    model = metered(anthropic(anthropic_server), Caps(job_usd=0.02))
    anthropic_server.script.then(Say("dear", tokens_in=1_000, tokens_out=1_000))
    with charged_to(Account(job_id=new_id())):
        await ask(model)
        with pytest.raises(BudgetExceeded, match="LANEWAY_BUDGET_JOB_USD"):
            await ask(model)
    with charged_to(Account(job_id=new_id())):
        await ask(model)


async def test_a_call_is_charged_to_the_account_it_was_made_for(db: Database, metered: Metered) -> None:
    job = new_id()
    with charged_to(Account(Scope.PROACTIVE, job_id=job)), prompted_by("builtin:abc"):
        await ask(metered(ScriptedModel(), Caps(day_usd=0)))
    [row] = await rows(db)
    told = {"job_id": str(job), "model": "scripted", "prompt": "builtin:abc", "stream": False}
    assert (row.scope, {name: row.meta_json[name] for name in told}) == ("proactive", told)
    assert row.meta_json["milliseconds"] >= 0
    # The scripted model is free, even where nothing may be spent.
    assert (row.provider, row.state, row.cost, row.tokens_total > 0) == ("scripted", "settled", Decimal(0), True)


class Elsewhere(WrapperModel):
    """A model that says that it is in the internet, where nothing is free."""

    @property
    def base_url(self) -> str | None:
        return "https://1.1.1.1/v1"


async def test_a_model_without_a_known_price_is_refused_unless_it_is_allowed(
    db: Database, metered: Metered, openai_server: OpenAIServer
) -> None:
    model = Elsewhere(openai(openai_server, "our-own-llama"))
    with pytest.raises(PermanentFault, match="LANEWAY_ALLOW_UNKNOWN_PRICE"):
        await ask(metered(model))
    assert (openai_server.requests, await rows(db)) == ([], [])
    reasoned = Say("42", tokens_in=100, tokens_out=50, reasoning_tokens=40)
    openai_server.script.then(reasoned, reasoned)
    await ask(metered(model, Caps(day_usd=1), allow_unknown_price=True))
    await ask(metered(openai(openai_server)))
    unknown, known = await rows(db)
    assert (unknown.tokens_total, unknown.cost, unknown.meta_json["price"]) == (150, Decimal(0), "unknown")
    assert (known.provider, known.tokens_reasoning, known.cost) == ("openai", 40, Decimal("0.000125"))


async def test_a_worker_without_its_lease_makes_no_call(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    async def gone() -> None:
        assert [row.state for row in await rows(db)][-1] == "reserved"
        raise LeaseLost("Job 1 belongs to another worker now.")

    model = metered(anthropic(anthropic_server))
    with guard.guarded_by(gone):
        for call in (ask(model), listen(model)):
            with pytest.raises(LeaseLost):
                await call
    assert anthropic_server.requests == []
    assert [row.state for row in await rows(db)] == ["released", "released"]


async def test_an_answer_is_not_lost_when_the_ledger_cannot_be_reached(
    db: Database, metered: Metered, caplog: pytest.LogCaptureFixture
) -> None:
    async def the_database_goes_away(call: dict[str, Any]) -> None:
        await db.close()

    model = metered(ScriptedModel([ScriptedSay("I made it.")], on_call=the_database_goes_away))
    assert (await ask(model)).text == "I made it."
    assert "stays reserved" in caplog.text


async def test_a_run_stopped_while_its_answer_is_paid_for_pays_what_it_cost(
    db: Database, database_url: str, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    anthropic_server.script.then(FIVE_DAYS)
    async with await psycopg.AsyncConnection.connect(database_url) as holder:

        async def hold() -> None:
            await holder.execute("SELECT 1 FROM token_ledger FOR UPDATE")

        async def call() -> None:
            with guard.guarded_by(hold):
                await ask(metered(anthropic(anthropic_server)))

        calling = asyncio.create_task(call())
        await somebody_waits(db)
        calling.cancel()
        # The call has heard of it before the row is free.
        await asyncio.sleep(0)
        await holder.rollback()
    await asyncio.wait({calling}, timeout=20)
    assert calling.cancelled()
    [row] = await rows(db)
    assert (row.state, row.cost) == ("settled", Decimal("0.004"))
