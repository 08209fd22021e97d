"""The Anthropic Messages API: requests read, messages and events written."""

from __future__ import annotations

from typing import Any

from .prompt_cache import CacheUse, MarkedPrefixes, blocks_of
from .script import Asked, CallTool, Fail, Json, Part, Refuse, Turn
from .wire import Frame, Reply, arguments, estimate_turn, event, new_id, slices, text_of, words

MOST_MARKS = 4
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
ERROR_MESSAGES = {
    429: "This request would exceed your organization's rate limit. Please try again later.",
    500: "Internal server error",
    503: "Service unavailable",
    529: "Overloaded",
}
STOP_REASONS = {
    "end": "end_turn",
    "length": "max_tokens",
    "stop_sequence": "stop_sequence",
    "filter": "refusal",
}


def error_body(fail: Fail, request_id: str) -> Json:
    """The error as Anthropic writes it."""
    kind = ERROR_TYPES.get(fail.status, "api_error" if fail.status >= 500 else "invalid_request_error")
    message = fail.message or ERROR_MESSAGES.get(fail.status, kind.replace("_", " ").capitalize())
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}


class Messages:
    """The dialect of POST /v1/messages."""

    def __init__(self, cache: MarkedPrefixes, models: tuple[str, ...]) -> None:
        self._cache = cache
        self._models = models

    def asked(self, body: Json) -> Asked:
        """The request in neutral words."""
        messages = body["messages"]
        last = messages[-1]["content"] if messages[-1]["role"] == "user" else ""
        said = (text_of(m["content"]) for m in reversed(messages) if m["role"] == "user")
        return Asked(
            api="messages",
            model=body["model"],
            system=text_of(body.get("system")),
            text=next(filter(None, said), ""),
            tools=tuple(tool.get("name", "") for tool in body.get("tools") or []),
            tool_results=tuple(text_of(block.get("content")) for block in _blocks(last, "tool_result")),
            stream=bool(body.get("stream")),
            body=body,
        )

    def complaint(self, body: Json) -> Fail | None:
        """The error Anthropic would answer to this request, if any."""
        for name in ("model", "messages", "max_tokens"):
            if name not in body:
                return Fail(400, message=f"{name}: Field required")
        if not body["messages"]:
            return Fail(400, message="messages: at least one message is required")
        if self._models and body["model"] not in self._models:
            return Fail(404, message=f"model: {body['model']}")
        marks = sum(block.ttl is not None for block in blocks_of(body))
        if marks > MOST_MARKS:
            message = f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {marks}."
            return Fail(400, message=message)
        return _unpaired_tools(body["messages"])

    def reply(self, asked: Asked, turn: Turn) -> Reply:
        """The turn as a message and as the events that would stream it."""
        message = {
            "id": new_id("msg_01"),
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": [_content(part) for part in turn.parts if not isinstance(part, Refuse)],
            "stop_reason": _stop_reason(turn),
            "stop_sequence": _stop_sequence(turn, asked.body),
            "usage": _usage(turn, self._cache.use(asked.body)),
        }
        if turn.refusal is not None:
            message["stop_details"] = {"type": "refusal", "category": None, "explanation": turn.refusal}
        return Reply(message, _frames(message))

    def error_frame(self, error: Json, sequence: int) -> Frame:
        """The error as an event inside a stream."""
        return event(error, "error")


def _blocks(content: object, kind: str) -> list[Json]:
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == kind]


def _unpaired_tools(messages: list[Json]) -> Fail | None:
    """The error for a call without its result in the next message, or a result without its call."""
    called: list[str] = []
    for index, message in enumerate(messages):
        results = [block["tool_use_id"] for block in _blocks(message["content"], "tool_result")]
        if missing := [call for call in called if call not in results]:
            return Fail(400, message=_MISSING.format(index - 1, ", ".join(missing)))
        if strange := [result for result in results if result not in called]:
            return Fail(400, message=_STRANGE.format(index, ", ".join(strange)))
        called = [block["id"] for block in _blocks(message["content"], "tool_use")]
    return Fail(400, message=_MISSING.format(len(messages) - 1, ", ".join(called))) if called else None


_MISSING = (
    "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
_STRANGE = (
    "messages.{}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {}. "
    "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
)


def _content(part: Part) -> Json:
    if not isinstance(part, CallTool):
        return {"type": "text", "text": part.text, "citations": None}
    args: Any = part.args if isinstance(part.args, str) else dict(part.args)
    return {"type": "tool_use", "id": part.id or new_id("toolu_01"), "name": part.name, "input": args}


def _stop_reason(turn: Turn) -> str:
    if turn.refusal is not None:
        return "refusal"
    if any(isinstance(part, CallTool) for part in turn.parts) and turn.stop == "end":
        return "tool_use"
    return STOP_REASONS[turn.stop]


def _stop_sequence(turn: Turn, body: Json) -> str | None:
    return (body.get("stop_sequences") or [None])[0] if turn.stop == "stop_sequence" else None


def _usage(turn: Turn, use: CacheUse) -> Json:
    """The tokens as Anthropic counts them: `input_tokens` without what the cache gave or took."""
    written_5m = use.written_5m if turn.cache_write is None else turn.cache_write
    written_1h = use.written_1h if turn.cache_write is None else 0
    return {
        "input_tokens": use.uncached if turn.tokens_in is None else turn.tokens_in,
        "cache_creation_input_tokens": written_5m + written_1h,
        "cache_read_input_tokens": use.read if turn.cache_read is None else turn.cache_read,
        "cache_creation": {"ephemeral_5m_input_tokens": written_5m, "ephemeral_1h_input_tokens": written_1h},
        "output_tokens": estimate_turn(turn),
        "output_tokens_details": {"thinking_tokens": turn.reasoning_tokens},
        "service_tier": "standard",
    }


def _frames(message: Json) -> list[Frame]:
    usage = message["usage"]
    first = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
    first["usage"] = {**usage, "output_tokens": 1, "output_tokens_details": None}
    first.pop("stop_details", None)
    frames = [_event("message_start", message=first)]
    if not message["content"]:
        frames.append(_event("ping"))
    for index, block in enumerate(message["content"]):
        frames += _block_frames(index, block)
    ending = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details") if key in message}
    spent = {key: value for key, value in usage.items() if key not in ("cache_creation", "service_tier")}
    return [*frames, _event("message_delta", delta=ending, usage=spent), _event("message_stop")]


def _block_frames(index: int, block: Json) -> list[Frame]:
    if block["type"] == "text":
        start = {**block, "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in words(block["text"])]
    else:
        start = {**block, "input": {}}
        args = arguments(CallTool(block["name"], block["input"]))
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in slices(args)]
    frames = [_event("content_block_start", index=index, content_block=start)]
    if index == 0:
        frames.append(_event("ping"))
    frames += [_event("content_block_delta", True, index=index, delta=delta) for delta in deltas]
    return [*frames, _event("content_block_stop", index=index)]


def _event(kind: str, piece: bool = False, **fields: Any) -> Frame:
    return event({"type": kind, **fields}, kind, piece=piece)
