"""What was saved: what was spent, beside what it would have cost had the strong model done everything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from genai_prices import calc_price
from pydantic_ai.usage import RequestUsage

from laneway.app import Parts
from tests.servers import AnthropicServer, Hang, OpenAIServer, Say, Script
from tests.web.conftest import Door, Open, keyed

SONNET, HAIKU = "claude-sonnet-5-5", "claude-haiku-5-5"
CLEAR, UNCLEAR = "What's the server uptime?", "the nginx thing again, like last time"
JUDGED = {"intent": "question", "summary": "Asks.", "plan": "Tell.", "needs_confirmation": False, "confidence": 0.9}
GIVEN = {"classification": {"intent": "question", "summary": "Asks for news."}}
"""Brought along with a message, so that nobody has to judge it."""


def usd(
    model: str, tokens_in: int, tokens_out: int, *, cached: int = 0, written: int = 0, provider: str = "anthropic"
) -> float:
    """What one call costs, by the public price list."""
    usage = RequestUsage(
        input_tokens=tokens_in, output_tokens=tokens_out, cache_read_tokens=cached, cache_write_tokens=written
    )
    return float(calc_price(usage, model, provider_id=provider).total_price)


def judging(tokens_in: int, tokens_out: int) -> Say:
    """The small model judges."""
    return Say(json.dumps(JUDGED), tokens_in=tokens_in, tokens_out=tokens_out, cache_read=0, cache_write=0)


def saying(tokens_in: int, tokens_out: int, cached: int = 0, written: int = 0) -> Say:
    """The strong model answers; on Anthropic's wire the input is told without its cached parts."""
    return Say("Here.", tokens_in=tokens_in, tokens_out=tokens_out, cache_read=cached, cache_write=written)


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer(Script()) as server:
        yield server


async def test_small_calls_and_local_judgements_are_priced_as_the_strong_model_would(
    opened: Open, anthropic: AnthropicServer
) -> None:
    anthropic.script.then(judging(300, 40), saying(1000, 200), judging(500, 60), saying(2000, 100), saying(700, 50))
    async with opened(Parts(), **keyed(anthropic)) as door:
        for number, text in enumerate((UNCLEAR, "the disk thing, as discussed with everyone", CLEAR)):
            await door.ask(text, thread=str(number))
        found = await door.get("/ledger/saved")
        ledger = (await door.get("/ledger"))["items"]
    strong = [usd(SONNET, 1000, 200), usd(SONNET, 2000, 100), usd(SONNET, 700, 50)]
    all_strong = sum([*strong, usd(SONNET, 300, 40), usd(SONNET, 500, 60)])
    avoided = usd(SONNET, 400, 50)
    assert (found["calls"], found["judged_locally"]) == (5, 1)
    assert found["spent"] == pytest.approx(sum([*strong, usd(HAIKU, 300, 40), usd(HAIKU, 500, 60)]))
    assert found["spent"] == pytest.approx(sum(line["cost"] for line in ledger))
    assert found["all_strong"] == pytest.approx(all_strong)
    assert found["judgement_basis"] == "median"
    assert (found["judgement_tokens_input"], found["judgement_tokens_output"]) == (400, 50)
    assert found["avoided"] == pytest.approx(avoided)
    assert found["saved"] == pytest.approx(all_strong + avoided - found["spent"])
    assert found["share"] == pytest.approx(found["saved"] / (all_strong + avoided))


async def test_what_went_to_the_strong_model_saves_nothing_with_its_cache(
    opened: Open, anthropic: AnthropicServer
) -> None:
    anthropic.script.then(saying(100, 20, written=900), saying(100, 20, cached=900))
    async with opened(Parts(), **keyed(anthropic)) as door:
        for thread in "ab":
            await door.ask("what is new?", thread=thread, payload=GIVEN)
        found = await door.get("/ledger/saved")
    assert found["spent"] == pytest.approx(usd(SONNET, 1000, 20, written=900) + usd(SONNET, 1000, 20, cached=900))
    assert (found["judged_locally"], found["avoided"]) == (0, 0)
    assert found["all_strong"] == pytest.approx(found["spent"])
    assert found["saved"] == pytest.approx(0)


async def test_many_calls_are_not_priced_as_one_long_call(opened: Open, openai: OpenAIServer) -> None:
    calls, tokens = 2, 200_000
    dearer = usd("gpt-5.4", calls * tokens, calls, provider="openai")
    openai.script.then(*[Say("Here.", tokens_in=tokens, tokens_out=1, cache_read=0)] * calls)
    async with opened(Parts(), default_model="openai:gpt-5.4", openai_base_url=openai.url) as door:
        for thread in range(calls):
            await door.ask("what is new?", thread=str(thread), payload=GIVEN)
        found = await door.get("/ledger/saved")
    assert (found["calls"], found["compared_with"]) == (calls, "openai:gpt-5.4")
    assert found["all_strong"] == pytest.approx(found["spent"])
    assert found["all_strong"] < dearer * 0.9


async def test_only_what_happened_since_then_counts(own_door: Door) -> None:
    door = own_door
    await door.ask(CLEAR)
    assert (await door.get("/ledger/saved", since="2000-01-01"))["calls"] == 1
    later = await door.get("/ledger/saved", since="2100-01-01T00:00:00Z")
    assert (later["calls"], later["judged_locally"], later["saved"], later["share"]) == (0, 0, 0, None)
    for table in ("token_ledger", "classifications"):
        door.rows(f"UPDATE {table} SET created_at = created_at - interval '9 days'")
    await door.ask("what is new?", thread="b")
    recent = await door.get("/ledger/saved", since=(datetime.now(UTC) - timedelta(days=1)).isoformat())
    assert (recent["calls"], recent["judged_locally"]) == (1, 1)
    assert (await door.get("/ledger/saved"))["calls"] == 2


async def test_calls_that_were_free_or_at_a_price_nobody_knows_are_compared_with_the_strong_model(
    opened: Open, openai: OpenAIServer
) -> None:
    own: dict[str, Any] = {"default_model": "openai:our-own-llama", "openai_base_url": openai.url}
    openai.script.then(Say("Here.", tokens_in=1000, tokens_out=100, cache_read=0))
    async with opened(Parts(), **own) as door:
        await door.ask("what is new?", payload=GIVEN)
        found = await door.get("/ledger/saved")
        door.rows("""UPDATE token_ledger SET meta_json = meta_json || '{"price": "unknown"}'""")
        assert (await door.get("/ledger/saved"))["unpriced"] == 1
    assert (found["spent"], found["unpriced"], found["instead_of"]) == (0, 0, "openai:our-own-llama")
    assert found["all_strong"] == pytest.approx(usd(SONNET, 1000, 100))


async def test_a_call_cut_off_neither_saves_nor_loses(opened: Open, anthropic: AnthropicServer) -> None:
    anthropic.script.then(Hang(60))
    async with opened(Parts(), **keyed(anthropic)) as door:
        job = (await door.send("what is new?", payload=GIVEN))["job_id"]
        while not anthropic.requests:
            await door.until(job, "running")
        await door.post(f"/jobs/{job}/cancel")
        await door.until(job)
        found = await door.get("/ledger/saved")
    assert (found["calls"], found["unsettled"], found["saved"]) == (1, 1, 0)
    assert found["spent"] == found["all_strong"] > 0
