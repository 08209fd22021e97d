"""Says which agent wrote a record, by what only its logs have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from laneway.observe import claude_code, codex, copilot, gemini
from laneway.observe.claude_code import ClaudeCode
from laneway.observe.codex import Codex
from laneway.observe.copilot import Copilot
from laneway.observe.foreign import Foreign
from laneway.observe.gemini import Gemini
from laneway.observe.opencode import OpenCode
from laneway.observe.pi import Pi
from laneway.observe.reader import Reader
from laneway.observe.strict_json import Record, as_record

READERS: dict[str, type[Reader]] = {
    kind.provider: kind for kind in (ClaudeCode, Codex, Gemini, Copilot, OpenCode, Pi, Foreign)
}
"""Every provider by its name."""

_CLAUDE_MARKS = {"parentUuid", "isSidechain", "sessionId", "uuid", "leafUuid", "userType"}
_COPILOT_FAMILIES = tuple({f"{kind.partition('.')[0]}." for kind in copilot.KNOWN if "." in kind})


def provider_of(record: Record) -> type[Reader] | None:
    """The reader for logs that hold such a record; None if this one could stand in several."""
    kind = record.get("type")
    if "$set" in record or "$rewindTo" in record:
        return Gemini
    if type(record.get("payload")) is dict and type(kind) is str and kind in codex.LINES:
        return Codex
    if type(kind) is str and type(record.get("data")) is dict and kind.startswith(_COPILOT_FAMILIES):
        return Copilot
    if "message" in record:
        return _by_message(record, kind, record["message"])
    return _by_fields(record, kind)


def _by_message(record: Record, kind: Any, message: Any) -> type[Reader] | None:
    said = as_record(message)
    if kind == "message":
        return Pi if "role" in said and ("parentId" in record or "usage" in said) else None
    if "parts" in said or "role" in record:
        # Qwen Code's and Cursor's lines look alike, and are counted otherwise.
        return Foreign
    if kind in ("user", "assistant"):
        return ClaudeCode
    return ClaudeCode if "type" not in record and said.get("role") in ("user", "assistant") else None


def _by_fields(record: Record, kind: Any) -> type[Reader] | None:
    if kind == "session" and type(record.get("id")) is str:
        return Pi
    if "sessionId" in record and ("projectHash" in record or "startTime" in record):
        return Gemini
    if "id" in record and type(kind) is str and kind in gemini.KNOWN and "content" in record:
        return Gemini
    if type(kind) is str and kind in claude_code.KNOWN:
        return ClaudeCode if _CLAUDE_MARKS & record.keys() or kind in {"summary", "file-history-snapshot"} else None
    if "record_type" in record or _is_older_codex(record, kind):
        return Codex
    return None


def _is_older_codex(record: Record, kind: Any) -> bool:
    if type(kind) is str and kind in codex.ITEMS:
        return bool({"role", "call_id", "summary", "arguments"} & record.keys())
    return (
        "type" not in record and {"id", "timestamp"} <= record.keys() and bool({"instructions", "git"} & record.keys())
    )


def provider_by_place(path: Path) -> type[Reader] | None:
    """The reader for a file that says nothing yet, by where agents keep theirs."""
    parts = set(path.parts)
    if path.name.startswith("rollout-"):
        return Codex
    if path.name == "events.jsonl" and "session-state" in parts:
        return Copilot
    if path.name.startswith("session-") and path.parent.name == "chats":
        return Gemini
    if "projects" in parts and {".claude", "claude"} & parts:
        return ClaudeCode
    return Pi if {".pi", "sessions"} <= parts else None
