"""AIReviewer: a short report on a session that is over, by a model; without one by rules, and labelled so.

What is said about a session is made of what others wrote: it goes to the model bounded, without secrets, and marked as
material. The model has no tools, so that the worst a session can do is to get a wrong report.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from laneway.domain.keepable import keepable
from laneway.domain.session import EventKind, SessionEvent, SessionState
from laneway.reactors.calls import key_of
from laneway.reactors.chain import Chain
from laneway.reactors.contract import Continue, Reaction, Reactor, ReactorContext, Warn
from laneway.reactors.tui_renderer import cut, plain, subject

BY_RULES = "rules"
_FIRST, _LAST, _LONGEST_LINE = 20, 60, 240
_MOST_NAMES, _MOST_FINDINGS = 300, 12
_TAG = re.compile(r"<(?=\s*/?\s*session\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Digest:
    """A session in a few figures and some of its lines; bounded, without secrets."""

    provider: str
    session_id: str
    model: str = ""
    seconds: float = 0.0
    turns: int = 0
    events: int = 0
    tokens: int = 0
    tokens_output: int = 0
    cost: float = 0.0
    errors: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
    open_calls: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def given(cls, fields: dict[str, Any]) -> Digest:
        """The digest somebody sent: cleaned and bounded again, since anybody can send anything."""
        names = {name: fields[name] for name in cls.__dataclass_fields__ if name in fields}
        for name in ("findings", "lines", "open_calls"):
            names[name] = [cut(plain(str(keepable(line))), _LONGEST_LINE) for line in names.get(name, [])][
                : _FIRST + _LAST
            ]
        for name in ("calls", "failed"):
            pairs = list(dict(names.get(name, {})).items())[:50]
            names[name] = {plain(str(tool))[:80]: int(count) for tool, count in pairs}
        for name in ("provider", "session_id", "model"):
            names[name] = plain(str(keepable(names.get(name, ""))))[:200]
        return cls(**names)


@dataclass(frozen=True, slots=True)
class Report:
    """What is said about a session, and by whom: a model's name, or `rules`."""

    text: str
    by: str
    why_rules: str = ""

    @property
    def label(self) -> str:
        """Who wrote it, for the line above it."""
        if self.by != BY_RULES:
            return f"Written by the model {self.by}."
        return f"Made by rules, not by a model{': ' + self.why_rules if self.why_rules else ''}."


class AIReviewer:
    """Gathers one session and hands its digest on when it is over. It never has anything to say itself."""

    name = "reviewer"

    def __init__(self, finished: Callable[[Digest], None] = lambda _: None) -> None:
        self._finished = finished
        self._events = self._repeated = 0
        self._calls: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._tools: dict[str, str] = {}
        self._keys: Counter[str] = Counter()
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=_LAST)

    def handle(self, ctx: ReactorContext) -> Reaction:
        """The event is part of the digest; the last one hands it on."""
        event = ctx.event
        if event.kind is EventKind.TICK:
            return Continue()
        self._events += 1
        self._count(event)
        line = _line(event)
        if line:
            (self._first if len(self._first) < _FIRST else self._last).append(line)
        if event.kind is EventKind.ENDED and not ctx.replayed:
            self._finished(self.digest(ctx.state))
        return Continue()

    def _count(self, event: SessionEvent) -> None:
        if event.kind is EventKind.TOOL_CALLED and (event.tool in self._calls or len(self._calls) < _MOST_NAMES):
            self._calls[event.tool] += 1
            self._tools[event.call_id] = event.tool
            key = key_of(event.tool, event.arguments)
            self._keys[key] += 1
            self._repeated += self._keys[key] > 1
        if event.kind is EventKind.TOOL_ENDED:
            tool = self._tools.pop(event.call_id, event.tool)
            self._failed[tool] += event.failed

    def digest(self, state: SessionState, findings: Iterable[str] = ()) -> Digest:
        """The session so far."""
        began, last = state.started_at, state.last_activity
        opened = [cut(plain(f"{call.tool} {subject(call.arguments)}"), 120) for call in state.open_calls.values()]
        return Digest.given(
            {
                "provider": state.provider, "session_id": state.session_id, "model": state.model,
                "seconds": _seconds(began, last), "turns": state.turns, "events": self._events,
                "tokens": state.tokens.total, "tokens_output": state.tokens.output, "cost": float(state.cost),
                "errors": state.errors, "calls": dict(self._calls.most_common(30)),
                "failed": {tool: count for tool, count in self._failed.most_common(30) if count},
                "repeated": self._repeated, "open_calls": opened[:10], "findings": list(findings)[:_MOST_FINDINGS],
                "lines": [*self._first, *self._last],
            }
        )  # fmt: skip


