"""A loopback server that speaks the OpenAI API: chat completions and the list of models."""

from __future__ import annotations

import json
import time
from typing import Any, ClassVar

from .model_server import ModelServer, Received
from .script import Asked, CallTool, Fail, Json, Refuse, Turn
from .wire import Frame, estimate, estimate_turn, event, halves, new_id, text_of, words

ERRORS: dict[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", None, "The request is not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("invalid_request_error", "unsupported_country_region_territory", "You are not allowed to do this."),
    404: ("invalid_request_error", "unknown_url", "Unknown request URL."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached on requests per min. Please try again later."),
    500: ("server_error", None, "The server had an error while processing your request. Sorry about that!"),
    503: ("service_unavailable_error", "server_is_overloaded", "Our servers are currently overloaded."),
}
STRANGE = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
MISSING = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: "
)


class OpenAIServer(ModelServer):
    """api.openai.com on 127.0.0.1; give `url` to the SDK as `base_url` (it ends in /v1)."""

    request_id_header: ClassVar[str] = "x-request-id"
    asking: ClassVar[str] = "/v1/chat/completions"
    listing: ClassVar[Json] = {"object": "list", "data": []}

    @property
    def url(self) -> str:
        return f"{super().url}/v1"

    def read(self, body: Json) -> Asked:
        messages: list[Json] = body["messages"]
        results: list[str] = []
        for message in reversed(messages):
            if message["role"] != "tool":
                break
            results.insert(0, text_of(message.get("content")))
        return Asked(
            model=body["model"],
            text=next((text_of(m.get("content")) for m in reversed(messages) if m["role"] == "user"), ""),
            tool_results=tuple(results),
            stream=bool(body.get("stream")),
            body=body,
        )

    def complaint(self, body: Json) -> Fail | None:
        for name in ("model", "messages"):
            if name not in body:
                return missing(name)
        return _unpaired_tools(body["messages"])

    def reply(self, asked: Asked, turn: Turn) -> tuple[Json, list[Frame]]:
        filtered = not isinstance(turn, CallTool | Refuse) and turn.stop == "filter"
        finish = "tool_calls" if isinstance(turn, CallTool) else "content_filter" if filtered else "stop"
        completion = {
            "id": new_id("chatcmpl-"),
            "object": "chat.completion",
            "created": int(time.time()),
            "model": asked.model,
            "choices": [{"index": 0, "message": _message(turn), "logprobs": None, "finish_reason": finish}],
            "usage": _usage(turn, asked.body),
            "service_tier": "default",
            "system_fingerprint": None,
        }
        with_usage = bool((asked.body.get("stream_options") or {}).get("include_usage"))
        return completion, _frames(completion, with_usage)

    def error(self, fail: Fail, request_id: str) -> Json:
        return error_body(fail)

    def error_frame(self, error: Json) -> Frame:
        return event(error)

    def rejection(self, received: Received) -> Fail:
        return wrong_key(received.key)


def error_body(fail: Fail) -> Json:
    """The error, with the type and code OpenAI gives to its status."""
    kind, code, message = ERRORS.get(fail.status, ERRORS[500 if fail.status >= 500 else 400])
    return {"error": {"message": fail.message or message, "type": kind, "param": None, "code": code}}


def invalid(message: str, param: str | None = None, code: str | None = None, status: int = 400) -> Fail:
    """The answer to a request that cannot be followed."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return Fail(status, body={"error": error})


def missing(name: str) -> Fail:
    """The answer to a request without this parameter."""
    return invalid(f"Missing required parameter: '{name}'.", name, "missing_required_parameter")


def wrong_key(key: str) -> Fail:
    """The 401 for this key."""
    shown = f"{key[:3]}***{key[-4:]}" if len(key) > 8 else "***"
    return invalid(f"Incorrect API key provided: {shown}.", None, "invalid_api_key", 401)


def _usage(turn: Turn, body: Json) -> Json:
    sent = estimate([body.get("tools"), body["messages"]]) if turn.tokens_in is None else turn.tokens_in
    said = estimate_turn(turn)
    return {
        "prompt_tokens": sent,
        "completion_tokens": said,
        "total_tokens": sent + said,
        "prompt_tokens_details": {"cached_tokens": turn.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": turn.reasoning_tokens, "audio_tokens": 0},
    }


def _unpaired_tools(messages: list[Json]) -> Fail | None:
    """The error for a call without its result right after it, or a result without its call."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool" and message.get("tool_call_id") in waiting:
            waiting.remove(message["tool_call_id"])
        elif message["role"] == "tool":
            return invalid(STRANGE, f"messages.[{index}].role")
        elif waiting:
            break
        else:
            waiting = [call["id"] for call in message.get("tool_calls") or []]
    return invalid(MISSING + ", ".join(waiting), "messages") if waiting else None


def _message(turn: Turn) -> Json:
    message: Json = {"role": "assistant", "content": None, "refusal": None, "annotations": []}
    if isinstance(turn, CallTool):
        function = {"name": turn.name, "arguments": json.dumps(dict(turn.args), ensure_ascii=False)}
        return {**message, "tool_calls": [{"id": new_id("call_"), "type": "function", "function": function}]}
    return {**message, "refusal" if isinstance(turn, Refuse) else "content": turn.text}


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
        function: dict[str, Any] = call["function"]
        frames.append(chunk({"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]}))
        for piece in halves(function["arguments"]):
            frames.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, True))
    frames.append(chunk({}, finish_reason=finish))
    if with_usage:
        frames.append(event({**shell, "choices": [], "usage": completion["usage"]}))
    return [*frames, Frame("[DONE]")]
