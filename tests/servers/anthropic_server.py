"""A loopback server that speaks the Anthropic API: messages and the list of models."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from .model_server import ModelServer, Received
from .script import Asked, CallTool, Fail, Json, Refuse, Script, Turn
from .wire import Frame, estimate, estimate_turn, event, halves, new_id, text_of, words

ERRORS = {
    400: ("invalid_request_error", "Invalid request"),
    401: ("authentication_error", "Authentication error"),
    402: ("billing_error", "Billing error"),
    403: ("permission_error", "Permission error"),
    404: ("not_found_error", "Not found"),
    409: ("conflict_error", "Conflict"),
    413: ("request_too_large", "Request too large"),
    429: ("rate_limit_error", "This request would exceed your organization's rate limit. Please try again later."),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "Timeout"),
    529: ("overloaded_error", "Overloaded"),
}
MISSING = (
    "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
STRANGE = (
    "messages.{}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {}. "
    "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
)


class AnthropicServer(ModelServer):
    """api.anthropic.com on 127.0.0.1; give `url` to the SDK as `base_url`."""

    request_id_header: ClassVar[str] = "request-id"
    asking: ClassVar[str] = "/v1/messages"
    listing: ClassVar[Json] = {"data": [], "has_more": False, "first_id": None, "last_id": None}

    def __init__(self, script: Script | None = None, *, api_key: str | None = None) -> None:
        super().__init__(script, api_key=api_key)
        self._prefixes: set[str] = set()
        """What was marked for the cache: a model, and its tools and instructions up to a mark."""

    def read(self, body: Json) -> Asked:
        messages = body["messages"]
        said = (text_of(message["content"]) for message in reversed(messages) if message["role"] == "user")
        results = _blocks(messages[-1], "tool_result") if messages[-1]["role"] == "user" else []
        return Asked(
            model=body["model"],
            text=next(filter(None, said), ""),
            tool_results=tuple(text_of(block.get("content")) for block in results),
            stream=bool(body.get("stream")),
            body=body,
        )

    def complaint(self, body: Json) -> Fail | None:
        for name in ("model", "messages", "max_tokens"):
            if name not in body:
                return Fail(400, message=f"{name}: Field required")
        if not body["messages"]:
            return Fail(400, message="messages: at least one message is required")
        return _unpaired_tools(body["messages"])

    def reply(self, asked: Asked, turn: Turn) -> tuple[Json, list[Frame]]:
        refused = isinstance(turn, Refuse) or (not isinstance(turn, CallTool) and turn.stop == "filter")
        stop = "tool_use" if isinstance(turn, CallTool) else "refusal" if refused else "end_turn"
        message: Json = {
            "id": new_id("msg_01"),
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": [] if isinstance(turn, Refuse) else [_content(turn)],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": self._usage(turn, asked.body),
        }
        if isinstance(turn, Refuse):
            message["stop_details"] = {"type": "refusal", "category": None, "explanation": turn.text}
        return message, _frames(message)

    def _usage(self, turn: Turn, body: Json) -> Json:
        """The tokens as Anthropic counts them: `input_tokens` without what the cache gave or took."""
        sent, read, written = turn.tokens_in, turn.cache_read, turn.cache_write
        if sent is None:
            read, written, sent = self._cached(body)
        return {
            "input_tokens": sent,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
            "output_tokens": estimate_turn(turn),
            "output_tokens_details": {"thinking_tokens": turn.reasoning_tokens},
            "service_tier": "standard",
        }

    def _cached(self, body: Json) -> tuple[int, int, int]:
        """The tokens of a prompt: up to the last mark that is known, from there to the last mark, and the others."""
        prefix, read, marked = str(body["model"]), 0, 0
        system = body.get("system") or []
        for block in [*(body.get("tools") or []), *(system if isinstance(system, list) else [{"text": system}])]:
            prefix += json.dumps({**block, "cache_control": None})
            if block.get("cache_control"):
                marked = estimate(prefix)
                read = marked if prefix in self._prefixes else read
                self._prefixes.add(prefix)
        return read, marked - read, estimate(prefix) - marked + estimate(body["messages"])

    def error(self, fail: Fail, request_id: str) -> Json:
        kind, message = ERRORS.get(fail.status, ERRORS[500 if fail.status >= 500 else 400])
        return {"type": "error", "error": {"type": kind, "message": fail.message or message}, "request_id": request_id}

    def error_frame(self, error: Json) -> Frame:
        return event(error, "error")

    def rejection(self, received: Received) -> Fail:
        return Fail(401, message="invalid x-api-key" if received.auth == "x-api-key" else "Invalid bearer token")


def _blocks(message: Json, kind: str) -> list[Json]:
    content = message["content"]
    return [block for block in content if block.get("type") == kind] if isinstance(content, list) else []


def _unpaired_tools(messages: list[Json]) -> Fail | None:
    """The error for a call without its result in the next message, or a result without its call."""
    called: list[str] = []
    for index, message in enumerate([*messages, {"content": ""}]):
        results = [block["tool_use_id"] for block in _blocks(message, "tool_result")]
        if missing := [call for call in called if call not in results]:
            return Fail(400, message=MISSING.format(index - 1, ", ".join(missing)))
        if strange := [result for result in results if result not in called]:
            return Fail(400, message=STRANGE.format(index, ", ".join(strange)))
        called = [block["id"] for block in _blocks(message, "tool_use")]
    return None


def _content(turn: Turn) -> Json:
    if isinstance(turn, CallTool):
        return {"type": "tool_use", "id": new_id("toolu_01"), "name": turn.name, "input": dict(turn.args)}
    return {"type": "text", "text": turn.text, "citations": None}


def _frames(message: Json) -> list[Frame]:
    usage = message["usage"]
    first = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    first.pop("stop_details", None)
    frames = [_event("message_start", message=first), _event("ping")]
    for block in message["content"]:
        frames += _block_frames(block)
    ending = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details") if key in message}
    spent = {key: value for key, value in usage.items() if key not in ("cache_creation", "service_tier")}
    return [*frames, _event("message_delta", delta=ending, usage=spent), _event("message_stop")]


def _block_frames(block: Json) -> list[Frame]:
    if block["type"] == "text":
        start = {**block, "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in words(block["text"])]
    else:
        start = {**block, "input": {}}
        pieces = halves(json.dumps(block["input"], ensure_ascii=False))
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return [
        _event("content_block_start", index=0, content_block=start),
        *(_event("content_block_delta", True, index=0, delta=delta) for delta in deltas),
        _event("content_block_stop", index=0),
    ]


def _event(kind: str, piece: bool = False, **fields: Any) -> Frame:
    return event({"type": kind, **fields}, kind, piece=piece)
