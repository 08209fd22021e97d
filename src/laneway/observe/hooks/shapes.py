"""What the three agents send to a hook, read as one kind of request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from laneway.domain.session import EventKind, SessionEvent
from laneway.errors import BadInput
from laneway.observe.reader import hash_of, shown

PROVIDERS = {"claude-code": "claude-code", "codex": "codex", "gemini": "gemini-cli"}
"""What the session of each agent is called by those who read its log."""
_LONGEST_ID, _DEEPEST = 200, 40
_PASSING = {"durationMs", "duration_ms", "durationSeconds", "timestamp", "wall_time_seconds"}
"""What differs between two equal results."""


class Moment(StrEnum):
    """When a hook is called, whatever the agent calls it."""

    BEFORE = "before"
    PERMISSION = "permission"
    AFTER = "after"
    PROMPT = "prompt"
    STARTED = "started"
    ENDED = "ended"
    STOPPED = "stopped"
    COMPACTED = "compacted"
    OTHER = "other"


_MOMENTS = {
    "PreToolUse": Moment.BEFORE, "BeforeTool": Moment.BEFORE, "PermissionRequest": Moment.PERMISSION,
    "PostToolUse": Moment.AFTER, "PostToolUseFailure": Moment.AFTER, "AfterTool": Moment.AFTER,
    "UserPromptSubmit": Moment.PROMPT, "BeforeAgent": Moment.PROMPT,
    "SessionStart": Moment.STARTED, "SessionEnd": Moment.ENDED,
    "Stop": Moment.STOPPED, "StopFailure": Moment.STOPPED, "AfterAgent": Moment.STOPPED,
    "PreCompact": Moment.COMPACTED, "PreCompress": Moment.COMPACTED,
}  # fmt: skip
_KINDS = {
    Moment.BEFORE: EventKind.TOOL_CALLED, Moment.AFTER: EventKind.TOOL_ENDED, Moment.PROMPT: EventKind.USER,
    Moment.STARTED: EventKind.STARTED, Moment.ENDED: EventKind.ENDED, Moment.COMPACTED: EventKind.COMPACTED,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class HookRequest:
    """One call of a hook. `malformed` says what a tool call lacks; such a call is not judged but asked about."""

    agent: str
    event: str
    moment: Moment
    session_id: str
    cwd: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    call_id: str = ""
    sub_agent: str = ""
    transcript: str = ""
    model: str = ""
    text: str = ""
    failed: bool = False
    result: Any = None
    mcp: bool = False
    malformed: str = ""

    @property
    def provider(self) -> str:
        return PROVIDERS[self.agent]

    def as_event(self, at: datetime, place: int = 0) -> SessionEvent:
        """What this means in the session's life."""
        ended = self.moment is Moment.AFTER
        return SessionEvent(
            self.session_id,
            self.provider,
            _KINDS.get(self.moment, EventKind.OTHER),
            at,
            text=shown(self.text),
            tool=self.tool,
            call_id=self.call_id,
            arguments=self.arguments if self.moment in (Moment.BEFORE, Moment.PERMISSION) else {},
            failed=self.failed,
            result_hash=hash_of(_lasting(self.result)) if ended else "",
            model=self.model,
            cwd=self.cwd,
            side=bool(self.sub_agent),
            offset=place,
            turn_ended=self.moment is Moment.STOPPED and not self.sub_agent,
        )


def read(agent: str, body: object) -> HookRequest:
    """What the agent sent; BadInput if it is no event of a hook at all."""
    if not isinstance(body, dict):
        raise BadInput("A hook sends one JSON object.", hint="docs/hooks.md shows what is understood.")
    event = body.get("hook_event_name")
    if not isinstance(event, str) or not event:
        raise BadInput("The hook does not say its `hook_event_name`.", hint="docs/hooks.md shows what is understood.")
    moment = _MOMENTS.get(event, Moment.OTHER)
    tool, arguments, malformed = _call(body)
    return HookRequest(
        agent,
        event[:_LONGEST_ID],
        moment,
        _word(body, "session_id")[:_LONGEST_ID],
        cwd=_word(body, "cwd"),
        tool=tool,
        arguments=arguments,
        call_id=_word(body, "tool_use_id")[:_LONGEST_ID],
        sub_agent=_word(body, "agent_id")[:_LONGEST_ID],
        transcript=_word(body, "transcript_path"),
        model=_word(body, "model")[:_LONGEST_ID],
        text=_text(moment, event, body),
        failed=event == "PostToolUseFailure" or _broken(body.get("tool_response")),
        result=body.get("tool_response", body.get("error")),
        mcp=tool.startswith("mcp_") or isinstance(body.get("mcp_context"), dict),
        malformed=malformed if moment in (Moment.BEFORE, Moment.PERMISSION) else "",
    )


def _call(body: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], str]:
    tool, given = body.get("tool_name"), body.get("tool_input")
    if not isinstance(tool, str) or not tool.strip():
        return "", {}, "The call names no tool."
    if isinstance(given, str):
        given = {"input": given}
    if not isinstance(given, dict):
        return tool, {}, "The call's `tool_input` is no object."
    if _deeper_than(given, _DEEPEST):
        return tool, {}, "The call's arguments are nested too deeply to be judged."
    if tool == "apply_patch" and "input" not in given and isinstance(given.get("command"), str):
        # Codex sends the patch as if it were a command.
        given = {**given, "input": given["command"]}
    return tool, given, ""


def _deeper_than(value: Any, most: int) -> bool:
    """Whether something is nested deeper; found out level by level, since whoever sent it may mean harm."""
    level = [value]
    for _ in range(most):
        inner = [list(one.values()) if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [item for items in inner for item in items]
        if not level:
            return False
    return True


def _word(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""


def _text(moment: Moment, event: str, body: Mapping[str, Any]) -> str:
    if moment is Moment.PROMPT:
        return _word(body, "prompt")
    if moment is Moment.AFTER:
        return _said(body.get("tool_response")) or _word(body, "error")
    if moment is Moment.BEFORE:
        return ""
    told = (_word(body, name) for name in ("message", "reason", "source", "trigger", "agent_type"))
    return ": ".join([event, *[text for text in told if text]])


def _said(result: Any) -> str:
    """The text of what a tool gave back, as far as it has one."""
    if isinstance(result, str):
        return result
    if not isinstance(result, dict):
        return ""
    texts = [
        result[name] for name in ("stdout", "stderr", "output", "content", "llmContent", "error") if name in result
    ]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _broken(result: Any) -> bool:
    if not isinstance(result, dict):
        return False
    return bool(result.get("error")) or result.get("is_error") is True or result.get("isError") is True


def _lasting(result: Any) -> Any:
    if isinstance(result, dict):
        return {name: value for name, value in result.items() if name not in _PASSING}
    return result
