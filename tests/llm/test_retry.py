"""Transient faults are tried again, with pauses that double; nothing else is."""

from __future__ import annotations

import time

import pytest
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from laneway.errors import LeaseLost, PermanentFault, TransientFault
from laneway.llm import guard
from laneway.llm.retry import RetryingModel
from laneway.llm.scripted import Fail as ScriptedFail
from laneway.llm.scripted import Say as ScriptedSay
from laneway.llm.scripted import ScriptedModel
from laneway.store.database import Database
from tests.llm.conftest import Metered, Naps, anthropic, ask, listen, openai, retrying, rows, said
from tests.servers import AnthropicServer, CutStream, Fail, Hang, Malformed, OpenAIServer, Order, Say

LIMIT = 3.0
"""Seconds for each try: a server that hangs is left soon, one that answers has answered by then on any machine."""


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_a_busy_provider_is_asked_again(anthropic_server: AnthropicServer, naps: Naps, status: int) -> None:
    anthropic_server.script.then(Fail(status), Fail(status), Say("Here I am."), Fail(status), Say("And here."))
    model = retrying(anthropic(anthropic_server), naps)
    assert (await ask(model)).text == "Here I am."
    assert naps.seconds == [0.5, 1.0]
    assert await listen(model) == "And here."
    assert len(anthropic_server.requests) == 5


@pytest.mark.parametrize("order", [CutStream(0), Malformed(), Hang(30)])
async def test_a_broken_call_is_made_again(openai_server: OpenAIServer, naps: Naps, order: Order) -> None:
    openai_server.script.then(order, Say("whole"))
    assert (await ask(retrying(openai(openai_server), naps, time_limit=LIMIT))).text == "whole"


async def test_after_three_tries_the_fault_is_raised(anthropic_server: AnthropicServer, naps: Naps) -> None:
    anthropic_server.script.default = Fail(529)
    with pytest.raises(TransientFault, match="overloaded"):
        await ask(retrying(anthropic(anthropic_server), naps))
    assert len(anthropic_server.requests) == 3


async def test_the_pause_is_drawn_between_nothing_and_its_limit(anthropic_server: AnthropicServer, naps: Naps) -> None:
    anthropic_server.script.default = Fail(529)
    draws = iter([0.0, 0.5, 1.0, 1.0, 1.0, 1.0])
    model = RetryingModel(anthropic(anthropic_server), attempts=7, sleep=naps, chance=lambda: next(draws))
    with pytest.raises(TransientFault):
        await ask(model)
    assert naps.seconds == [0.0, 0.5, 2.0, 4.0, 8.0, 10.0]


async def test_a_pause_the_provider_asks_for_is_kept(anthropic_server: AnthropicServer, naps: Naps) -> None:
    anthropic_server.script.then(
        Fail(429, retry_after=3), Fail(429, headers={"retry-after-ms": "1500"}), Say("thank you")
    )
    assert (await ask(retrying(anthropic(anthropic_server), naps))).text == "thank you"
    assert naps.seconds == [3.0, 1.5]


async def test_a_pause_too_long_to_wait_is_handed_on_at_once(anthropic_server: AnthropicServer, naps: Naps) -> None:
    anthropic_server.script.then(Fail(429, retry_after=60))
    with pytest.raises(TransientFault) as caught:
        await ask(retrying(anthropic(anthropic_server), naps))
    assert caught.value.retry_after == 60
    assert naps.seconds == []
    assert len(anthropic_server.requests) == 1


async def test_a_wrong_key_is_not_tried_again(naps: Naps) -> None:
    with AnthropicServer(api_key="right") as server:
        for call in (ask, listen):
            with pytest.raises(PermanentFault, match="401"):
                await call(retrying(anthropic(server, key="wrong"), naps))
        assert len(server.requests) == 2
    assert naps.seconds == []


@pytest.mark.parametrize("order", [CutStream(0), Fail(529, after_pieces=0), Hang(30)])
async def test_a_stream_is_begun_again_while_nothing_of_it_has_come(
    anthropic_server: AnthropicServer, naps: Naps, order: Order
) -> None:
    anthropic_server.script.then(order, Say("from the beginning"))
    assert await listen(retrying(anthropic(anthropic_server), naps, time_limit=LIMIT)) == "from the beginning"
    assert len(naps.seconds) == 1


@pytest.mark.parametrize("order", [CutStream(3), Fail(529, after_pieces=3), Hang(30, after_pieces=3)])
async def test_a_stream_that_breaks_off_is_not_begun_again(
    anthropic_server: AnthropicServer, naps: Naps, order: Order
) -> None:
    anthropic_server.script.then(order)
    with pytest.raises(TransientFault):
        await listen(retrying(anthropic(anthropic_server), naps, time_limit=LIMIT))
    assert naps.seconds == []
    assert len(anthropic_server.requests) == 1


async def test_a_listener_hears_every_piece_once(anthropic_server: AnthropicServer, naps: Naps) -> None:
    anthropic_server.script.then(Say("one two three"))
    heard = []
    async with retrying(anthropic(anthropic_server), naps).request_stream(
        said("count"), ModelSettings(max_tokens=50), ModelRequestParameters()
    ) as stream:
        async for event in stream:
            heard.append(event.event_kind)
    assert heard[0] == "part_start"
    assert heard.count("part_end") == 1
    assert stream.get().text == "one two three"


async def test_an_error_of_the_listener_is_not_blamed_on_the_model(
    anthropic_server: AnthropicServer, naps: Naps
) -> None:
    with pytest.raises(TimeoutError):
        async with retrying(anthropic(anthropic_server), naps).request_stream(
            said("Hello"), ModelSettings(max_tokens=50), ModelRequestParameters()
        ):
            raise TimeoutError("the listener's own clock")


async def test_each_try_has_the_time_its_settings_allow(anthropic_server: AnthropicServer, naps: Naps) -> None:
    anthropic_server.script.default = Hang(30)
    began = time.monotonic()
    with pytest.raises(TransientFault, match="in time"):
        await ask(
            retrying(anthropic(anthropic_server), naps, attempts=2),
            settings=ModelSettings(max_tokens=50, timeout=0.3),
        )
    # One try that waits for the server's own end would take thirty.
    assert 0.5 < time.monotonic() - began < 25


async def test_every_try_is_in_the_ledger(
    db: Database, metered: Metered, anthropic_server: AnthropicServer, naps: Naps
) -> None:
    anthropic_server.script.then(Fail(529), CutStream(0), Say("at last", tokens_in=100, tokens_out=10))
    await ask(retrying(metered(anthropic(anthropic_server)), naps))
    assert [row.state for row in await rows(db)] == ["released", "cut", "settled"]


async def test_a_lost_lease_is_not_tried_again(metered: Metered, naps: Naps) -> None:
    asked = []

    async def gone() -> None:
        asked.append("may I?")
        raise LeaseLost("Job 1 belongs to another worker now.")

    with guard.guarded_by(gone), pytest.raises(LeaseLost):
        await ask(retrying(metered(ScriptedModel()), naps))
    assert asked == ["may I?"]


async def test_a_scripted_fault_is_tried_again_until_the_script_goes_on(naps: Naps) -> None:
    model = retrying(ScriptedModel([ScriptedFail(times=2, retry_after=0.1, then=ScriptedSay("fine"))]), naps)
    assert (await ask(model)).text == "fine"
    assert naps.seconds == [0.1, 0.1]