def digested(events: Iterable[SessionEvent], reactors: Iterable[Reactor]) -> Digest | None:
    """A session that is over, with what these reactors have to say about it; None if nothing happened in it."""
    reviewer, findings = AIReviewer(), dict[str, None]()
    chain: Chain | None = None
    watching = list(reactors)
    for event in events:
        if chain is None:
            chain = Chain(SessionState(event.session_id, event.provider), [*watching, reviewer])
        for said in chain.handle(event):
            words = said.reaction.message if isinstance(said.reaction, Warn) else said.reaction.reason
            findings[f"{said.reactor}: {words}"] = None
    return None if chain is None else reviewer.digest(chain.state, findings)


def by_rules(digest: Digest, why: str = "") -> Report:
    """A report made of the figures alone."""
    calls, failed = sum(digest.calls.values()), sum(digest.failed.values())
    names = ", ".join(f"{tool} {count}" for tool, count in list(digest.calls.items())[:5])
    said = [
        f"The session took {_span(digest.seconds)}, {digest.turns} turn{'' if digest.turns == 1 else 's'}, "
        f"{digest.tokens:,} tokens" + (f", ${digest.cost:.4f}" if digest.cost else "") + ".",
        f"It made {calls} tool call{'' if calls == 1 else 's'}{f' ({names})' if names else ''}; {failed} failed.",
    ]
    if digest.failed and failed >= 3:
        worst = max(digest.failed, key=lambda tool: digest.failed[tool])
        said.append(f"Most failures were those of {worst} ({digest.failed[worst]}).")
    if calls and digest.repeated > calls / 3:
        said.append(f"{digest.repeated} of the calls had been made before with the same arguments.")
    if digest.open_calls:
        said.append(f"It ended while this had not: {'; '.join(digest.open_calls[:3])}.")
    if digest.findings:
        said += ["What stood out:", *(f"- {finding}" for finding in digest.findings)]
    else:
        said.append("Nothing stood out.")
    return Report("\n".join(said), BY_RULES, why)


def material(digest: Digest) -> str:
    """The digest as a model is shown it: figures, then lines, all of it marked as what others wrote."""
    figures = [f"{name}: {value}" for name, value in digest.as_json().items() if name not in ("lines", "findings")]
    told = [*figures, "", "What watchers said:", *(f"- {one}" for one in digest.findings), "", "Lines:", *digest.lines]
    inside = "\n".join(told)
    # Nobody but we can end the material.
    return f"<session>\n{_TAG.sub('‹', inside)}\n</session>"


def _line(event: SessionEvent) -> str:
    if event.kind is EventKind.TOOL_CALLED:
        return cut(plain(f"$ {event.tool} {subject(keepable(dict(event.arguments)))}"), _LONGEST_LINE)
    marks = {EventKind.USER: ">", EventKind.ASSISTANT: "<", EventKind.ERROR: "!", EventKind.TOOL_ENDED: "="}
    mark = marks.get(event.kind)
    if mark is None or not (event.text or event.failed):
        return ""
    return cut(plain(f"{mark} {'failed: ' if event.failed else ''}{keepable(event.text)}"), _LONGEST_LINE)


def _seconds(began: datetime | None, last: datetime | None) -> float:
    return 0.0 if began is None or last is None else (last - began).total_seconds()


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"
