"""The prompt caches of the loopback servers, seen through the usage the SDKs report."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import openai
import pytest
from anthropic.types import CacheControlEphemeralParam, MessageParam, Usage

from . import AnthropicServer, Fail, OpenAIServer

MODEL = "claude-sonnet-5-5"


def connect(server: AnthropicServer) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="any", base_url=server.url, max_retries=0)


@pytest.fixture
def client() -> Iterator[anthropic.Anthropic]:
    with AnthropicServer() as server, connect(server) as client:
        yield client


def ask(client: anthropic.Anthropic, system: str, text: str, *, hour: bool = False) -> Usage:
    mark: CacheControlEphemeralParam = {"type": "ephemeral", "ttl": "1h" if hour else "5m"}
    return client.messages.create(
        model=MODEL,
        max_tokens=9,
        system=[{"type": "text", "text": system, "cache_control": mark}],
        messages=[{"role": "user", "content": text}],
        tools=[{"name": "add", "input_schema": {"type": "object"}}],
    ).usage


def test_a_marked_prefix_is_written_once_and_read_afterwards(client: anthropic.Anthropic) -> None:
    first = ask(client, "You are terse. " * 50, "one")
    second = ask(client, "You are terse. " * 50, "two")
    other = ask(client, "You are wordy. " * 50, "two")
    assert first.cache_creation_input_tokens
    assert first.cache_read_input_tokens == 0
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens
    assert second.cache_creation_input_tokens == 0
    assert second.input_tokens > 0
    assert other.cache_read_input_tokens == 0


def test_a_growing_conversation_reads_what_it_wrote(client: anthropic.Anthropic) -> None:
    messages: list[MessageParam] = []
    sizes: list[tuple[int, int]] = []
    for turn in range(3):
        messages.append({"role": "user", "content": f"Question {turn} " * 20})
        message = client.messages.create(
            model=MODEL, max_tokens=9, messages=messages, cache_control={"type": "ephemeral"}
        )
        usage = message.usage
        sizes.append((usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0))
        messages.append({"role": "assistant", "content": "Answer."})
    assert sizes[0][0] == 0
    assert sizes[1][0] == sizes[0][1]
    assert sizes[2][0] == sizes[1][0] + sizes[1][1]


def test_an_unmarked_prompt_is_never_cached(client: anthropic.Anthropic) -> None:
    for _ in range(2):
        usage = client.messages.create(
            model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "long " * 500}]
        ).usage
        assert (usage.cache_creation_input_tokens, usage.cache_read_input_tokens) == (0, 0)


def test_a_prefix_is_forgotten_after_its_time() -> None:
    now = [0.0]
    with AnthropicServer(clock=lambda: now[0]) as server, connect(server) as client:
        ask(client, "minutes " * 200, "one")
        ask(client, "an hour " * 200, "one", hour=True)
        now[0] += 301
        assert ask(client, "minutes " * 200, "two").cache_read_input_tokens == 0
        assert ask(client, "an hour " * 200, "two", hour=True).cache_read_input_tokens


def test_the_hour_is_charged_apart_and_short_prefixes_are_not_kept() -> None:
    with AnthropicServer(cache_minimum=100) as server, connect(server) as client:
        assert ask(client, "short", "one").cache_creation_input_tokens == 0
        hour = ask(client, "long " * 200, "one", hour=True)
    assert hour.cache_creation is not None
    assert hour.cache_creation.ephemeral_1h_input_tokens == hour.cache_creation_input_tokens
    assert hour.cache_creation.ephemeral_5m_input_tokens == 0


def test_a_failed_request_caches_nothing() -> None:
    with AnthropicServer() as server, connect(server) as client:
        server.script.then(Fail(500))
        with pytest.raises(anthropic.InternalServerError):
            ask(client, "long " * 200, "one")
        assert ask(client, "long " * 200, "one").cache_read_input_tokens == 0


def test_more_than_four_marks_are_refused(client: anthropic.Anthropic) -> None:
    mark: CacheControlEphemeralParam = {"type": "ephemeral"}
    marked: list[MessageParam] = [
        {"role": "user", "content": [{"type": "text", "text": f"{n}", "cache_control": mark} for n in range(5)]}
    ]
    with pytest.raises(anthropic.BadRequestError, match="A maximum of 4 blocks"):
        client.messages.create(model=MODEL, max_tokens=9, messages=marked)


def test_openai_caches_a_long_prefix_unasked() -> None:
    with OpenAIServer() as server, openai.OpenAI(api_key="any", base_url=server.url) as client:

        def cached(system: str, text: str) -> int:
            completion = client.chat.completions.create(
                model="gpt-4.1",
                messages=[{"role": "system", "content": system}, {"role": "user", "content": text}],
            )
            assert completion.usage is not None
            assert completion.usage.prompt_tokens_details is not None
            return completion.usage.prompt_tokens_details.cached_tokens or 0

        assert [cached("short", "one"), cached("short", "two")] == [0, 0]
        assert cached("a long system prompt " * 300, "one") == 0
        again = cached("a long system prompt " * 300, "two")
        assert again >= 1024
        assert again % 128 == 0
