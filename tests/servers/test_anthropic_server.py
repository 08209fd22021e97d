"""The Anthropic loopback server, driven by the real SDK."""

from __future__ import annotations

import time
from collections.abc import Iterator

import anthropic
import httpx2
import pytest
from anthropic.types import MessageParam, TextBlock, ToolParam, ToolUseBlock

from . import (
    AnthropicServer,
    Asked,
    CallTool,
    CutStream,
    Delay,
    Fail,
    Hang,
    Malformed,
    Order,
    Refuse,
    Say,
    Script,
    Turn,
)
from .script import Part

MODEL = "claude-sonnet-5-5"
HELLO: list[MessageParam] = [{"role": "user", "content": "Hello there"}]
ADD: ToolParam = {"name": "add", "input_schema": {"type": "object"}}


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer(api_key="sk-ant-the-right-key") as server:
        yield server


@pytest.fixture
def client(server: AnthropicServer) -> Iterator[anthropic.Anthropic]:
    with connect(server, "sk-ant-the-right-key") as client:
        yield client


def connect(server: AnthropicServer, key: str = "any") -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key=key, base_url=server.url, max_retries=0)


def create(client: anthropic.Anthropic, text: str = "Hello there") -> anthropic.types.Message:
    return client.messages.create(model=MODEL, max_tokens=100, messages=[{"role": "user", "content": text}])


def read_stream(client: anthropic.Anthropic) -> tuple[str, anthropic.types.Message]:
    with client.messages.stream(model=MODEL, max_tokens=100, messages=HELLO) as stream:
        return "".join(stream.text_stream), stream.get_final_message()


def text_of(message: anthropic.types.Message) -> str:
    return "".join(block.text for block in message.content if isinstance(block, TextBlock))


def collect(client: anthropic.Anthropic, got: list[str]) -> None:
    with client.messages.stream(model=MODEL, max_tokens=100, messages=HELLO) as stream:
        for text in stream.text_stream:
            got.append(text)


def ask_and_fail(server: AnthropicServer) -> None:
    with connect(server) as client, pytest.raises(anthropic.InternalServerError):
        create(client)


def test_an_unscripted_server_echoes_and_counts_tokens(client: anthropic.Anthropic) -> None:
    message = create(client)
    assert text_of(message) == "echo: Hello there"
    assert message.stop_reason == "end_turn"
    assert message.usage.input_tokens > 0
    assert message.usage.output_tokens == len("echo: Hello there") // 4


def test_a_streamed_message_equals_the_whole_one(server: AnthropicServer, client: anthropic.Anthropic) -> None:
    say = Say("One two three.", tokens_in=120, tokens_out=7, cache_read=40, cache_write=9)
    server.script.then(say, say)
    whole = create(client)
    text, streamed = read_stream(client)
    assert text == text_of(whole) == "One two three."
    for usage in (whole.usage, streamed.usage):
        assert (usage.input_tokens, usage.output_tokens) == (120, 7)
        assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (40, 9)


def test_a_stream_has_the_events_of_the_real_one_in_order(server: AnthropicServer, client: anthropic.Anthropic) -> None:
    server.script.then(Say("One two."))
    request = {"model": MODEL, "max_tokens": 100, "stream": True, "messages": HELLO}
    response = httpx2.post(
        f"{server.url}/v1/messages",
        json=request,
        headers={"x-api-key": "sk-ant-the-right-key", "anthropic-version": "2023-06-01"},
    )
    assert [line[7:] for line in response.text.splitlines() if line.startswith("event: ")] == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert server.requests[0].auth == "x-api-key"


@pytest.mark.parametrize("stream", [False, True])
def test_several_tools_can_be_called_in_one_turn(
    server: AnthropicServer, client: anthropic.Anthropic, stream: bool
) -> None:
    calls: list[Part] = [
        Say("Let me add."),
        CallTool("add", {"a": 1, "b": 2}),
        CallTool("add", {"a": "ü" * 40, "b": [1, None]}),
    ]
    server.script.then(Turn(calls, tokens_out=33))
    message = read_stream(client)[1] if stream else create(client)
    tools = [block for block in message.content if isinstance(block, ToolUseBlock)]
    assert [tool.input for tool in tools] == [{"a": 1, "b": 2}, {"a": "ü" * 40, "b": [1, None]}]
    assert tools[0].id.startswith("toolu_")
    assert tools[0].id != tools[1].id
    assert text_of(message) == "Let me add."
    assert message.stop_reason == "tool_use"
    assert message.usage.output_tokens == 33


