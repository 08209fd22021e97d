"""The OpenAI Responses API: requests read, responses and events written."""

from __future__ import annotations

import time
from typing import Any

from .openai_errors import invalid, missing, unknown_model
from .prompt_cache import LongPrefixes
from .script import Asked, CallTool, Fail, Json, Part, Refuse, Turn
from .wire import Frame, Reply, arguments, canonical, estimate, estimate_turn, event, new_id, slices, text_of, words

INCOMPLETE = {"length": "max_output_tokens", "filter": "content_filter"}


class Responses:
    """The dialect of POST /v1/responses; what was answered can be built on by `previous_response_id`."""

    def __init__(self, cache: LongPrefixes, models: tuple[str, ...]) -> None:
        self._cache = cache
        self._models = models
        self._stored: dict[str, list[Json]] = {}

    def asked(self, body: Json) -> Asked:
        """The request in neutral words."""
        items = self._items(body)
        system = [text_of(item.get("content")) for item in items if item.get("role") in ("system", "developer")]
        said = (text_of(item.get("content")) for item in reversed(items) if item.get("role") == "user")
        return Asked(
            api="responses",
            model=body["model"],
            system="\n".join(filter(None, [body.get("instructions"), *system])),
            text=next(said, ""),
            tools=tuple(tool.get("name", "") for tool in body.get("tools") or []),
            tool_results=_last_results(items),
            stream=bool(body.get("stream")),
            body=body,
        )

    def complaint(self, body: Json) -> Fail | None:
        """The error OpenAI would answer to this request, if any."""
        for name in ("model", "input"):
            if name not in body:
                return missing(name)
        if self._models and body["model"] not in self._models:
            return unknown_model(body["model"])
        before = body.get("previous_response_id")
        if before and before not in self._stored:
            message = f"Previous response with id '{before}' not found."
            return invalid(message, "previous_response_id", "previous_response_not_found")
        return _unpaired_tools(self._items(body))

    def count(self, body: Json) -> int:
        """About as many tokens as the prompt has."""
        return estimate(self._prompt(body))

    def reply(self, asked: Asked, turn: Turn) -> Reply:
        """The turn as a response and as the events that would stream it."""
        response = _shell(asked.body)
        response["output"] = [_item(part) for part in turn.parts]
        response["usage"] = self._usage(asked, turn)
        response["status"] = "incomplete" if turn.stop in INCOMPLETE else "completed"
        if reason := INCOMPLETE.get(turn.stop):
            response["incomplete_details"] = {"reason": reason}
        else:
            response["completed_at"] = response["created_at"]
        if asked.body.get("store", True):
            self._stored[response["id"]] = [*self._items(asked.body), *response["output"]]
        return Reply(response, _frames(response))

    def error_frame(self, error: Json, sequence: int) -> Frame:
        """The error as an event inside a stream."""
        told = error.get("error", {})
        flat = {key: told.get(key) for key in ("code", "message", "param")}
        return event({"type": "error", **flat, "sequence_number": sequence}, "error")

    def _items(self, body: Json) -> list[Json]:
        given = body["input"]
        new = [{"role": "user", "content": given}] if isinstance(given, str) else given
        return [*self._stored.get(body.get("previous_response_id") or "", []), *new]

    def _prompt(self, body: Json) -> str:
        return canonical([body.get("tools") or [], body.get("instructions") or "", self._items(body)])

    def _usage(self, asked: Asked, turn: Turn) -> Json:
        prompt = self._prompt(asked.body)
        cached = self._cache.use(asked.model, prompt)
        sent = estimate(prompt) if turn.tokens_in is None else turn.tokens_in
        said = estimate_turn(turn)
        return {
            "input_tokens": sent,
            "input_tokens_details": {
                "cached_tokens": min(cached, sent) if turn.cache_read is None else turn.cache_read,
                "cache_write_tokens": turn.cache_write or 0,
            },
            "output_tokens": said,
            "output_tokens_details": {"reasoning_tokens": turn.reasoning_tokens},
            "total_tokens": sent + said,
        }


