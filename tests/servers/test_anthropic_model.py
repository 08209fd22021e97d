"""The Anthropic loopback server, driven by Pydantic AI's AnthropicModel."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import anthropic
import pytest
from pydantic_ai import Agent, ModelAPIError, ModelHTTPError, ModelSettings
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelMessage, ModelRequest
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.providers.anthropic import AnthropicProvider

from . import AnthropicServer, CallTool, CutStream, Delay, Fail, Hang, Malformed, Order, Refuse, Say, Turn


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def model(server: AnthropicServer) -> AnthropicModel:
    client = anthropic.AsyncAnthropic(api_key="any", base_url=server.url, max_retries=0)
    return AnthropicModel("claude-sonnet-5-5", provider=AnthropicProvider(anthropic_client=client))


def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


async def stream_text(agent: Agent[None, str], prompt: str) -> str:
    async with agent.run_stream(prompt) as result:
        return await result.get_output()


async def test_an_agent_calls_a_tool_and_answers(server: AnthropicServer, model: AnthropicModel) -> None:
    server.script.then(CallTool("add", {"a": 1, "b": 2}, tokens_in=50, tokens_out=5), Say("It is three.", tokens_in=70))
    # Without a limit of its own the model would ask for a stream here too.
    result = await Agent(model, tools=[add], model_settings=ModelSettings(max_tokens=500)).run("1 + 2?")
    assert result.output == "It is three."
    assert not any(request.body.get("stream") for request in server.requests)
    assert server.requests[1].body["messages"][-1]["content"][0]["content"][0]["text"] == "3"
    assert (result.usage.requests, result.usage.input_tokens) == (2, 120)


async def test_an_agent_streams_its_tool_call_and_its_answer(server: AnthropicServer, model: AnthropicModel) -> None:
    calls = [CallTool("add", {"a": 1, "b": 2}), CallTool("add", {"a": 3, "b": 4})]
    server.script.then(Turn(calls), Say("Three and seven."))
    assert await stream_text(Agent(model, tools=[add]), "1 + 2 and 3 + 4?") == "Three and seven."
    assert [request.body["stream"] for request in server.requests] == [True, True]
    results = server.requests[1].body["messages"][-1]["content"]
    assert [result["content"][0]["text"] for result in results] == ["3", "7"]


async def test_an_agent_sees_cache_tokens(model: AnthropicModel) -> None:
    settings = AnthropicModelSettings(anthropic_cache_instructions=True)
    agent = Agent(model, instructions="You are a careful assistant. " * 50, model_settings=settings)
    first, second = await agent.run("one"), await agent.run("two")
    assert first.usage.cache_write_tokens > 0
    assert second.usage.cache_read_tokens == first.usage.cache_write_tokens


async def test_an_overload_is_an_http_error(server: AnthropicServer, model: AnthropicModel) -> None:
    server.script.then(Fail(529), Fail(529), Fail(529, after_pieces=2))
    agent = Agent(model)
    for attempt in (agent.run("Hello"), stream_text(agent, "Hello"), stream_text(agent, "Hello")):
        with pytest.raises(ModelHTTPError) as caught:
            await attempt
        assert caught.value.status_code == 529


@pytest.mark.parametrize("order", [CutStream(0), CutStream(2), Malformed(), Hang(30), Hang(30, after_pieces=2)])
async def test_a_broken_stream_is_an_api_error(server: AnthropicServer, model: AnthropicModel, order: Order) -> None:
    server.script.then(order)
    agent = Agent(model, model_settings=ModelSettings(timeout=0.5))
    with pytest.raises(ModelAPIError):
        await stream_text(agent, "Hello")


async def test_a_cancelled_run_is_seen_to_leave(server: AnthropicServer, model: AnthropicModel) -> None:
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slowly(_: object) -> Order:
        loop.call_soon_threadsafe(asked.set)
        return Delay(Say("word " * 30), per_piece=1)

    server.script.then(slowly)
    run = asyncio.create_task(Agent(model).run("Hello"))
    await asked.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (await asyncio.to_thread(server.requests[0].wait_for_end)).client_left


async def test_finish_reasons_arrive(server: AnthropicServer, model: AnthropicModel) -> None:
    server.script.then(Say("half an", stop="length"), Refuse("Not this."))
    history: list[ModelMessage] = [ModelRequest.user_text_prompt("Hello")]
    first = await model_request(model, history)
    second = await model_request(model, history)
    assert (first.finish_reason, second.finish_reason) == ("length", "content_filter")
