"""MetricsCollector: counts sessions, tokens, money, tool calls and reactions, for Prometheus and for OTLP."""

from __future__ import annotations

import re
from collections import defaultdict
from decimal import Decimal

from laneway.domain.session import EventKind, SessionEvent
from laneway.reactors.contract import Continue, Intervene, Reaction, ReactorContext, Warn

Labels = tuple[tuple[str, str], ...]

SESSIONS, TOKENS, COST = "laneway_sessions", "laneway_session_tokens", "laneway_session_cost_usd"
TOOL_CALLS, ERRORS = "laneway_tool_calls", "laneway_session_errors"
REACTIONS, FAILURES = "laneway_reactions", "laneway_reactor_failures"
MEANINGS = {
    SESSIONS: "Sessions and jobs that began, by provider.",
    TOKENS: "Tokens, by provider, kind and model; reasoning is a share of output.",
    COST: "Money in US dollars, by provider and model, where it is known.",
    TOOL_CALLS: "Tool calls that ended, by provider, tool and outcome.",
    ERRORS: "Errors of models and of agents themselves, by provider.",
    REACTIONS: "Reactions, by reactor and severity: warning, notification, kill.",
    FAILURES: "Reactors that failed and were passed over.",
}
LABELS = {
    SESSIONS: ("provider",), TOKENS: ("provider", "kind", "model"), COST: ("provider", "model"),
    TOOL_CALLS: ("provider", "tool", "outcome"), ERRORS: ("provider",), REACTIONS: ("reactor", "severity"),
    FAILURES: ("reactor",),
}  # fmt: skip
_KINDS = ("input", "output", "cache_read", "cache_write", "reasoning", "tool_prompt")
_MOST = 300
"""Names of tools, models and reactors that are told apart; agents may invent them without end."""
_ODD = re.compile(r"[^\w.:/@ -]")


class Counts:
    """What this process has counted and nobody has fetched yet."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, Labels], Decimal] = defaultdict(Decimal)
        self._names: dict[str, set[str]] = defaultdict(set)

    def add(self, name: str, value: Decimal | int = 1, **labels: str) -> None:
        """So much more of this."""
        told = tuple(sorted((label, self._bounded(label, text)) for label, text in labels.items()))
        self._values[name, told] += value

    def take(self) -> dict[tuple[str, Labels], Decimal]:
        """All of it; it counts from nothing again."""
        taken, self._values = dict(self._values), defaultdict(Decimal)
        return taken

    def reacted(self, reactor: str, reaction: Warn | Intervene) -> None:
        """A reactor had something to say."""
        severity = "warning" if isinstance(reaction, Warn) else str(reaction.severity)
        self.add(REACTIONS, reactor=reactor, severity=severity)

    def failed(self, reactor: str) -> None:
        """A reactor failed."""
        self.add(FAILURES, reactor=reactor)

    def _bounded(self, label: str, text: str) -> str:
        name, known = _ODD.sub("_", text)[:80] or "none", self._names[label]
        if name in known or len(known) < _MOST:
            known.add(name)
            return name
        return "other"


class MetricsCollector:
    """Counts one session's events. It never has anything to say."""

    name = "metrics"

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._begun = False
        self._tools: dict[str, str] = {}

    def handle(self, ctx: ReactorContext) -> Reaction:
        """The event is counted, once: what is replayed was counted when it happened."""
        event = ctx.event
        if event.kind is EventKind.TOOL_CALLED and len(self._tools) < _MOST:
            self._tools[event.call_id] = event.tool
        if event.kind is EventKind.TICK:
            return Continue()
        if not ctx.replayed:
            self._count(event, ctx)
        self._begun = True
        return Continue()

    def _count(self, event: SessionEvent, ctx: ReactorContext) -> None:
        if not self._begun:
            self._counts.add(SESSIONS, provider=event.provider)
        if event.tokens:
            model = event.model or ctx.state.model
            for kind in _KINDS:
                if amount := getattr(event.tokens, kind):
                    self._counts.add(TOKENS, amount, provider=event.provider, kind=kind, model=model)
        if event.cost:
            self._counts.add(COST, event.cost, provider=event.provider, model=event.model or ctx.state.model)
        if event.kind is EventKind.TOOL_ENDED:
            tool = event.tool or self._tools.pop(event.call_id, "")
            self._tools.pop(event.call_id, None)
            outcome = "error" if event.failed else "success"
            self._counts.add(TOOL_CALLS, provider=event.provider, tool=tool, outcome=outcome)
        if event.kind is EventKind.ERROR:
            self._counts.add(ERRORS, provider=event.provider)
