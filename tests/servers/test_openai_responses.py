"""The OpenAI loopback server, driven by the real SDK: the Responses API."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest
from openai.types.responses import Response, ResponseFunctionToolCall, ResponseStreamEvent

from . import CallTool, CutStream, Fail, OpenAIServer, Refuse, Say, Turn

MODEL = "gpt-4.1"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def client(server: OpenAIServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="any", base_url=server.url, max_retries=0) as client:
        yield client


def create(client: openai.OpenAI) -> Response:
    return client.responses.create(model=MODEL, input="Hello there")


def collect(client: openai.OpenAI, got: list[ResponseStreamEvent]) -> None:
    with client.responses.create(model=MODEL, input="Hello there", stream=True) as stream:
        for event in stream:
            got.append(event)


def last_response(got: list[ResponseStreamEvent]) -> Response:
    assert got[-1].type in ("response.completed", "response.incomplete")
    return got[-1].response


def test_an_unscripted_server_echoes_and_counts_tokens(client: openai.OpenAI) -> None:
    response = create(client)
    assert response.output_text == "echo: Hello there"
    assert response.status == "completed"
    assert response.usage is not None
    assert response.usage.input_tokens > 0
    assert response.usage.output_tokens == len("echo: Hello there") // 4
    counted = client.responses.input_tokens.count(model=MODEL, input="Hello there")
    assert counted.input_tokens == response.usage.input_tokens


def test_usage_is_what_the_order_says_with_its_details(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(Say("Yes.", tokens_in=2000, tokens_out=300, cache_read=1536, reasoning_tokens=256))
    usage = create(client).usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (2000, 300, 2300)
    assert usage.input_tokens_details.cached_tokens == 1536
    assert usage.output_tokens_details.reasoning_tokens == 256


def test_a_stream_has_the_events_of_the_real_one_in_order(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(Turn([Say("One two."), CallTool("add", {"a": 1})], tokens_out=12))
    got: list[ResponseStreamEvent] = []
    collect(client, got)
    assert [event.type for event in got] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in got] == list(range(len(got)))
    response = last_response(got)
    assert response.usage is not None
    assert response.usage.output_tokens == 12
    assert isinstance(response.output[1], ResponseFunctionToolCall)
    assert response.output[1].arguments == '{"a": 1}'


def test_the_end_of_a_response_says_why(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(Say("cut", stop="length"), Say("cut", stop="length"), Refuse("No malware."))
    got: list[ResponseStreamEvent] = []
    collect(client, got)
    for response in (create(client), last_response(got)):
        assert response.status == "incomplete"
        assert response.incomplete_details is not None
        assert response.incomplete_details.reason == "max_output_tokens"
    refused = create(client).to_dict()
    assert refused["output"][0]["content"] == [{"type": "refusal", "refusal": "No malware."}]  # type: ignore[index]


def test_a_later_request_can_build_on_a_stored_response(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(CallTool("add", {"a": 1}, id="call_1"))
    first = create(client)
    with pytest.raises(openai.BadRequestError, match="No tool output found for function call call_1"):
        client.responses.create(model=MODEL, previous_response_id=first.id, input="never mind")
    second = client.responses.create(
        model=MODEL,
        previous_response_id=first.id,
        input=[{"type": "function_call_output", "call_id": "call_1", "output": "three"}],
    )
    assert second.output_text == "echo: three"
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model=MODEL, previous_response_id="resp_unknown", input="hello")
    assert caught.value.code == "previous_response_not_found"


def test_an_error_inside_a_stream_is_an_error_event(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(Fail(503, after_pieces=1))
    got: list[ResponseStreamEvent] = []
    collect(client, got)
    assert got[-1].type == "error"
    assert got[-1].code == "server_is_overloaded"
    assert got[-1].sequence_number == len(got) - 1


def test_a_cut_stream_never_completes(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(CutStream(2))
    got: list[ResponseStreamEvent] = []
    with pytest.raises(openai.APIConnectionError):
        collect(client, got)
    assert [event.type for event in got].count("response.output_text.delta") == 2
    assert got[-1].type != "response.completed"


def test_a_failure_is_an_error_with_its_status(server: OpenAIServer, client: openai.OpenAI) -> None:
    server.script.then(Fail(429))
    with pytest.raises(openai.RateLimitError) as caught:
        create(client)
    assert caught.value.code == "rate_limit_exceeded"
