"""The OpenAI Chat Completions API: requests read, completions and chunks written."""

from __future__ import annotations

import time
from typing import Any

from .openai_errors import invalid, missing, unknown_model
from .prompt_cache import LongPrefixes
from .script import Asked, CallTool, Fail, Json, Say, Turn
from .wire import Frame, Reply, arguments, canonical, estimate, estimate_turn, event, new_id, slices, text_of, words

FINISH_REASONS = {"end": "stop", "length": "length", "stop_sequence": "stop", "filter": "content_filter"}


class ChatCompletions:
    """The dialect of POST /v1/chat/completions."""

    def __init__(self, cache: LongPrefixes, models: tuple[str, ...]) -> None:
        self._cache = cache
        self._models = models

    def asked(self, body: Json) -> Asked:
        """The request in neutral words."""
        messages: list[Json] = body["messages"]
        return Asked(
            api="chat",
            model=body["model"],
            system="\n".join(text_of(m.get("content")) for m in messages if m["role"] in ("system", "developer")),
            text=next((text_of(m.get("content")) for m in reversed(messages) if m["role"] == "user"), ""),
            tools=tuple(tool.get("function", {}).get("name", "") for tool in body.get("tools") or []),
            tool_results=_last_results(messages),
            stream=bool(body.get("stream")),
            body=body,
        )

    def complaint(self, body: Json) -> Fail | None:
        """The error OpenAI would answer to this request, if any."""
        if not body.get("model"):
            return invalid("you must provide a model parameter")
        if "messages" not in body:
            return missing("messages")
        if self._models and body["model"] not in self._models:
            return unknown_model(body["model"])
        return _unpaired_tools(body["messages"])

    def reply(self, asked: Asked, turn: Turn) -> Reply:
        """The turn as a completion and as the chunks that would stream it."""
        choice = {"index": 0, "message": _message(turn), "logprobs": None, "finish_reason": _finish_reason(turn)}
        completion = {
            "id": new_id("chatcmpl-"),
            "object": "chat.completion",
            "created": int(time.time()),
            "model": asked.model,
            "choices": [choice],
            "usage": self._usage(asked, turn),
            "service_tier": "default",
            "system_fingerprint": None,
        }
        with_usage = bool((asked.body.get("stream_options") or {}).get("include_usage"))
        return Reply(completion, _frames(completion, with_usage))

    def error_frame(self, error: Json, sequence: int) -> Frame:
        """The error as a chunk inside a stream."""
        return event(error)

    def _usage(self, asked: Asked, turn: Turn) -> Json:
        prompt = canonical([asked.body.get("tools") or [], asked.body["messages"]])
        cached = self._cache.use(asked.model, prompt)
        sent = estimate(prompt) if turn.tokens_in is None else turn.tokens_in
        said = estimate_turn(turn)
        return {
            "prompt_tokens": sent,
            "completion_tokens": said,
            "total_tokens": sent + said,
            "prompt_tokens_details": {
                "cached_tokens": min(cached, sent) if turn.cache_read is None else turn.cache_read,
                "cache_write_tokens": turn.cache_write or 0,
                "audio_tokens": 0,
            },
            "completion_tokens_details": {
                "reasoning_tokens": turn.reasoning_tokens,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        }


def _last_results(messages: list[Json]) -> tuple[str, ...]:
    results: list[str] = []
    for message in reversed(messages):
        if message["role"] != "tool":
            break
        results.insert(0, text_of(message.get("content")))
    return tuple(results)


def _unpaired_tools(messages: list[Json]) -> Fail | None:
    """The error for a call without its result right after it, or a result without its call."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool" and message.get("tool_call_id") in waiting:
            waiting.remove(message["tool_call_id"])
        elif message["role"] == "tool":
            return invalid(_STRANGE, f"messages.[{index}].role")
        elif waiting:
            break
        else:
            waiting = [call["id"] for call in message.get("tool_calls") or []]
    return invalid(_MISSING + ", ".join(waiting), "messages") if waiting else None


_STRANGE = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
_MISSING = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: "
)


def _message(turn: Turn) -> Json:
    texts = [part.text for part in turn.parts if isinstance(part, Say)]
    message: Json = {
        "role": "assistant",
        "content": "".join(texts) if texts else None,
        "refusal": turn.refusal,
        "annotations": [],
    }
    calls = [
        {
            "id": part.id or new_id("call_"),
            "type": "function",
            "function": {"name": part.name, "arguments": arguments(part)},
        }
        for part in turn.parts
        if isinstance(part, CallTool)
    ]
    return {**message, "tool_calls": calls} if calls else message


def _finish_reason(turn: Turn) -> str:
    called = any(isinstance(part, CallTool) for part in turn.parts)
    return "tool_calls" if called and turn.stop == "end" else FINISH_REASONS[turn.stop]


def _frames(completion: Json, with_usage: bool) -> list[Frame]:
    message, finish = completion["choices"][0]["message"], completion["choices"][0]["finish_reason"]
    shell = {key: value for key, value in completion.items() if key not in ("choices", "usage")}
    shell |= {"object": "chat.completion.chunk", **({"usage": None} if with_usage else {})}

    def chunk(delta: Json, piece: bool = False, finish_reason: str | None = None) -> Frame:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return event({**shell, "choices": [choice]}, piece=piece)

    frames = [chunk({"role": "assistant", "content": None if message.get("tool_calls") else "", "refusal": None})]
    for field in ("content", "refusal"):
        frames += [chunk({field: piece}, True) for piece in words(message[field] or "")]
    for index, call in enumerate(message.get("tool_calls", [])):
        frames += [chunk({"tool_calls": [delta]}, piece) for delta, piece in _call_deltas(index, call)]
    frames.append(chunk({}, finish_reason=finish))
    if with_usage:
        frames.append(event({**shell, "choices": [], "usage": completion["usage"]}))
    return [*frames, Frame("[DONE]")]


def _call_deltas(index: int, call: Json) -> list[tuple[Json, bool]]:
    function: dict[str, Any] = call["function"]
    first = {**call, "index": index, "function": {**function, "arguments": ""}}
    rest = [{"index": index, "function": {"arguments": piece}} for piece in slices(function["arguments"])]
    return [(first, False), *((delta, True) for delta in rest)]