def test_stop_reasons_are_reported(server: AnthropicServer, client: anthropic.Anthropic) -> None:
    server.script.then(Say("cut", stop="length"), Say("x", stop="stop_sequence"))
    assert create(client).stop_reason == "max_tokens"
    stopped = client.messages.create(model=MODEL, max_tokens=9, messages=HELLO, stop_sequences=["END"])
    assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", "END")


def test_a_refusal_says_why(server: AnthropicServer, client: anthropic.Anthropic) -> None:
    server.script.then(Refuse("No malware."), Refuse("No malware."))
    for message in (create(client), read_stream(client)[1]):
        assert message.stop_reason == "refusal"
        assert message.stop_details is not None
        assert message.stop_details.explanation == "No malware."


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (429, anthropic.RateLimitError, "rate_limit_error"),
        (500, anthropic.InternalServerError, "api_error"),
        (503, anthropic.InternalServerError, "api_error"),
        (529, anthropic.InternalServerError, "overloaded_error"),
    ],
)
def test_failures_are_the_errors_the_sdk_knows(
    server: AnthropicServer,
    client: anthropic.Anthropic,
    status: int,
    error: type[anthropic.APIStatusError],
    kind: str,
) -> None:
    server.script.then(Fail(status, retry_after=7))
    with pytest.raises(error) as caught:
        create(client)
    assert caught.value.status_code == status
    assert caught.value.type == kind
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.request_id is not None
    assert caught.value.request_id.startswith("req_")


def test_the_sdk_waits_as_long_as_retry_after_says(server: AnthropicServer, client: anthropic.Anthropic) -> None:
    server.script.then(Fail(529, retry_after=0.3), Say("better"))
    message = create(client.with_options(max_retries=1))
    assert text_of(message) == "better"
    first, second = server.requests
    assert first.ended is not None
    assert second.began - first.ended >= 0.29


def test_an_error_can_come_inside_a_stream(server: AnthropicServer, client: anthropic.Anthropic) -> None:
    server.script.then(Fail(529, after_pieces=2, of=Say("One two three.")))
    got: list[str] = []
    with pytest.raises(anthropic.APIStatusError) as caught:
        collect(client, got)
    assert got == ["One ", "two "]
    assert caught.value.type == "overloaded_error"


def test_a_silent_server_makes_the_client_time_out_and_sees_it_leave(
    server: AnthropicServer, client: anthropic.Anthropic
) -> None:
    server.script.then(Hang(30))
    with pytest.raises(anthropic.APITimeoutError):
        create(client.with_options(timeout=0.2))
    seen = server.ended()
    assert seen.client_left
    assert seen.status is None


def test_a_stream_can_fall_silent_halfway(server: AnthropicServer, client: anthropic.Anthropic) -> None:
    server.script.then(Hang(30, then=Say("One two three."), after_pieces=1))
    got: list[str] = []
    with pytest.raises(httpx2.ReadTimeout):
        # Long enough for the first piece to come on a busy machine, too.
        collect(client.with_options(timeout=4), got)
    assert got == ["One "]
    assert server.ended().client_left


def test_a_cut_stream_gives_its_pieces_and_then_breaks(server: AnthropicServer, client: anthropic.Anthropic) -> None:
    server.script.then(CutStream(2, of=Say("One two three.")))
    got: list[str] = []
    with pytest.raises(httpx2.RemoteProtocolError):
        collect(client, got)
    assert got == ["One ", "two "]
    assert not server.requests[0].wait_for_end().client_left


@pytest.mark.parametrize("after_pieces", [0, 3])
def test_a_connection_cut_under_a_whole_message_is_a_connection_error(
    server: AnthropicServer, client: anthropic.Anthropic, after_pieces: int
) -> None:
    server.script.then(CutStream(after_pieces))
    with pytest.raises((anthropic.APIConnectionError, httpx2.RemoteProtocolError)):
        create(client)


