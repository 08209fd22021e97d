"""The loopback providers, asked by the real SDKs: what they answer, refuse and break is what the SDKs know."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import openai
import pytest
from pydantic_ai import Agent, ModelAPIError, ModelHTTPError, ModelSettings
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from . import (
    AnthropicServer,
    Asked,
    CallTool,
    CutStream,
    Fail,
    Hang,
    Malformed,
    ModelServer,
    OpenAIServer,
    Order,
    Refuse,
    Say,
    Script,
)

CUT = Fail(503, message="too busy", after_pieces=2)
both = pytest.mark.parametrize("provider", [AnthropicServer, OpenAIServer])


def model_of(server: ModelServer, key: str = "any") -> Model:
    if isinstance(server, AnthropicServer):
        client = anthropic.AsyncAnthropic(api_key=key, base_url=server.url, max_retries=0)
        return AnthropicModel("claude-sonnet-5-5", provider=AnthropicProvider(anthropic_client=client))
    other = openai.AsyncOpenAI(api_key=key, base_url=server.url, max_retries=0)
    return OpenAIChatModel("gpt-4.1", provider=OpenAIProvider(openai_client=other))


async def answers(agent: Agent[None, str], *, stream: bool, text: str = "Hello") -> Any:
    """The finished run, whole or streamed."""
    if not stream:
        return await agent.run(text)
    async with agent.run_stream(text) as result:
        await result.get_output()
    return result


def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


@both
@pytest.mark.parametrize("stream", [False, True])
async def test_an_agent_calls_a_tool_and_answers_with_the_figures_ordered(
    provider: type[ModelServer], stream: bool
) -> None:
    def sums(asked: Asked) -> Order:
        return Say(f"It is {asked.tool_results[0]}.", tokens_in=70, tokens_out=7, cache_read=40)

    with provider(Script(CallTool("add", {"a": 1, "b": 2}, tokens_in=50, tokens_out=5), sums)) as server:
        agent = Agent(model_of(server), tools=[add], model_settings=ModelSettings(max_tokens=500))
        result = await answers(agent, stream=stream)
        # At Anthropic what the cache gave is counted beside the other tokens, at OpenAI among them.
        sent = 160 if provider is AnthropicServer else 120
        assert (result.usage.input_tokens, result.usage.output_tokens) == (sent, 12)
        assert (result.usage.requests, result.usage.cache_read_tokens) == (2, 40)
        assert [bool(request.body.get("stream")) for request in server.requests] == [stream, stream]
        assert result.all_messages()[-1].parts[0].content == "It is 3."
        assert (await answers(agent, stream=stream)).all_messages()[-1].parts[0].content == "echo: Hello"


@both
async def test_refusals_and_filtered_answers_have_the_finish_reason_of_a_filter(provider: type[ModelServer]) -> None:
    with provider(Script(Say("half", stop="filter"), Refuse("Not this."))) as server:
        for _ in range(2):
            response = await model_request(model_of(server), [ModelRequest.user_text_prompt("Hello")])
            assert response.finish_reason == "content_filter"


@both
async def test_failures_are_the_errors_the_sdks_know(provider: type[ModelServer]) -> None:
    with provider(api_key="right", script=Script(*map(Fail, (400, 429, 500, 503)), CUT)) as server:
        agent = Agent(model_of(server, "right"))
        for status, stream in ((400, False), (429, True), (500, False), (503, True)):
            with pytest.raises(ModelHTTPError) as caught:
                await answers(agent, stream=stream)
            assert caught.value.status_code == status
        with pytest.raises(ModelAPIError, match="too busy"):
            await answers(agent, stream=True)
        with pytest.raises(ModelHTTPError) as refused:
            await answers(Agent(model_of(server, "wrong")), stream=False)
        assert refused.value.status_code == 401


@both
@pytest.mark.parametrize("order", [CutStream(0), CutStream(2), Malformed(), Hang(30), Hang(30, after_pieces=2)])
async def test_a_broken_answer_is_an_api_error(provider: type[ModelServer], order: Order) -> None:
    with provider(Script(order)) as server, pytest.raises(ModelAPIError):
        await answers(Agent(model_of(server), model_settings=ModelSettings(timeout=0.3)), stream=True)


async def test_a_call_and_its_result_must_stand_together() -> None:
    async def anthropic_refuses(*messages: Any) -> None:
        with pytest.raises(anthropic.BadRequestError, match="tool_result"):
            await claude.messages.create(model="m", max_tokens=9, messages=messages)

    async def openai_refuses(*messages: Any) -> None:
        with pytest.raises(openai.BadRequestError, match="tool_calls"):
            await gpt.chat.completions.create(model="m", messages=messages)

    used = {"type": "tool_use", "id": "t1", "name": "add", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "3"}
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    with AnthropicServer() as one, OpenAIServer() as other:
        claude = anthropic.AsyncAnthropic(api_key="any", base_url=one.url)
        gpt = openai.AsyncOpenAI(api_key="any", base_url=other.url)
        await anthropic_refuses({"role": "assistant", "content": [used]})
        await anthropic_refuses({"role": "assistant", "content": [used]}, {"role": "user", "content": "never mind"})
        await anthropic_refuses({"role": "user", "content": [result]})
        await openai_refuses({"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "never mind"})
        await openai_refuses({"role": "tool", "tool_call_id": "c1", "content": "3"})
        assert await claude.models.list() is not None
        assert await gpt.models.list() is not None


async def test_an_order_that_raises_is_raised_when_the_server_is_left() -> None:
    def decide(asked: Asked) -> Order:
        raise AssertionError(f"did not expect {asked.text}")

    async def asking() -> None:
        with OpenAIServer(Script(decide)) as server, pytest.raises(ModelHTTPError):
            await Agent(model_of(server)).run("Hello")

    with pytest.raises(AssertionError, match="did not expect Hello"):
        await asking()


async def test_a_server_with_a_waiting_client_ends_and_the_client_hears_of_it() -> None:
    with OpenAIServer(Script(Hang(60))) as server:
        asking = asyncio.create_task(Agent(model_of(server)).run("Hello"))
        while not server.requests:
            await asyncio.sleep(0.01)
    with pytest.raises(ModelAPIError):
        await asking
