"""The OpenAI loopback server, driven by Pydantic AI's OpenAIChatModel and OpenAIResponsesModel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import openai
import pytest
from pydantic_ai import Agent, ModelAPIError, ModelHTTPError, ModelSettings
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelMessage, ModelRequest
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from . import CallTool, CutStream, Fail, Hang, Malformed, OpenAIServer, Order, Refuse, Say, Turn


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture(params=[OpenAIChatModel, OpenAIResponsesModel])
def model(server: OpenAIServer, request: pytest.FixtureRequest) -> Model:
    client = openai.AsyncOpenAI(api_key="any", base_url=server.url, max_retries=0)
    kind: type[OpenAIChatModel | OpenAIResponsesModel] = request.param
    return kind("gpt-4.1", provider=OpenAIProvider(openai_client=client))


def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


@dataclass
class Sum:
    total: int


async def stream_text(agent: Agent[None, str], prompt: str) -> str:
    async with agent.run_stream(prompt) as result:
        return await result.get_output()


async def test_an_agent_calls_a_tool_and_answers(server: OpenAIServer, model: Model) -> None:
    server.script.then(CallTool("add", {"a": 1, "b": 2}, tokens_in=50), Say("It is three.", tokens_in=70))
    result = await Agent(model, tools=[add]).run("1 + 2?")
    assert result.output == "It is three."
    assert (result.usage.requests, result.usage.input_tokens) == (2, 120)
    assert not any(request.body.get("stream") for request in server.requests)


async def test_an_agent_streams_its_tool_calls_and_its_answer(server: OpenAIServer, model: Model) -> None:
    calls = [CallTool("add", {"a": 1, "b": 2}), CallTool("add", {"a": 3, "b": 4})]
    server.script.then(Turn(calls), lambda asked: Say("Sums: " + " ".join(asked.tool_results), tokens_out=7))
    assert await stream_text(Agent(model, tools=[add]), "1 + 2 and 3 + 4?") == "Sums: 3 7"
    assert [request.body["stream"] for request in server.requests] == [True, True]


async def test_an_agent_gets_its_typed_answer_through_a_tool(server: OpenAIServer, model: Model) -> None:
    server.script.then(CallTool("final_result", '{"total": '), CallTool("final_result", {"total": 3}))
    result = await Agent(model, output_type=Sum).run("1 + 2?")
    assert result.output == Sum(3)
    assert len(server.requests) == 2


async def test_cached_and_reasoning_tokens_arrive(server: OpenAIServer, model: Model) -> None:
    server.script.then(*[Say("Yes.", tokens_in=2000, tokens_out=300, cache_read=1536, reasoning_tokens=256)] * 2)
    agent = Agent(model)
    whole = (await agent.run("Hello")).usage
    async with agent.run_stream("Hello") as result:
        await result.get_output()
    for usage in (whole, result.usage):
        assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (2000, 300, 1536)
        assert usage.details["reasoning_tokens"] == 256


async def test_a_failure_is_an_http_error(server: OpenAIServer, model: Model) -> None:
    server.script.then(Fail(503), Fail(503))
    agent = Agent(model)
    for attempt in (agent.run("Hello"), stream_text(agent, "Hello")):
        with pytest.raises(ModelHTTPError) as caught:
            await attempt
        assert caught.value.status_code == 503


@pytest.mark.parametrize(
    "order",
    [CutStream(0), CutStream(2), Malformed(), Hang(30), Hang(30, after_pieces=2), Fail(503, after_pieces=2)],
)
async def test_a_broken_stream_is_an_api_error(server: OpenAIServer, model: Model, order: Order) -> None:
    server.script.then(order)
    agent = Agent(model, model_settings=ModelSettings(timeout=0.5))
    with pytest.raises(ModelAPIError):
        await stream_text(agent, "Hello")


async def test_finish_reasons_arrive(server: OpenAIServer, model: Model) -> None:
    server.script.then(Say("half an", stop="length"), Refuse("Not this."))
    history: list[ModelMessage] = [ModelRequest.user_text_prompt("Hello")]
    first = await model_request(model, history)
    second = await model_request(model, history)
    assert (first.finish_reason, second.finish_reason) == ("length", "content_filter")
    assert second.provider_details is not None
    assert second.provider_details["refusal"] == "Not this."
