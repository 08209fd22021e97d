"""StallDetector: tells when a session stands still, and what it stands still for. Only the clock's ticks make it speak.

Whoever runs the chain may put into a tick what a log cannot tell: `failed` = the agent's process is gone, `text` =
`busy` (programs run below it) or `idle` (none do).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from laneway.domain.session import EventKind, OpenCall, SessionEvent, SessionState
from laneway.reactors.background import BackgroundWork
from laneway.reactors.calls import Category, category
from laneway.reactors.contract import Continue, Intervene, Reaction, ReactorContext
from laneway.reactors.tui_renderer import cut, plain, subject
from laneway.sandbox.commands import judge_tool


class Standstill(StrEnum):
    """What a silent session is silent for."""

    USER = "waiting for you"
    PERMISSION = "waiting for your permission"
    RUNNING_OR_PERMISSION = "running or waiting for your permission"
    TOOL = "a tool has been running"
    BACKGROUND = "background work without a sign"
    SILENT = "no sign of life"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds of silence before it is told, by state; and between two tellings."""

    user: float = 60
    permission: float = 60
    tool: float = 600
    background: float = 600
    silent: float = 360
    cool_down: float = 300

    def of(self, standstill: Standstill) -> float:
        return {
            Standstill.USER: self.user,
            Standstill.PERMISSION: self.permission,
            Standstill.RUNNING_OR_PERMISSION: self.permission,
            Standstill.TOOL: self.tool,
            Standstill.BACKGROUND: self.background,
            Standstill.SILENT: self.silent,
            Standstill.DEAD: 0,
        }[standstill]


class StallDetector:
    """Speaks once for each standstill, and not again within the cool-down."""

    name = "stall"

    def __init__(self, patience: Patience | None = None) -> None:
        self._patience = patience or Patience()
        self._background = BackgroundWork()
        self._owes_answer = False
        self._told: set[tuple[Standstill, datetime]] = set()
        self._told_at: datetime | None = None
        self._changing: dict[str, bool] = {}

    def handle(self, ctx: ReactorContext) -> Reaction:
        """An intervention if the session has stood still for too long and nobody was told yet."""
        if ctx.event.kind is not EventKind.TICK:
            self._note(ctx.event, ctx.state)
            return Continue()
        since = ctx.state.last_activity
        if since is None or ctx.state.ended:
            return Continue()
        quiet = (ctx.event.at - since).total_seconds()
        return self._spoken(ctx, since, quiet, self._standstill(ctx.event, ctx.state, quiet))

    def _note(self, event: SessionEvent, state: SessionState) -> None:
        self._background.note(event)
        if not event.side and event.kind in (EventKind.USER, EventKind.TOOL_ENDED, EventKind.ASSISTANT):
            self._owes_answer = event.kind is not EventKind.ASSISTANT
        if self._told:
            self._told.clear()
        if self._changing and not state.open_calls:
            self._changing.clear()

    def _standstill(self, tick: SessionEvent, state: SessionState, quiet: float) -> Standstill:
        if tick.failed and not state.waiting:
            return Standstill.DEAD
        if state.open_calls:
            return self._in_calls(tick, state, quiet)
        if self._background.running:
            return Standstill.BACKGROUND
        return Standstill.SILENT if self._owes_answer and not state.waiting else Standstill.USER

    def _in_calls(self, tick: SessionEvent, state: SessionState, quiet: float) -> Standstill:
        kinds = {call_id: category(call.tool, call.arguments) for call_id, call in state.open_calls.items()}
        if Category.ASK in kinds.values():
            return Standstill.USER
        if Category.DELEGATE in kinds.values():
            return Standstill.BACKGROUND
        if tick.text == "busy" or quiet >= self._patience.tool or quiet < self._patience.permission:
            return Standstill.TOOL
        if not any(self._changes(call_id, call, state.cwd) for call_id, call in state.open_calls.items()):
            return Standstill.TOOL
        # A change to a file takes no minute; a command may. Where nobody looked at the processes, both are possible.
        waits = tick.text == "idle" or Category.EXEC not in kinds.values()
        return Standstill.PERMISSION if waits else Standstill.RUNNING_OR_PERMISSION

    def _changes(self, call_id: str, call: OpenCall, cwd: str) -> bool:
        if call_id not in self._changing:
            self._changing[call_id] = judge_tool(call.tool, call.arguments, cwd or None).changes
        return self._changing[call_id]

    def _spoken(self, ctx: ReactorContext, since: datetime, quiet: float, now: Standstill) -> Reaction:
        episode = (now, since)
        if quiet < self._patience.of(now) or episode in self._told:
            return Continue()
        cool_down = timedelta(seconds=self._patience.cool_down)
        if self._told_at is not None and ctx.event.at - self._told_at < cool_down and now is not Standstill.DEAD:
            return Continue()
        self._told.add(episode)
        self._told_at = ctx.event.at
        return Intervene(self._sentence(now, quiet, ctx.state))

    def _sentence(self, now: Standstill, quiet: float, state: SessionState) -> str:
        span = f"{quiet:.0f} s" if quiet < 120 else f"{quiet / 60:.0f} minutes"
        if now is Standstill.DEAD:
            return f"The agent's process is gone in the middle of its turn{_about(state)}."
        if now is Standstill.SILENT:
            return f"No sign of life for {span}: the model has not answered yet, or the agent is dead."
        if now is Standstill.BACKGROUND:
            return f"Background work has given no sign for {span}{_about(state)}."
        if now is Standstill.TOOL:
            return f"A tool has been running for {span}{_about(state)}."
        return f"It has been {now} for {span}{_about(state)}."


def _about(state: SessionState) -> str:
    call = next(iter(state.open_calls.values()), None)
    if call is None:
        return ""
    about = cut(plain(subject(call.arguments)), 80)
    return f" ({re.sub(r'[^A-Za-z0-9_.:-]', '', call.tool)[:60]}{': ' + about if about else ''})"
