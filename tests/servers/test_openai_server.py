"""The OpenAI loopback server, driven by the real SDK: chat completions, models, keys and mishaps."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx2
import openai
import pytest
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionMessageFunctionToolCall,
    ChatCompletionMessageParam,
)

from . import Asked, CallTool, CutStream, Delay, Fail, Hang, Malformed, OpenAIServer, Order, Refuse, Say, Turn

MODEL = "gpt-4.1"
HELLO: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Hello there"}]
KEY = "sk-proj-the-right-key"


def connect(server: OpenAIServer, key: str = KEY) -> openai.OpenAI:
    return openai.OpenAI(api_key=key, base_url=server.url, max_retries=0)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(api_key=KEY) as server:
        yield server


@pytest.fixture
def client(server: OpenAIServer) -> Iterator[openai.OpenAI]:
    with connect(server) as client:
        yield client


def create(client: openai.OpenAI) -> ChatCompletion:
    return client.chat.completions.create(model=MODEL, messages=HELLO)


def collect(client: openai.OpenAI, got: list[str], *, usage: bool = False) -> list[ChatCompletionChunk]:
    chunks: list[ChatCompletionChunk] = []
    with client.chat.completions.create(
        model=MODEL, messages=HELLO, stream=True, stream_options={"include_usage": usage}
    ) as stream:
        for chunk in stream:
            chunks.append(chunk)
            got.extend(choice.delta.content for choice in chunk.choices if choice.delta.content)
    return chunks


def test_an_unscripted_server_echoes_and_counts_tokens(client: openai.OpenAI) -> None:
    completion = create(client)
    assert completion.choices[0].message.content == "echo: Hello there"
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.prompt_tokens > 0
    assert completion.usage.completion_tokens == len("echo: Hello there") // 4
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens


def test_usage_is_what_the_order_says_with_its_details(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(Say("Yes.", tokens_in=2000, tokens_out=300, cache_read=1536, reasoning_tokens=256))
    usage = create(client).usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (2000, 300, 2300)
    assert usage.prompt_tokens_details is not None
    assert usage.prompt_tokens_details.cached_tokens == 1536
    assert usage.completion_tokens_details is not None
    assert usage.completion_tokens_details.reasoning_tokens == 256


@pytest.mark.parametrize("usage", [False, True])
def test_a_stream_tells_its_usage_only_when_asked(server: OpenAIServer, client: openai.OpenAI, usage: bool) -> None:
    server.script.then(Say("One two three.", tokens_in=100, tokens_out=9))
    got: list[str] = []
    chunks = collect(client, got, usage=usage)
    assert got == ["One ", "two ", "three."]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.usage.total_tokens for chunk in chunks if chunk.usage] == ([109] if usage else [])
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_stream_ends_with_done(server: OpenAIServer) -> None:
    body = {"model": MODEL, "messages": HELLO, "stream": True}
    headers = {"Authorization": f"Bearer {KEY}"}
    response = httpx2.post(f"{server.url}/chat/completions", json=body, headers=headers)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.text.endswith("data: [DONE]\n\n")
    assert server.requests[0].auth == "bearer"


@pytest.mark.parametrize("stream", [False, True])
def test_several_tools_can_be_called_in_one_turn(server: OpenAIServer, client: openai.OpenAI, stream: bool) -> None:
    server.script.then(Turn([Say("Adding."), CallTool("add", {"a": 1, "b": "ü" * 30}), CallTool("add", '{"a": 1, ')]))
    if stream:
        with client.chat.completions.stream(model=MODEL, messages=HELLO) as events:
            completion: ChatCompletion = events.until_done().get_final_completion()
    else:
        completion = create(client)
    message = completion.choices[0].message
    calls = [c for c in message.tool_calls or [] if isinstance(c, ChatCompletionMessageFunctionToolCall)]
    assert message.content == "Adding."
    assert [call.function.name for call in calls] == ["add", "add"]
    assert [call.function.arguments for call in calls] == ['{"a": 1, "b": "' + "ü" * 30 + '"}', '{"a": 1, ']
    assert calls[0].id.startswith("call_")
    assert calls[0].id != calls[1].id
    assert completion.choices[0].finish_reason == "tool_calls"


def test_finish_reasons_and_refusals_are_reported(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(Say("cut", stop="length"), Say("", stop="filter"), Refuse("No malware."))
    assert create(client).choices[0].finish_reason == "length"
    assert create(client).choices[0].finish_reason == "content_filter"
    message = create(client).choices[0].message
    assert (message.refusal, message.content) == ("No malware.", None)


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (429, openai.RateLimitError, "rate_limit_exceeded"),
        (500, openai.InternalServerError, None),
        (503, openai.InternalServerError, "server_is_overloaded"),
    ],
)
def test_failures_are_the_errors_the_sdk_knows(
    server: OpenAIServer, client: openai.OpenAI, status: int, error: type[openai.APIStatusError], code: str | None
) -> None:
    server.script.then(Fail(status, retry_after=3))
    with pytest.raises(error) as caught:
        create(client)
    assert (caught.value.status_code, caught.value.code) == (status, code)
    assert caught.value.response.headers["retry-after"] == "3"
    assert caught.value.request_id is not None


def test_a_failure_can_have_a_body_of_its_own(server: OpenAIServer, client: openai.OpenAI) -> None:
    quota = {"message": "You exceeded your current quota.", "type": "insufficient_quota", "code": "insufficient_quota"}
    server.script.then(Fail(429, body={"error": quota}), Fail(502, body="<html>Bad gateway</html>"))
    with pytest.raises(openai.RateLimitError) as caught:
        create(client)
    assert caught.value.code == "insufficient_quota"
    with pytest.raises(openai.InternalServerError) as broken:
        create(client)
    assert broken.value.response.text == "<html>Bad gateway</html>"


def test_the_sdk_tries_again_after_a_rate_limit(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(Fail(429, retry_after=0.3), Say("better"))
    assert create(client.with_options(max_retries=1)).choices[0].message.content == "better"
    first, second = server.requests
    assert first.ended is not None
    assert second.began - first.ended >= 0.29


def test_an_error_can_come_inside_a_stream(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(Fail(503, after_pieces=1, of=Say("One two three.")))
    got: list[str] = []
    with pytest.raises(openai.APIError, match="overloaded"):
        collect(client, got)
    assert got == ["One "]


def test_a_silent_server_makes_the_client_time_out_and_sees_it_leave(
    server: OpenAIServer, client: openai.OpenAI
) -> None:
    server.script.then(Hang(30))
    with pytest.raises(openai.APITimeoutError):
        create(client.with_options(timeout=0.2))
    assert server.ended().client_left


def test_a_cut_stream_gives_its_pieces_and_then_breaks(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(CutStream(2, of=Say("One two three.")))
    got: list[str] = []
    with pytest.raises(openai.APIConnectionError):
        collect(client, got)
    assert got == ["One ", "two "]
    assert not server.requests[0].wait_for_end().client_left


def test_a_connection_cut_before_a_byte_is_tried_again(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(CutStream(0), Say("second time"))
    assert create(client.with_options(max_retries=1)).choices[0].message.content == "second time"
    assert [request.status for request in server.requests] == [None, 200]


def test_malformed_json_breaks_the_client_whole_and_streamed(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(Malformed(), Malformed(after_pieces=2))
    with pytest.raises(ValueError, match="Expecting value"):
        create(client)
    got: list[str] = []
    with pytest.raises(ValueError, match="Expecting value"):
        collect(client, got)
    assert len(got) == 2


def test_delay_spreads_the_pieces_over_time(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(Delay(Say("One two three."), per_piece=0.1))
    began = time.monotonic()
    collect(client, [])
    assert time.monotonic() - began >= 0.28


def test_a_client_that_stops_reading_is_seen_to_leave(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(Delay(Say("One two three."), per_piece=20))
    with client.chat.completions.create(model=MODEL, messages=HELLO, stream=True) as stream:
        next(iter(stream))
    assert server.requests[0].wait_for_end().client_left


def test_an_order_can_depend_on_the_tool_results(server: OpenAIServer, client: openai.OpenAI) -> None:
    def decide(asked: Asked) -> Order:
        return Say(" and ".join(asked.tool_results))

    server.script.then(decide)
    history: list[ChatCompletionMessageParam] = [
        *HELLO,
        {
            "role": "assistant",
            "tool_calls": [
                {"id": f"call_{n}", "type": "function", "function": {"name": "add", "arguments": "{}"}} for n in (1, 2)
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "three"},
        {"role": "tool", "tool_call_id": "call_2", "content": "seven"},
    ]
    completion = client.chat.completions.create(model=MODEL, messages=history)
    assert completion.choices[0].message.content == "three and seven"
    for wrong, complaint in ((history[:-1], "did not have response messages: call_2"), (history[2:], "preceeding")):
        with pytest.raises(openai.BadRequestError, match=complaint):
            client.chat.completions.create(model=MODEL, messages=wrong)


def test_a_wrong_key_is_unauthorised_and_no_key_is_remembered(server: OpenAIServer) -> None:
    with connect(server, "sk-proj-a-very-wrong-key") as client, pytest.raises(openai.AuthenticationError) as caught:
        create(client)
    assert caught.value.code == "invalid_api_key"
    assert "very-wrong" not in caught.value.message
    assert "very-wrong" not in repr(server.requests)


def test_models_are_listed_and_unknown_ones_not_found() -> None:
    with OpenAIServer(models=("gpt-a", "gpt-b")) as server, connect(server) as client:
        assert [found.id for found in client.models.list()] == ["gpt-a", "gpt-b"]
        assert client.models.retrieve("gpt-b").owned_by == "system"
        with pytest.raises(openai.NotFoundError) as caught:
            create(client)
    assert caught.value.code == "model_not_found"