def test_delay_spreads_the_pieces_over_time(server: AnthropicServer, client: anthropic.Anthropic) -> None:
    server.script.then(Delay(Say("One two three."), per_piece=0.1))
    # From the asking on: a reader who comes late finds several pieces at once.
    began = time.monotonic()
    got: list[str] = []
    collect(client, got)
    assert time.monotonic() - began >= 0.28
    assert got == ["One ", "two ", "three."]


def test_an_order_can_depend_on_the_request(server: AnthropicServer, client: anthropic.Anthropic) -> None:
    def decide(asked: Asked) -> Order:
        return Say(f"{asked.text}/{asked.tools}/{asked.system}/{asked.model}/{asked.stream}")

    server.script.then(decide)
    message = client.messages.create(model=MODEL, max_tokens=9, messages=HELLO, tools=[ADD], system="Be brief.")
    assert text_of(message) == f"Hello there/('add',)/Be brief./{MODEL}/False"


def test_an_order_that_raises_is_raised_when_the_server_is_left() -> None:
    def decide(asked: Asked) -> Order:
        raise AssertionError(f"did not expect {asked.text}")

    server = AnthropicServer(Script(decide))
    with pytest.raises(AssertionError, match="did not expect Hello"), server:
        ask_and_fail(server)
    assert len(server.requests) == 1


@pytest.mark.parametrize("header", ["x-api-key", "bearer"])
def test_a_wrong_key_is_unauthorised_and_no_key_is_remembered(server: AnthropicServer, header: str) -> None:
    wrong = "sk-ant-a-very-wrong-key"
    headers = {"X-Api-Key": wrong, "Authorization": anthropic.Omit()} if header == "x-api-key" else {}
    client = anthropic.Anthropic(api_key=wrong, base_url=server.url)
    with client, pytest.raises(anthropic.AuthenticationError) as caught:
        client.messages.create(model=MODEL, max_tokens=9, messages=HELLO, extra_headers=headers)  # type: ignore[arg-type]
    assert caught.value.type == "authentication_error"
    assert server.requests[0].auth == header
    assert "very-wrong" not in repr(server.requests)
    assert server.script.left == 0


def test_a_request_is_remembered_with_its_body_and_times(server: AnthropicServer, client: anthropic.Anthropic) -> None:
    before = time.time()
    create(client)
    seen = server.requests[0]
    assert (seen.method, seen.path, seen.status) == ("POST", "/v1/messages", 200)
    assert seen.body["messages"] == HELLO
    assert seen.ended is not None
    assert before <= seen.began <= seen.ended <= time.time()
    assert not seen.client_left


def test_malformed_json_breaks_the_client_whole_and_streamed(
    server: AnthropicServer, client: anthropic.Anthropic
) -> None:
    server.script.then(Malformed(), Malformed(after_pieces=2))
    with pytest.raises(ValueError, match="Expecting value"):
        create(client)
    with pytest.raises(ValueError, match="Expecting value"):
        read_stream(client)


def test_models_are_listed_and_unknown_ones_not_found() -> None:
    with AnthropicServer(models=("claude-a", "claude-b")) as server, connect(server) as client:
        assert [found.id for found in client.models.list()] == ["claude-a", "claude-b"]
        assert client.models.retrieve("claude-a").display_name == "Claude A"
        with pytest.raises(anthropic.NotFoundError) as caught:
            create(client)
    assert caught.value.api_message == f"model: {MODEL}"


def test_tokens_are_counted_as_they_will_be_charged(client: anthropic.Anthropic) -> None:
    counted = client.messages.count_tokens(model=MODEL, messages=HELLO)
    assert counted.input_tokens == create(client).usage.input_tokens


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([], "at least one message"),
        (
            [
                {"role": "user", "content": "add"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "add", "input": {}}]},
                {"role": "user", "content": "never mind"},
            ],
            "without `tool_result` blocks immediately after: t1",
        ),
        (
            [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t9", "content": "3"}]}],
            "unexpected `tool_use_id` found in `tool_result` blocks: t9",
        ),
    ],
)
def test_requests_the_real_api_rejects_are_rejected(
    server: AnthropicServer, client: anthropic.Anthropic, messages: list[MessageParam], complaint: str
) -> None:
    server.script.then(Say("never said"))
    with pytest.raises(anthropic.BadRequestError, match=complaint):
        client.messages.create(model=MODEL, max_tokens=9, messages=messages)
    assert server.script.left == 1
