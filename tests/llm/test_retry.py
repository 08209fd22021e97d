"""Transient faults are tried again, with pauses that double; nothing else is."""

from __future__ import annotations

import pytest
from pydantic_ai.settings import ModelSettings

from laneway.errors import LeaseLost, PermanentFault, TransientFault
from laneway.llm import guard
from laneway.llm.retry import RetryingModel
from laneway.llm.scripted import ScriptedModel
from laneway.store.database import Database
from tests.llm.conftest import Metered, Naps, anthropic, ask, listen, retrying, rows
from tests.servers import AnthropicServer, CutStream, Fail, Hang, Malformed, Order, Say

LIMIT = 1.0
"""Seconds for each try: a server that hangs is left soon, one that answers has answered by then on any machine."""


async def test_a_busy_provider_is_asked_again(anthropic_server: AnthropicServer, naps: Naps) -> None:
    orders = (Fail(429), Malformed(), Say("Here I am."), Fail(503), CutStream(0), Say("And here."))
    anthropic_server.script.then(*orders)
    model = retrying(anthropic(anthropic_server), naps)
    assert (await ask(model)).text == "Here I am."
    assert await listen(model) == "And here."
    assert naps.seconds == [0.5, 1.0] * 2
    assert len(anthropic_server.requests) == len(orders)


async def test_the_pause_is_drawn_between_nothing_and_its_limit_until_the_tries_are_used_up(
    anthropic_server: AnthropicServer, naps: Naps
) -> None:
    anthropic_server.script.default = Fail(529)
    draws = iter([0.0, 0.5, 1.0, 1.0, 1.0, 1.0])
    model = RetryingModel(anthropic(anthropic_server), attempts=7, sleep=naps, chance=lambda: next(draws))
    with pytest.raises(TransientFault, match="overloaded"):
        await ask(model)
    assert naps.seconds == [0.0, 0.5, 2.0, 4.0, 8.0, 10.0]


async def test_a_pause_the_provider_asks_for_is_kept(anthropic_server: AnthropicServer, naps: Naps) -> None:
    model = retrying(anthropic(anthropic_server), naps)
    in_milliseconds = Fail(429, headers={"retry-after-ms": "1500"})
    anthropic_server.script.then(Fail(429, retry_after=3), in_milliseconds, Say("thank you"), Fail(429, retry_after=60))
    assert (await ask(model)).text == "thank you"
    assert naps.seconds == [3.0, 1.5]
    with pytest.raises(TransientFault) as caught:
        await ask(model)
    assert caught.value.retry_after == 60
    assert (len(naps.seconds), len(anthropic_server.requests)) == (2, 4), "too long a pause is handed on at once"


async def test_a_wrong_key_and_a_lost_lease_are_not_tried_again(metered: Metered, naps: Naps) -> None:
    asked = []

    async def gone() -> None:
        asked.append("may I?")
        raise LeaseLost("Job 1 belongs to another worker now.")

    with AnthropicServer(api_key="right") as server:
        for call in (ask, listen):
            with pytest.raises(PermanentFault, match="401"):
                await call(retrying(anthropic(server, key="wrong"), naps))
        assert len(server.requests) == 2
    with guard.guarded_by(gone), pytest.raises(LeaseLost):
        await ask(retrying(metered(ScriptedModel()), naps))
    assert (asked, naps.seconds) == (["may I?"], [])


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


async def test_each_try_has_the_time_its_settings_allow(anthropic_server: AnthropicServer, naps: Naps) -> None:
    anthropic_server.script.default = Hang(60)
    model = retrying(anthropic(anthropic_server), naps, attempts=2)
    # Were the time not kept, the server's sixty seconds would be up with an answer, and no fault.
    with pytest.raises(TransientFault, match="in time"):
        await ask(model, settings=ModelSettings(max_tokens=50, timeout=0.2))
    assert len(naps.seconds) == 1


async def test_every_try_is_in_the_ledger(
    db: Database, metered: Metered, anthropic_server: AnthropicServer, naps: Naps
) -> None:
    anthropic_server.script.then(Fail(529), CutStream(0), Say("at last", tokens_in=100, tokens_out=10))
    await ask(retrying(metered(anthropic(anthropic_server)), naps))
    assert [row.state for row in await rows(db)] == ["released", "cut", "settled"]