def _last_results(items: list[Json]) -> tuple[str, ...]:
    results: list[str] = []
    for item in reversed(items):
        if item.get("type") != "function_call_output":
            break
        results.insert(0, text_of(item.get("output")))
    return tuple(results)


def _unpaired_tools(items: list[Json]) -> Fail | None:
    """The error for a call without its output, or an output without its call."""
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    for call in calls:
        if call not in outputs:
            return invalid(f"No tool output found for function call {call}.", "input")
    for output in outputs:
        if output not in calls:
            return invalid(f"No tool call found for function call output with call_id {output}.", "input")
    return None


def _shell(body: Json) -> Json:
    """A response that has just begun, repeating the request's settings as the real one does."""
    return {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "background": False,
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": body.get("metadata") or {},
        "model": body["model"],
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
        "service_tier": "default",
        "store": body.get("store", True),
        "temperature": body.get("temperature", 1.0),
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "top_p": body.get("top_p", 1.0),
        "truncation": body.get("truncation", "disabled"),
        "usage": None,
        "user": None,
    }


def _item(part: Part) -> Json:
    if isinstance(part, CallTool):
        return {
            "id": new_id("fc_"),
            "type": "function_call",
            "status": "completed",
            "call_id": part.id or new_id("call_"),
            "name": part.name,
            "arguments": arguments(part),
        }
    content = {"type": "output_text", "text": part.text, "annotations": [], "logprobs": []}
    if isinstance(part, Refuse):
        content = {"type": "refusal", "refusal": part.text}
    message = {"id": new_id("msg_"), "type": "message", "status": "completed", "role": "assistant"}
    return {**message, "content": [content]}


def _frames(response: Json) -> list[Frame]:
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    begun |= {"completed_at": None, "incomplete_details": None}
    events: list[tuple[str, Json, bool]] = [
        ("response.created", {"response": begun}, False),
        ("response.in_progress", {"response": begun}, False),
    ]
    for index, item in enumerate(response["output"]):
        events += _item_events(index, item)
    events.append((f"response.{response['status']}", {"response": response}, False))
    return [
        event({"type": kind, **fields, "sequence_number": number}, kind, piece=piece)
        for number, (kind, fields, piece) in enumerate(events)
    ]


def _item_events(index: int, item: Json) -> list[tuple[str, Json, bool]]:
    if item["type"] == "function_call":
        empty, inner = {**item, "status": "in_progress", "arguments": ""}, _call_events(index, item)
    else:
        empty, inner = {**item, "status": "in_progress", "content": []}, _part_events(index, item)
    return [
        ("response.output_item.added", {"output_index": index, "item": empty}, False),
        *inner,
        ("response.output_item.done", {"output_index": index, "item": item}, False),
    ]


def _call_events(index: int, item: Json) -> list[tuple[str, Json, bool]]:
    place = {"item_id": item["id"], "output_index": index}
    kind = "response.function_call_arguments"
    deltas = [(f"{kind}.delta", {**place, "delta": piece}, True) for piece in slices(item["arguments"])]
    done = {**place, "name": item["name"], "arguments": item["arguments"]}
    return [*deltas, (f"{kind}.done", done, False)]


def _part_events(index: int, item: Json) -> list[tuple[str, Json, bool]]:
    part: dict[str, Any] = item["content"][0]
    place = {"item_id": item["id"], "output_index": index, "content_index": 0}
    field, kind = ("refusal", "response.refusal") if "refusal" in part else ("text", "response.output_text")
    extra: Json = {} if field == "refusal" else {"logprobs": []}
    deltas = [(f"{kind}.delta", {**place, "delta": piece, **extra}, True) for piece in words(part[field])]
    return [
        ("response.content_part.added", {**place, "part": {**part, field: ""}}, False),
        *deltas,
        (f"{kind}.done", {**place, field: part[field], **extra}, False),
        ("response.content_part.done", {**place, "part": part}, False),
    ]
