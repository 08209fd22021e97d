"""When a model cannot answer the next one is asked, and the one that failed is left alone for a while."""

from __future__ import annotations

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse

from laneway.clock import FakeClock
from laneway.errors import BudgetExceeded, ModelFault, TransientFault
from laneway.llm.fallback import FallbackChain
from laneway.llm.meter import Caps
from laneway.llm.retry import RetryingModel
from laneway.llm.scripted import Asked, Say, ScriptedModel, Turn
from laneway.llm.scripted import Fail as ScriptedFail
from laneway.store.database import Database
from tests.llm.conftest import Metered, add, anthropic, ask, listen, openai, rows
from tests.servers import AnthropicServer, CallTool, CutStream, Fail, OpenAIServer
from tests.servers import Say as ServerSay


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


class Counted:
    """A scripted model that can be told to fail, and how often it was asked."""

    def __init__(self, name: str) -> None:
        self.fail: ScriptedFail | None = None
        self.asked = 0
        self.model = ScriptedModel(self._turn, name=name)

    def _turn(self, asked: Asked) -> Turn:
        self.asked += 1
        return self.fail or Say(f"{self.model.model_name} here")


@pytest.fixture
def trio() -> list[Counted]:
    return [Counted(name) for name in ("first", "second", "third")]


def chain(trio: list[Counted], clock: FakeClock) -> FallbackChain:
    return FallbackChain([counted.model for counted in trio], cooldown_seconds=60, clock=clock)


async def test_a_failing_model_is_passed_over_until_it_has_cooled(trio: list[Counted], clock: FakeClock) -> None:
    models = chain(trio, clock)
    trio[0].fail = ScriptedFail()
    assert (await ask(models)).text == await listen(models) == (await ask(models)).text == "second here"
    assert (trio[0].asked, trio[1].asked) == (1, 3)
    assert models.cooling() == ["first"]
    trio[0].fail = None
    clock.advance(61)
    assert (await ask(models)).text == "first here"
    assert models.cooling() == []


async def test_the_response_names_the_model_that_gave_it(
    anthropic_server: AnthropicServer, openai_server: OpenAIServer
) -> None:
    anthropic_server.script.then(Fail(529))
    openai_server.script.then(CallTool("add", {"a": 1, "b": 2}))
    chained = FallbackChain(
        [RetryingModel(m, attempts=1) for m in (anthropic(anthropic_server), openai(openai_server))]
    )
    run = await Agent(chained, tools=[add]).run("1 + 2?")
    response = run.all_messages()[-1]
    assert isinstance(response, ModelResponse)
    assert (run.output, response.provider_name, response.model_name) == ("echo: 3", "openai", "gpt-5-mini")


async def test_when_all_are_cooling_as_long_as_they_asked_the_one_that_recovers_first_is_asked(
    trio: list[Counted], clock: FakeClock
) -> None:
    models = chain(trio, clock)
    for place, wait in enumerate((90, 70, 80)):
        trio[place].fail = ScriptedFail(retry_after=wait)
    with pytest.raises(TransientFault, match="third"):
        await ask(models)
    clock.advance(65)
    assert models.cooling() == ["first", "second", "third"]
    trio[1].fail = None
    assert (await ask(models)).text == "second here"
    assert [counted.asked for counted in trio] == [1, 2, 1]


@pytest.mark.parametrize("status", [401, 404])
async def test_a_refused_key_or_an_unknown_model_cools_down_too(
    anthropic_server: AnthropicServer, clock: FakeClock, status: int
) -> None:
    anthropic_server.script.then(Fail(status))
    models = FallbackChain([RetryingModel(anthropic(anthropic_server)), Counted("other").model], clock=clock)
    for _ in range(2):
        assert (await ask(models)).text == "other here"
    assert [request.status for request in anthropic_server.requests] == [status]


async def test_a_rejected_request_is_no_reason_to_cool_down_and_a_broken_stream_is_the_callers_to_repeat(
    anthropic_server: AnthropicServer, clock: FakeClock
) -> None:
    anthropic_server.script.then(Fail(400), ServerSay("this one I like"), CutStream(3))
    models = FallbackChain([RetryingModel(anthropic(anthropic_server)), Counted("other").model], clock=clock)
    assert (await ask(models)).text == "other here"
    assert (await ask(models)).text == "this one I like"
    with pytest.raises(ModelFault):
        await listen(models)
    assert await listen(models) == "other here"


async def test_a_budget_ends_the_call_for_all_models(
    db: Database, metered: Metered, anthropic_server: AnthropicServer, trio: list[Counted]
) -> None:
    models = FallbackChain([metered(anthropic(anthropic_server), Caps(day_usd=0)), trio[0].model])
    with pytest.raises(BudgetExceeded):
        await ask(models)
    assert trio[0].asked == 0
    assert await rows(db) == []
