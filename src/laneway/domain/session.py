"""A watched session: what any agent's log says, as events of one kind, and the state they add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any


class EventKind(StrEnum):
    """What happened in a session; TICK is the clock's, so that silence is noticed too."""

    STARTED = "started"
    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    TOOL_CALLED = "tool_called"
    TOOL_ENDED = "tool_ended"
    TOKENS = "tokens"
    ERROR = "error"
    COMPACTED = "compacted"
    ENDED = "ended"
    TICK = "tick"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens by what they cost: `input` is neither read from nor written to a cache, `output` includes `reasoning`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    tool_prompt: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
            self.tool_prompt + other.tool_prompt,
        )

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input - other.input,
            self.output - other.output,
            self.cache_read - other.cache_read,
            self.cache_write - other.cache_write,
            self.reasoning - other.reasoning,
            self.tool_prompt - other.tool_prompt,
        )

    def __bool__(self) -> bool:
        return self != NO_TOKENS

    @property
    def total(self) -> int:
        """All of them; reasoning is a share of the output and not added again."""
        return self.input + self.output + self.cache_read + self.cache_write + self.tool_prompt


NO_TOKENS = Tokens()


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """One thing that happened in a session.

    `text` is bounded and redacted. `arguments` are as the agent wrote them, since a guard has to judge exactly what
    will run; whoever stores or shows them redacts them first.
    """

    session_id: str
    provider: str
    kind: EventKind
    at: datetime
    text: str = ""
    tool: str = ""
    call_id: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False
    result_hash: str = ""
    """Of what a tool gave back: equal results have equal hashes."""
    tokens: Tokens = NO_TOKENS
    """The increase this event means: each token is counted once."""
    cost: Decimal | None = None
    model: str = ""
    cwd: str = ""
    context_window: int | None = None
    context_used: int | None = None
    side: bool = False
    """A sub-agent's."""
    offset: int = 0
    """Bytes read when it was complete: its place for replay. In a document, a number made of the message's id."""
    part: int = 0
    """Its number among the events of one line."""
    turn_ended: bool = False
    """The agent is done with its turn and waits for a person."""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A tool call without a result: running, waiting for a permission, or lost; the log alone cannot tell."""

    tool: str
    arguments: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session as its events so far have made it."""

    session_id: str
    provider: str
    started_at: datetime | None = None
    tokens: Tokens = NO_TOKENS
    cost: Decimal = Decimal(0)
    errors: int = 0
    consecutive_errors: int = 0
    turns: int = 0
    last_activity: datetime | None = None
    open_calls: Mapping[str, OpenCall] = field(default_factory=dict)
    cwd: str = ""
    model: str = ""
    context_used: int | None = None
    context_window: int | None = None
    ended: bool = False
    waiting: bool = False
    """The agent has finished its turn; nothing is expected of it before a person speaks."""

    @property
    def total_input_tokens(self) -> int:
        """All that went into models, caches included."""
        return self.tokens.total - self.tokens.output

    @property
    def total_output_tokens(self) -> int:
        """All that came out of models, with reasoning."""
        return self.tokens.output

    def after(self, event: SessionEvent) -> SessionState:
        """The state when this event has happened, too; the same events always make the same state."""
        if event.kind is EventKind.TICK:
            return self
        failed = event.kind is EventKind.ERROR or (event.kind is EventKind.TOOL_ENDED and event.failed)
        return replace(
            self,
            started_at=event.at if self.started_at is None else min(self.started_at, event.at),
            last_activity=event.at if self.last_activity is None else max(self.last_activity, event.at),
            tokens=self.tokens + event.tokens if event.tokens else self.tokens,
            cost=self.cost if event.cost is None else self.cost + event.cost,
            errors=self.errors + failed,
            consecutive_errors=self._errors_in_a_row(event, failed),
            turns=self.turns + (event.kind is EventKind.USER and not event.side),
            open_calls=self._open_after(event),
            ended=event.kind is EventKind.ENDED or (self.ended and event.kind is not EventKind.USER),
            waiting=self._waits_after(event),
            **self._surroundings(event),
        )

    def _errors_in_a_row(self, event: SessionEvent, failed: bool) -> int:
        if failed:
            return self.consecutive_errors + 1
        return 0 if event.kind is EventKind.TOOL_ENDED else self.consecutive_errors

    def _open_after(self, event: SessionEvent) -> Mapping[str, OpenCall]:
        # A call without an id can never be closed, so it is not kept open.
        if event.kind is EventKind.TOOL_CALLED and event.call_id:
            return {**self.open_calls, event.call_id: OpenCall(event.tool, event.arguments, event.at)}
        if event.kind is EventKind.TOOL_ENDED and event.call_id in self.open_calls:
            return {call: opened for call, opened in self.open_calls.items() if call != event.call_id}
        return self.open_calls

    def _waits_after(self, event: SessionEvent) -> bool:
        if event.side:
            return self.waiting
        if event.turn_ended:
            return True
        quiet = {EventKind.TOKENS, EventKind.OTHER, EventKind.STARTED, EventKind.ENDED, EventKind.COMPACTED}
        return self.waiting and event.kind in quiet

    def _surroundings(self, event: SessionEvent) -> dict[str, Any]:
        """Where it runs and how full its context is; a sub-agent has surroundings of its own."""
        if event.side:
            return {}
        used = event.context_used
        return {
            "cwd": event.cwd or self.cwd,
            "model": event.model or self.model,
            "context_used": used if used is not None or event.kind is EventKind.COMPACTED else self.context_used,
            "context_window": self.context_window if event.context_window is None else event.context_window,
        }
