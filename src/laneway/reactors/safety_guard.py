"""SafetyGuard: puts every tool call to the guard, with its paths resolved through its folder and through links.

Reading outside the project is a warning; climbing out of it, writing there, a secret, or a change of the system is an
intervention. It looks at the disk for two things only: where links lead, and where a repository begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from laneway.domain.action import Decision, Verdict
from laneway.domain.session import EventKind, SessionEvent
from laneway.reactors.calls import key_of
from laneway.reactors.contract import Continue, Intervene, Reaction, ReactorContext, Severity, Warn
from laneway.reactors.tui_renderer import cut, plain, subject
from laneway.sandbox.commands import judge_tool
from laneway.sandbox.shell.rules import UNJUDGED, UNSURE
from laneway.sandbox.shell.scope import project_of
from laneway.sandbox.tool_calls import kind_of

_PATH = re.compile(r"(~|\.{0,2})/[^\s\x00-\x1f]{1,1000}|\.\.")
_MOST_REMEMBERED = 500


class SafetyGuard:
    """Warns of, notifies about or, if it may, ends a session for its dangerous calls."""

    name = "safety"

    def __init__(self, *, kill_on_danger: bool = False, project: str | None = None, again_after: float = 300) -> None:
        self._severity = Severity.KILL if kill_on_danger else Severity.NOTIFICATION
        self._project = project_of(project)
        self._again_after = timedelta(seconds=again_after)
        self._seen: dict[str, datetime] = {}
        self._tools: set[str] = set()

    def handle(self, ctx: ReactorContext) -> Reaction:
        """What a tool call calls for; an event that is no tool call, nothing."""
        if self._project is None and ctx.state.cwd:
            # The repository a session begins in is its project, wherever it goes later.
            self._project = project_of(ctx.state.cwd)
        if ctx.event.kind is not EventKind.TOOL_CALLED:
            return Continue()
        fresh, unheard_of = self._first_for_a_while(ctx), ctx.event.tool not in self._tools
        if unheard_of and len(self._tools) < _MOST_REMEMBERED:
            self._tools.add(ctx.event.tool)
        return Continue() if ctx.replayed and not ctx.shown else self._reaction(ctx, fresh, unheard_of)

    def verdict(self, ctx: ReactorContext) -> Verdict:
        """May this call run: allowed, asked about, or denied; rule `read-outside` marks an allowed look elsewhere."""
        tool, given = ctx.event.tool, ctx.event.arguments
        cwd = ctx.event.cwd or ctx.state.cwd or self._project
        found = judge_tool(tool, given, cwd, self._project)
        if kind_of(tool, {}) == "unknown":
            for path in _paths(given):
                written = judge_tool("write", {"path": path}, cwd, self._project)
                unsure = found.rule in UNSURE and written.decision is not Decision.ALLOW
                found = written if unsure else found.or_stricter(written)
        return found

    def _reaction(self, ctx: ReactorContext, fresh: bool, unheard_of: bool) -> Reaction:
        found = self.verdict(ctx)
        if found.rule == "unknown-tool":
            return Warn(_told(ctx.event, found)) if unheard_of else Continue()
        if found.decision is Decision.ALLOW or found.rule in UNSURE:
            noted = fresh and (found.rule == "read-outside" or found.rule in UNSURE)
            return Warn(_told(ctx.event, found)) if noted else Continue()
        # What cannot be read is worth telling, and no reason to end a session.
        severity = Severity.NOTIFICATION if found.rule in UNJUDGED else self._severity
        if fresh or severity is Severity.KILL:
            return Intervene(_told(ctx.event, found), severity)
        return Warn(f"Again: {_told(ctx.event, found)}")

    def _first_for_a_while(self, ctx: ReactorContext) -> bool:
        """Whether this very call was not made within the last minutes, so that a retry is not told each time."""
        key = key_of(ctx.event.tool, ctx.event.arguments)
        before = self._seen.pop(key, None)
        self._seen[key] = ctx.event.at
        if len(self._seen) > _MOST_REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return before is None or ctx.event.at - before >= self._again_after


def _told(event: SessionEvent, found: Verdict) -> str:
    call = cut(plain(f"{event.tool} {subject(event.arguments)}"), 160)
    return f"{call}: {plain(found.why)} ({found.rule})"


def _paths(value: Any, depth: int = 0) -> Iterator[str]:
    """Everything in the arguments that looks like a path, whatever it is called."""
    if isinstance(value, str):
        if _PATH.fullmatch(value.strip()) and not value.startswith("//"):
            yield value.strip()
    elif isinstance(value, Mapping | list | tuple) and depth < 4:
        for item in list(value.values() if isinstance(value, Mapping) else value)[:50]:
            yield from _paths(item, depth + 1)
