"""Every model call is in the ledger, with the real SDKs against loopback providers."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelAPIError, ModelConnectionError, ModelHTTPError
from pydantic_ai.models import ModelRequestParameters
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
from tests.llm.conftest import Metered, Refusals, anthropic, ask, listen, openai, rows, said
from tests.servers import AnthropicServer, CutStream, Fail, Hang, Malformed, OpenAIServer, Say


async def test_a_call_is_settled_at_the_exact_price(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    anthropic_server.script.then(Say("Five days.", tokens_in=1_000, tokens_out=200))
    response = await ask(metered(anthropic(anthropic_server)), "How long are you up?")
    assert response.text == "Five days."
    [row] = await rows(db)
    assert (row.state, row.provider, row.model) == ("settled", "claude", "claude-sonnet-5-5")
    assert (row.tokens_input, row.tokens_output, row.tokens_total) == (1_000, 200, 1_200)
    # $2 and $10 for a million tokens in and out.
    assert row.cost == Decimal("0.004")


async def test_the_second_call_reads_the_cache_and_pays_less(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    agent = Agent(metered(anthropic(anthropic_server)), instructions="You are a careful assistant. " * 200)
    settings = ModelSettings(max_tokens=100)
    await agent.run("one", model_settings=settings)
    await agent.run("two", model_settings=settings)
    first, second = await rows(db)
    assert first.tokens_cached == 0
    assert second.tokens_cached == first.meta_json["cache_write_tokens"] > 1000
    assert second.tokens_input == first.tokens_input
    fresh = second.tokens_input - second.tokens_cached
    assert second.cost == (fresh * 2 + second.tokens_cached * Decimal("0.1") + second.tokens_output * 10) / 1_000_000
    assert second.cost < first.cost / 5


async def test_reasoning_tokens_are_counted(db: Database, metered: Metered, openai_server: OpenAIServer) -> None:
    openai_server.script.then(Say("42", tokens_in=100, tokens_out=50, reasoning_tokens=40))
    await ask(metered(openai(openai_server)))
    [row] = await rows(db)
    assert (row.provider, row.tokens_output, row.tokens_reasoning) == ("openai", 50, 40)
    assert row.cost == Decimal("0.000125")


async def test_a_stream_is_settled_when_it_ends(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    anthropic_server.script.then(Say("All is well here.", tokens_in=1_000, tokens_out=200))
    assert await listen(metered(anthropic(anthropic_server))) == "All is well here."
    [row] = await rows(db)
    assert (row.state, row.cost, row.meta_json["stream"]) == ("settled", Decimal("0.004"), True)


async def test_a_stream_that_breaks_off_is_settled_for_what_came(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    words = Say("one two three four five six seven eight", tokens_in=1_000)
    anthropic_server.script.then(CutStream(4, words))
    with pytest.raises(ModelAPIError):
        await listen(metered(anthropic(anthropic_server)))
    [row] = await rows(db)
    assert (row.state, row.tokens_input, row.meta_json["estimated"]) == ("settled", 1_000, True)
    assert 0 < row.tokens_output < 30
    assert 0 < row.cost < row.reserved_cost


async def test_a_stream_nobody_listens_to_any_more_is_settled_for_what_came(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    anthropic_server.script.then(Hang(30, Say("one two three four", tokens_in=500), after_pieces=2))
    heard = asyncio.Event()

    async def listening() -> None:
        model, settings = metered(anthropic(anthropic_server)), ModelSettings(max_tokens=1000)
        async with model.request_stream(said("Hello"), settings, ModelRequestParameters()) as stream:
            async for _ in stream:
                heard.set()

    listener = asyncio.create_task(listening())
    await heard.wait()
    listener.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listener
    [row] = await rows(db)
    assert (row.state, row.tokens_input) == ("settled", 500)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
async def test_a_call_turned_away_costs_nothing(
    db: Database, metered: Metered, anthropic_server: AnthropicServer, status: int
) -> None:
    anthropic_server.script.then(Fail(status), Fail(status), Fail(status, after_pieces=0))
    model = metered(anthropic(anthropic_server))
    for call in (ask(model), listen(model), listen(model)):
        with pytest.raises(ModelHTTPError, match=str(status)):
            await call
    assert [row.state for row in await rows(db)] == ["released", "released", "released"]


async def test_a_refused_connection_costs_nothing(db: Database, metered: Metered) -> None:
    with AnthropicServer() as gone:
        pass
    with pytest.raises(ModelConnectionError):
        await ask(metered(anthropic(gone)))
    [row] = await rows(db)
    assert (row.state, row.cost) == ("released", Decimal(0))


@pytest.mark.parametrize("order", [CutStream(0), Malformed(), Hang(30)])
async def test_a_call_nobody_knows_the_end_of_stays_counted_in_full(
    db: Database, metered: Metered, anthropic_server: AnthropicServer, order: CutStream | Malformed | Hang
) -> None:
    anthropic_server.script.then(order)
    with pytest.raises(ModelAPIError):
        await ask(metered(anthropic(anthropic_server)), settings=ModelSettings(max_tokens=1000, timeout=3))
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


async def test_a_call_over_the_cap_is_not_made(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    model = metered(anthropic(anthropic_server), Caps(day_usd=0.005))
    with pytest.raises(BudgetExceeded, match="day budget"):
        await ask(model)
    assert anthropic_server.requests == []
    assert await rows(db) == []


async def test_a_cap_on_a_job_leaves_other_jobs_alone(metered: Metered, anthropic_server: AnthropicServer) -> None:
    model = metered(anthropic(anthropic_server), Caps(job_usd=0.02))
    spender, other = new_id(), new_id()
    anthropic_server.script.then(Say("dear", tokens_in=1_000, tokens_out=1_000))
    with charged_to(Account(job_id=spender)):
        await ask(model)
        with pytest.raises(BudgetExceeded, match="LANEWAY_BUDGET_JOB_USD"):
            await ask(model)
    with charged_to(Account(job_id=other)):
        await ask(model)


async def test_fifty_calls_at_once_stay_under_the_cap(
    db: Database, metered: Metered, anthropic_server: AnthropicServer
) -> None:
    await ask(metered(anthropic(anthropic_server)))
    worst = (await rows(db))[0].reserved_cost
    async with db.transaction() as tx:
        await tx.execute("DELETE FROM token_ledger")
    refusals = Refusals(40)
    anthropic_server.script.default = refusals.late
    model = metered(anthropic(anthropic_server), Caps(day_usd=float(worst * 10)))
    outcomes = await asyncio.gather(*(refusals.counted(ask(model)) for _ in range(50)), return_exceptions=True)
    assert sum(isinstance(outcome, BudgetExceeded) for outcome in outcomes) == 40
    assert len(await rows(db)) == 10


async def test_a_call_is_charged_to_the_account_it_was_made_for(db: Database, metered: Metered) -> None:
    job = new_id()
    with charged_to(Account(Scope.PROACTIVE, job_id=job)), prompted_by("builtin:abc"):
        await ask(metered(ScriptedModel()))
    [row] = await rows(db)
    assert row.scope == "proactive"
    assert {k: row.meta_json[k] for k in ("job_id", "model", "prompt", "stream")} == {
        "job_id": str(job),
        "model": "scripted",
        "prompt": "builtin:abc",
        "stream": False,
    }
    assert row.meta_json["milliseconds"] >= 0


@pytest.mark.parametrize("name", ["claude-haiku-5-5", "claude-haiku-4-5-20251001"])
async def test_the_small_model_stands_in_the_ledger_as_haiku(
    db: Database, metered: Metered, anthropic_server: AnthropicServer, name: str
) -> None:
    await ask(metered(anthropic(anthropic_server, name)))
    [row] = await rows(db)
    assert (row.provider, row.model) == ("haiku", name)


async def test_a_model_without_a_known_price_is_refused(
    db: Database, metered: Metered, openai_server: OpenAIServer
) -> None:
    with pytest.raises(PermanentFault, match="LANEWAY_ALLOW_UNKNOWN_PRICE"):
        await ask(metered(openai(openai_server, "our-own-llama")))
    assert openai_server.requests == []
    assert await rows(db) == []


async def test_a_model_without_a_known_price_can_be_allowed(
    db: Database, metered: Metered, openai_server: OpenAIServer
) -> None:
    openai_server.script.then(Say("hi", tokens_in=10, tokens_out=2))
    await ask(metered(openai(openai_server, "our-own-llama"), Caps(day_usd=1), allow_unknown_price=True))
    [row] = await rows(db)
    assert (row.tokens_total, row.cost, row.meta_json["price"]) == (12, Decimal(0), "unknown")


async def test_a_scripted_model_is_free_even_when_nothing_may_be_spent(db: Database, metered: Metered) -> None:
    response = await ask(metered(ScriptedModel([ScriptedSay("for free")]), Caps(day_usd=0)))
    assert response.text == "for free"
    [row] = await rows(db)
    assert (row.provider, row.state, row.cost) == ("scripted", "settled", Decimal(0))
    assert row.tokens_total > 0


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


async def test_a_failure_inside_this_process_is_released(db: Database, metered: Metered) -> None:
    with pytest.raises(PermanentFault):
        await ask(metered(ScriptedModel([ScriptedFail("permanent")])))
    assert [row.state for row in await rows(db)] == ["released"]


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
    anthropic_server.script.then(Say("Five days.", tokens_in=1_000, tokens_out=200))
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
