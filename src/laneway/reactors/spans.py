"""Spans: a session as OpenTelemetry tells it, with the GenAI attributes of version 1.37 of the conventions.

One `invoke_agent` for the session, below it a `chat` for every answer of a model and an `execute_tool` for every tool
call. No words are told: neither prompts nor answers, arguments nor results.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from laneway.domain.session import EventKind, SessionEvent
from laneway.reactors.contract import Continue, Reaction, ReactorContext

Value = str | int | float | bool
_MOST_OPEN = 500
_MAKERS = (
    ("claude", "anthropic"), ("gpt", "openai"), ("o1", "openai"), ("o3", "openai"), ("o4", "openai"),
    ("codex", "openai"), ("gemini", "gcp.gemini"), ("mistral", "mistral_ai"), ("grok", "x_ai"),
    ("deepseek", "deepseek"), ("command", "cohere"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Span:
    """One thing that took time."""

    trace: str
    id: str
    parent: str
    name: str
    began: datetime
    ended: datetime
    client: bool = False
    failed: str = ""
    attributes: dict[str, Value] = field(default_factory=dict)


class Spans:
    """Hands on the spans of one session as they end. It never has anything to say."""

    name = "otlp"

    def __init__(self, hand_on: Callable[[Span], None]) -> None:
        self._hand_on = hand_on
        self._open: dict[str, SessionEvent] = {}
        self._before: datetime | None = None
        self._answers = 0

    def handle(self, ctx: ReactorContext) -> Reaction:
        """What the event ends is handed on, unless it happened before this process watched."""
        event = ctx.event
        if event.kind is EventKind.TICK:
            return Continue()
        span = self._ended(event, ctx)
        if span is not None and not ctx.replayed:
            self._hand_on(span)
        self._before = event.at
        return Continue()

    def _ended(self, event: SessionEvent, ctx: ReactorContext) -> Span | None:
        if event.kind is EventKind.TOOL_CALLED and event.call_id and len(self._open) < _MOST_OPEN:
            self._open[event.call_id] = event
        if event.kind is EventKind.TOOL_ENDED:
            return self._tool(event)
        if event.tokens or (event.kind is EventKind.ERROR and event.model):
            return self._chat(event, ctx)
        return self._agent(event, ctx) if event.kind is EventKind.ENDED else None

    def _tool(self, event: SessionEvent) -> Span:
        call = self._open.pop(event.call_id, event)
        tool = call.tool or event.tool
        attributes: dict[str, Value] = {
            **_common(event, "execute_tool"), "gen_ai.tool.name": tool, "gen_ai.tool.call.id": event.call_id,
            "gen_ai.tool.type": "function",
        }  # fmt: skip
        name = f"execute_tool {tool}"
        return _span(event, f"tool {event.call_id}", name, call.at, attributes, failed="tool" if event.failed else "")

    def _chat(self, event: SessionEvent, ctx: ReactorContext) -> Span:
        self._answers += 1
        model, tokens = event.model or ctx.state.model, event.tokens
        attributes: dict[str, Value] = {
            **_common(event, "chat"), "gen_ai.provider.name": maker_of(model), "gen_ai.request.model": model,
            "gen_ai.response.model": model,
            # The convention counts cached tokens among the input; we keep them apart.
            "gen_ai.usage.input_tokens": tokens.input + tokens.cache_read + tokens.cache_write,
            "gen_ai.usage.output_tokens": tokens.output,
            "gen_ai.usage.cache_read.input_tokens": tokens.cache_read,
            "gen_ai.usage.cache_creation.input_tokens": tokens.cache_write,
        }  # fmt: skip
        if event.cost is not None:
            attributes["laneway.cost_usd"] = float(event.cost)
        place = f"chat {self._answers} {event.call_id} {event.at.isoformat()}"
        failed = (event.text[:80] or "error") if event.kind is EventKind.ERROR else ""
        return _span(event, place, f"chat {model}", self._before or event.at, attributes, client=True, failed=failed)

    def _agent(self, event: SessionEvent, ctx: ReactorContext) -> Span:
        state = ctx.state
        attributes: dict[str, Value] = {
            **_common(event, "invoke_agent"), "gen_ai.request.model": state.model,
            "gen_ai.usage.input_tokens": state.tokens.input + state.tokens.cache_read + state.tokens.cache_write,
            "gen_ai.usage.output_tokens": state.tokens.output,
            "laneway.cost_usd": float(state.cost), "laneway.errors": state.errors, "laneway.turns": state.turns,
        }  # fmt: skip
        failed = "failed" if event.text == "failed" else ""
        name = f"invoke_agent {event.provider}"
        return _span(event, "", name, state.started_at or event.at, attributes, failed=failed)


def maker_of(model: str) -> str:
    """Who makes the model, as the conventions name makers."""
    name = model.lower().rpartition("/")[2]
    return next((maker for beginning, maker in _MAKERS if name.startswith(beginning)), "_OTHER")


def _common(event: SessionEvent, operation: str) -> dict[str, Value]:
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.agent.name": event.provider,
        "gen_ai.conversation.id": event.session_id,
    }


def _span(
    event: SessionEvent, place: str, name: str, began: datetime, attributes: dict[str, Value], *,
    client: bool = False, failed: str = "",
) -> Span:  # fmt: skip
    """`place` names the span within its session; the session's own has none."""
    session = f"{event.provider} {event.session_id}"
    root = _hex(f"{session} span", 16)
    own = _hex(f"{session} {place}", 16) if place else root
    told = attributes | ({"error.type": failed} if failed else {})
    parent = root if place else ""
    return Span(_hex(session, 32), own, parent, name[:200], min(began, event.at), event.at, client, failed, told)


def _hex(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:digits]
