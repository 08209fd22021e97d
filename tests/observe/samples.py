"""Logs for the readers: our own, with their counts worked out by hand, and the public ones where they are at hand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.observe.claude_logs import claude
from tests.observe.codex_logs import codex
from tests.observe.logs import Json, Told, calls, log
from tests.observe.truth import tokens

OUTSIDE = os.environ.get("LANEWAY_TEST_DATA")


@dataclass(frozen=True)
class Sample:
    """A log and what must be said about it."""

    provider: str
    name: str
    content: bytes
    expected: Json

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"

    def written(self, folder: Path) -> Path:
        path = folder / self.name
        path.write_bytes(self.content)
        return path


def gem(kind: str, name: str, used: tuple[int, int, int, int, int] | None = None, **fields: Any) -> Json:
    told: Json = {"id": name, "type": kind, "content": name, "timestamp": "2026-01-01T00:00:00Z", **fields}
    if used:
        told["tokens"] = dict(zip(("input", "output", "cached", "thoughts", "tool"), used, strict=True))
    return told


def tool(name: str, call: str, status: str) -> Json:
    return {"id": call, "name": name, "status": status, "args": {"path": "a"}}


def gemini() -> Iterator[Told]:
    head = {"sessionId": "g", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z", "kind": "main"}
    first, second = gem("gemini", "a", (10, 2, 4, 1, 3)), gem("gemini", "b", (20, 3, 5, 0, 0))
    yield (
        "replaced.jsonl",
        log(
            head,
            gem("user", "u"),
            gem("gemini", "a", toolCalls=[tool("ls", "1", "executing")]),
            first | {"toolCalls": [tool("ls", "1", "error"), tool("cat", "2", "awaiting_approval")]},
            second,
            {"$set": {"lastUpdated": "2026-01-02T00:00:00Z"}},
        ),
        {
            "user_turns": 1, "assistant_messages": 2, "tool_calls": calls(cat=1, ls=1), "tool_errors": 1,
            "tool_unanswered": 1, "tokens": tokens(input=21, output=6, cache_read=9, reasoning=1, tool_prompt=3),
            "last_time": "2026-01-02T00:00:00Z",
        },
    )  # fmt: skip
    yield (
        "rewound.jsonl",
        log(head, gem("user", "u"), first, gem("user", "v"), second, {"$rewindTo": "v"}, gem("user", "w")),
        {
            "user_turns": 2, "assistant_messages": 1,
            "tokens": tokens(input=21, output=6, cache_read=9, reasoning=1, tool_prompt=3),
            "tokens_visible": tokens(input=6, output=3, cache_read=4, reasoning=1, tool_prompt=3),
        },
    )  # fmt: skip
    yield (
        "rewound_all.jsonl",
        log(head, gem("user", "u"), first, {"$rewindTo": "nobody"}, gem("user", "x")),
        {
            "user_turns": 1, "assistant_messages": 0, "tokens_visible": tokens(),
            "tokens": tokens(input=6, output=3, cache_read=4, reasoning=1, tool_prompt=3),
        },
    )  # fmt: skip
    yield (
        "checkpoint.jsonl",
        log(head, gem("user", "u"), first, {"$set": {"messages": [second, gem("model", "c", (1, 1, 0, 0, 0))]}}, first),
        {
            "user_turns": 0, "assistant_messages": 3,
            "tokens": tokens(input=22, output=7, cache_read=9, reasoning=1, tool_prompt=3),
        },
    )  # fmt: skip
    whole = head | {"messages": [gem("user", "u"), first, first | {"id": "z"}, gem("info", "i")]}
    yield (
        "whole.json",
        json.dumps(whole, indent=1).encode(),
        {
            "document_ok": True, "user_turns": 1, "assistant_messages": 2,
            "tokens": tokens(input=12, output=6, cache_read=8, reasoning=2, tool_prompt=6),
        },
    )  # fmt: skip
    yield "cut.json", json.dumps(whole).encode()[:-9], {"document_ok": False, "user_turns": 0, "tokens": tokens()}


def happened(kind: str, **data: Any) -> Json:
    return {"type": kind, "data": data, "id": "x", "timestamp": "2026-01-01T00:00:00Z"}


def metrics(**models: tuple[int, int, int, int]) -> Json:
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    return {name: {"usage": dict(zip(names, used, strict=True))} for name, used in models.items()}


def copilot() -> Iterator[Told]:
    start = happened("session.start", sessionId="p", context={"cwd": "/w"})
    told = happened("assistant.message", messageId="m", content="hi", outputTokens=5)
    down = happened("session.shutdown", modelMetrics=metrics(one=(100, 7, 60, 10), two=(10, 1, 0, 0)))
    yield (
        "running.jsonl",
        log(start, happened("user.message", content="go"), told, told),
        {
            "session_id": "p", "cwd": "/w", "user_turns": 1, "assistant_messages": 1, "tokens": tokens(output=5),
            "tokens_complete": False,
        },
    )  # fmt: skip
    settled = tokens(input=40, output=8, cache_read=60, cache_write=10)
    yield "ended.jsonl", log(start, told, down), {"tokens": settled, "tokens_complete": True, "models": ["one", "two"]}
    yield (
        "resumed.jsonl",
        log(start, told, down, happened("session.resume", sessionId="p"), told | {"data": {"messageId": "n"}}, down),
        {"assistant_messages": 2, "tokens": tokens(input=80, output=16, cache_read=120, cache_write=20)},
    )
    yield (
        "skills.jsonl",
        log(
            start,
            happened("user.message", content="go"),
            happened("user.message", content="x", source="skill-pdf"),
            happened("user.message", content="<skill-context name='a'>"),
            happened("user.message", content="  "),
            happened("tool.execution_start", toolCallId="1", toolName="bash"),
            happened("tool.execution_start", toolCallId="1", toolName="bash"),
            happened("tool.execution_start", toolCallId="2", toolName="view"),
            happened("tool.execution_complete", toolCallId="1", success=False),
            happened("tool.execution_complete", toolCallId="1", success=False),
        ),
        {"user_turns": 1, "tool_calls": calls(bash=1, view=1), "tool_errors": 1, "tool_unanswered": 1},
    )
    yield (
        "dirt.jsonl",
        log(start, b"\0\0", happened("tomorrow.thing"), {"type": "user.message"}, b"7", b'{"type":"us', end=b""),
        {"malformed_lines": 2, "records": 3, "partial_tail": True, "user_turns": 0,
         "unknown_records": {"?": {"tomorrow.thing": 1}}},
    )  # fmt: skip


def entry(role: str, content: Any, **fields: Any) -> Json:
    message = {"role": role, "content": content, **fields}
    return {"type": "message", "id": "e", "parentId": None, "timestamp": "2026-01-01T00:00:00Z", "message": message}


def pi() -> Iterator[Told]:
    head = {"type": "session", "version": 3, "id": "q", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}
    call = {"type": "toolCall", "id": "1", "name": "read", "arguments": {}}
    usage = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": {"total": 0.5}}
    yield (
        "talk.jsonl",
        log(head, entry("user", "hi"), entry("assistant", [{"type": "text", "text": "ho"}], usage=usage, model="m")),
        {
            "session_id": "q", "user_turns": 1, "assistant_messages": 1, "models": ["m"],
            "tokens": tokens(input=1, output=2, cache_read=3, cache_write=4),
        },
    )  # fmt: skip
    yield (
        "tools.jsonl",
        log(
            head,
            entry("assistant", [call, call | {"id": "2"}], usage=usage),
            entry("toolResult", [], toolCallId="1", isError=True),
        ),
        {"tool_calls": calls(read=2), "tool_errors": 1, "tool_unanswered": 1},
    )
    yield (
        "two.jsonl",
        log(head, *(entry("assistant", [], usage=usage) for _ in range(3))),
        {"assistant_messages": 3, "tokens": tokens(input=3, output=6, cache_read=9, cache_write=12)},
    )
    yield (
        "odd.jsonl",
        log(
            head,
            entry("assistant", "text", usage={"input": "7", "output": None}),
            entry("bashExecution", ""),
            {"type": "compaction"},
        ),
        {"assistant_messages": 1, "tokens": tokens(), "unknown_records": {}},
    )
    yield (
        "dirt.jsonl",
        b"\xef\xbb\xbf" + log(head, b"not json", entry("user", "x"), {"type": "message", "message": 3}, end=b"\r\n"),
        {"lines": 4, "malformed_lines": 1, "records": 3, "user_turns": 1},
    )


def others() -> Iterator[Told]:
    nothing = {"user_turns": 0, "assistant_messages": 0, "tokens": tokens()}
    yield "cursor.jsonl", log({"role": "user", "message": {"content": [{"type": "text", "text": "hi"}]}}), nothing
    qwen = {"uuid": "u", "sessionId": "s", "type": "user", "message": {"role": "user", "parts": [{"text": "hi"}]}}
    yield "qwen.jsonl", log(qwen), nothing
    yield (
        "table.jsonl",
        log({"kind": 0, "v": {}}, b"1", b"x"),
        nothing | {"lines": 3, "malformed_lines": 1, "records": 1},
    )
    yield "bytes.jsonl", bytes(range(256)) * 20, nothing | {"lines": 21, "partial_tail": True}
    yield "list.json", b"[1, 2]", {"document_ok": True}


BUILT = {
    "claude-code": claude,
    "codex": codex,
    "gemini-cli": gemini,
    "copilot-cli": copilot,
    "pi": pi,
    "unknown": others,
}
OWN = [Sample(provider, *told) for provider, build in BUILT.items() for told in build()]


def outside() -> list[Path]:
    """The public logs, where LANEWAY_TEST_DATA says they are."""
    folder = Path(OUTSIDE or "/nowhere") / "agent-logs"
    return sorted(path for path in folder.glob("*/*.json*") if path.is_file())
