"""Laneway's entries among the hooks in an agent's settings: put in, found, and taken out; all others stay."""

from __future__ import annotations

import copy
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laneway.errors import BadInput
from laneway.observe.hooks.answers import AGENTS, BEFORE

SECONDS = 10
"""How long an agent waits for the hook; the hook itself gives up earlier, and says so."""
KEY_VARIABLE = "LANEWAY_HOOKS_KEY"
EVENTS = {
    "claude-code": (
        "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "SubagentStart", "SubagentStop", "Stop", "Notification", "PreCompact",
    ),
    "codex": (
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "SubagentStart",
        "SubagentStop", "Stop",
    ),
    "gemini": ("SessionStart", "SessionEnd", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "Notification"),
}  # fmt: skip
"""The events each agent is asked to tell."""
_COMMAND_ONLY = {"SessionStart"}
"""Claude Code calls no address for these."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How Laneway's hooks of one agent are called."""

    agent: str
    command: str
    url: str = ""
    """Where Claude Code calls the server itself; empty = never."""
    decides_by_http: bool = False
    """Whether it does so even for decisions, though it goes on when nobody answers."""

    def entry(self, event: str) -> dict[str, Any]:
        """The group of this event that is ours."""
        if self.url and event not in _COMMAND_ONLY and (event != BEFORE[self.agent] or self.decides_by_http):
            headers = {"X-API-Key": f"${KEY_VARIABLE}"}
            called: dict[str, Any] = {
                "type": "http", "url": self.url, "timeout": SECONDS, "headers": headers,
                "allowedEnvVars": [KEY_VARIABLE],
            }  # fmt: skip
        else:
            seconds = SECONDS * 1000 if self.agent == "gemini" else SECONDS
            called = {"type": "command", "command": self.command, "timeout": seconds}
        if self.agent == "gemini":
            called = {"name": "laneway", **called}
        return {"hooks": [called]}


def merged(tree: Mapping[str, Any], wanted: Wanted) -> dict[str, Any]:
    """The settings with our hooks as they are wanted now, and everything else as it is."""
    result = without(tree, wanted.agent)
    hooks = result.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise BadInput("`hooks` in the agent's settings is no object.", hint="Nothing was changed. Mend it first.")
    for event in EVENTS[wanted.agent]:
        groups = hooks.setdefault(event, [])
        if not isinstance(groups, list):
            raise BadInput(f"`hooks.{event}` in the agent's settings is no list.", hint="Nothing was changed.")
        groups.append(wanted.entry(event))
    return result


def without(tree: Mapping[str, Any], agent: str) -> dict[str, Any]:
    """The settings without our hooks; a list or an object that only we filled is gone as well."""
    result: dict[str, Any] = copy.deepcopy(dict(tree))
    hooks = result.get("hooks")
    if not isinstance(hooks, dict):
        return result
    touched = False
    for event, groups in list(hooks.items()):
        if not isinstance(groups, list):
            continue
        kept = [left for group in groups if (left := _without_ours(group, agent)) is not None]
        if kept != groups:
            touched = True
            hooks[event] = kept
            if not kept:
                del hooks[event]
    if touched and not hooks:
        del result["hooks"]
    return result


def ours(tree: Mapping[str, Any], agent: str) -> dict[str, dict[str, Any]]:
    """Our hooks by their event."""
    hooks = tree.get("hooks")
    found: dict[str, dict[str, Any]] = {}
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            found.update((event, dict(called)) for called in _called(group) if is_ours(called, agent))
    return found


def is_ours(called: Mapping[str, Any], agent: str) -> bool:
    """Whether a hook is one that `laneway hooks install` wrote for this agent."""
    if called.get("type") == "http":
        names = called.get("allowedEnvVars")
        return str(called.get("url")).endswith(f"/hooks/{agent}") and isinstance(names, list) and KEY_VARIABLE in names
    try:
        words = shlex.split(str(called.get("command")))
    except ValueError:
        return False
    places = [place for place in range(len(words) - 2) if words[place : place + 3] == ["hooks", "call", agent]]
    return any(place > 0 and Path(words[place - 1]).name == "laneway" for place in places)


def command_of(agent: str, program: str, home: Path, when_down: str, cannot_ask: str) -> str:
    """The command an agent is told to run; what is usual is left out."""
    words = [*shlex.split(program), "hooks", "call", agent]
    if home != Path("~/.laneway").expanduser():
        words += ["--home", str(home)]
    if when_down != "ask":
        words += ["--when-down", when_down]
    if cannot_ask != "deny" and agent == "codex":
        words += ["--cannot-ask", cannot_ask]
    return shlex.join(words)


def settings_path(agent: str, scope: str, environ: Mapping[str, str], here: Path) -> Path:
    """The file in which an agent's hooks stand, for the user or for the project in this folder."""
    assert agent in AGENTS
    if scope == "project":
        # The one Claude Code keeps out of the repository: paths of this machine stand in it.
        return here / {"claude-code": ".claude/settings.local.json", "codex": ".codex/hooks.json"}.get(
            agent, ".gemini/settings.json"
        )
    named = {"claude-code": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}.get(agent, "")
    usual = {"claude-code": "~/.claude", "codex": "~/.codex", "gemini": "~/.gemini"}[agent]
    folder = (environ.get(named) or usual).split(",")[0]
    return Path(os.path.expanduser(folder)) / ("hooks.json" if agent == "codex" else "settings.json")  # noqa: PTH111


def _without_ours(group: Any, agent: str) -> Any:
    """The group without our hooks; None if it held no others."""
    kept = [called for called in _called(group) if not is_ours(called, agent)]
    if len(kept) == len(list(_called(group))):
        return group
    others = [one for one in group["hooks"] if not (isinstance(one, dict) and is_ours(one, agent))]
    return {**group, "hooks": others} if others else None


def _called(group: Any) -> Iterator[Mapping[str, Any]]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    for called in hooks if isinstance(hooks, list) else ():
        if isinstance(called, dict):
            yield called
