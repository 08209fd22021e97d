"""Rules: simple reactors without code, from TOML files.

A rule says when (kinds of event, tools, a pattern, thresholds of the session's state: all of what it names must hold)
and what is done: warn, notify or kill. One that names an event speaks at each such event; one that names thresholds
only speaks when they are reached, and again when they were left and reached anew.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from laneway.domain.session import EventKind, SessionEvent
from laneway.errors import SettingsError
from laneway.reactors.contract import Continue, Intervene, Reaction, ReactorContext, Severity, Warn
from laneway.reactors.tui_renderer import cut, plain, subject

_LONGEST, _MOST_OPEN = 20_000, 200
Threshold = Literal[
    "tokens", "input_tokens", "output_tokens", "cost", "errors", "consecutive_errors", "turns", "minutes",
    "silent_seconds", "open_calls", "context_percent",
]  # fmt: skip
MEASURES: dict[str, Callable[[ReactorContext], float]] = {
    "tokens": lambda ctx: ctx.state.tokens.total,
    "input_tokens": lambda ctx: ctx.state.tokens.input,
    "output_tokens": lambda ctx: ctx.state.tokens.output,
    "cost": lambda ctx: float(ctx.state.cost),
    "errors": lambda ctx: ctx.state.errors,
    "consecutive_errors": lambda ctx: ctx.state.consecutive_errors,
    "turns": lambda ctx: ctx.state.turns,
    "minutes": lambda ctx: _since(ctx.state.started_at, ctx) / 60,
    "silent_seconds": lambda ctx: _since(ctx.state.last_activity, ctx),
    "open_calls": lambda ctx: len(ctx.state.open_calls),
    "context_percent": lambda ctx: 100 * (ctx.state.context_used or 0) / (ctx.state.context_window or 200_000),
}


class RuleText(BaseModel):
    """One `[[rule]]` as it is written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[\w .:-]+$")]
    when: tuple[EventKind, ...] = ()
    tool: tuple[str, ...] = ()
    pattern: str | None = None
    at_least: dict[Threshold, float] = Field(default_factory=dict)
    do: Literal["warn", "notify", "kill"] = "warn"
    message: Annotated[str, Field(max_length=300)] = ""
    every_seconds: Annotated[float, Field(ge=0)] = 0

    @field_validator("when", "tool", mode="before")
    @classmethod
    def _one_or_many(cls, given: object) -> object:
        return (given,) if isinstance(given, str) else given

    @field_validator("pattern")
    @classmethod
    def _a_pattern(cls, given: str | None) -> str | None:
        try:
            re.compile(given or "")
        except re.error as error:
            raise ValueError(f"it is no regular expression: {error}") from None
        return given

    @model_validator(mode="after")
    def _has_a_condition(self) -> RuleText:
        if not (self.when or self.tool or self.pattern or self.at_least):
            raise ValueError("it names no condition: when, tool, pattern or at_least")
        return self


class Rule:
    """A reactor that does what a rule says."""

    def __init__(self, text: RuleText) -> None:
        self.name, self._text = text.name, text
        self._pattern = re.compile(text.pattern) if text.pattern else None
        self._about_events = bool(text.when or text.tool or text.pattern)
        self._open: dict[str, str] = {}
        """The tools of calls without a result: the result does not name its tool."""
        self._held = False
        self._spoke: datetime | None = None

    def handle(self, ctx: ReactorContext) -> Reaction:
        """What the rule does, if all it names holds."""
        concerns = not self._about_events or self._concerns(ctx)
        holds = concerns and self._reached(ctx)
        fresh = holds and (self._about_events or not self._held)
        self._held = holds
        if not fresh or not self._due(ctx.event.at):
            return Continue()
        self._spoke = ctx.event.at
        return self._reaction(ctx)

    def _reached(self, ctx: ReactorContext) -> bool:
        return all(MEASURES[name](ctx) >= least for name, least in self._text.at_least.items())

    def _concerns(self, ctx: ReactorContext) -> bool:
        event, text = ctx.event, self._text
        tool = self._tool_of(ctx.event) if text.tool else ""
        if text.when and event.kind not in text.when:
            return False
        if not text.when and event.kind is EventKind.TICK:
            return False
        if text.tool and not any(fnmatchcase(tool.lower(), name.lower()) for name in text.tool):
            return False
        return self._pattern is None or self._pattern.search(_searched(ctx)) is not None

    def _tool_of(self, event: SessionEvent) -> str:
        if event.kind is EventKind.TOOL_CALLED and event.call_id:
            self._open[event.call_id] = event.tool
            if len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]
        return event.tool or self._open.pop(event.call_id, "")

    def _due(self, now: datetime) -> bool:
        # What a kill forbids is forbidden each time.
        quiet = None if self._text.do == "kill" else self._spoke
        return quiet is None or (now - quiet).total_seconds() >= self._text.every_seconds

    def _reaction(self, ctx: ReactorContext) -> Reaction:
        event = ctx.event
        about = cut(plain(f"{event.tool} {subject(event.arguments)} {event.text}"), 120) if self._about_events else ""
        told = (self._text.message or f"The rule {self.name} applies") + (f": {about}" if about else ".")
        if self._text.do == "warn":
            return Warn(told)
        return Intervene(told, Severity.KILL if self._text.do == "kill" else Severity.NOTIFICATION)


def rules_in(text: str, source: str) -> list[Callable[[], Rule]]:
    """What makes the rules of a file, anew for each session."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{source} is not valid TOML: {error}.", hint="Mend it or move it away.") from None
    found = tree.get("rule")
    if not isinstance(found, list) or not found or set(tree) != {"rule"}:
        raise SettingsError(f"{source} must hold [[rule]] tables and nothing else.", hint="See docs/reactors.md.")
    return [_maker(one, f"{source}, rule {number}") for number, one in enumerate(found, start=1)]


def _maker(given: object, place: str) -> Callable[[], Rule]:
    try:
        text = RuleText.model_validate(given)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'rule'}: {str(one['msg']).removeprefix('Value error, ')}"
            for one in error.errors()
        )
        raise SettingsError(f"{place}: {faults}.", hint="See docs/reactors.md.") from None
    return lambda: Rule(text)


def _searched(ctx: ReactorContext) -> str:
    given = ctx.event.arguments
    if not given:
        return ctx.event.text
    # Texts are searched as they are, not as JSON writes them, so that a pattern may name quotes and new lines.
    texts = [value for value in given.values() if isinstance(value, str)]
    rest = {name: value for name, value in given.items() if not isinstance(value, str)}
    if rest:
        texts.append(json.dumps(rest, default=str, ensure_ascii=False))
    return "\n".join((ctx.event.text, *texts))[:_LONGEST]


def _since(then: datetime | None, ctx: ReactorContext) -> float:
    return 0.0 if then is None else (ctx.event.at - then).total_seconds()
