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
from tests.observe.logs import Json, Told, calls, counts, log, tokens

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
    both = (21, 6, 9, 0, 1, 3)
    replaced = log(
        head,
        gem("user", "u"),
        gem("gemini", "a", toolCalls=[tool("ls", "1", "executing")]),
        first | {"toolCalls": [tool("ls", "1", "error"), tool("cat", "2", "awaiting_approval")]},
        second,
        {"$set": {"lastUpdated": "2026-01-02T00:00:00Z"}},
    )
    told = counts(*both, users=1, answers=2, tool_calls=calls(cat=1, ls=1), failed=1, open=1)
    yield "replaced.jsonl", replaced, told | {"last_time": "2026-01-02T00:00:00Z"}
    rewound = log(head, gem("user", "u"), first, gem("user", "v"), second, {"$rewindTo": "v"}, gem("user", "w"))
    visible = tokens(input=6, output=3, cache_read=4, reasoning=1, tool_prompt=3)
    yield "rewound.jsonl", rewound, counts(*both, users=2, answers=1, tokens_visible=visible)
    rewound = log(head, gem("user", "u"), first, {"$rewindTo": "nobody"}, gem("user", "x"))
    yield "rewound_all.jsonl", rewound, counts(6, 3, 4, 0, 1, 3, users=1, answers=0, tokens_visible=tokens())
    messages = {"$set": {"messages": [second, gem("model", "c", (1, 1, 0, 0, 0))]}}
    yield (
        "checkpoint.jsonl",
        log(head, gem("user", "u"), first, messages, first),
        counts(22, 7, 9, 0, 1, 3, users=0, answers=3),
    )
    whole = head | {"messages": [gem("user", "u"), first, first | {"id": "z"}, gem("info", "i")]}
    told = counts(12, 6, 8, 0, 2, 6, document_ok=True, users=1, answers=2)
    yield "whole.json", json.dumps(whole, indent=1).encode(), told
    yield "cut.json", json.dumps(whole).encode()[:-9], counts(0, document_ok=False, users=0)


def happened(kind: str, **data: Any) -> Json:
    return {"type": kind, "data": data, "id": "x", "timestamp": "2026-01-01T00:00:00Z"}


def metrics(**models: tuple[int, int, int, int]) -> Json:
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    return {name: {"usage": dict(zip(names, used, strict=True))} for name, used in models.items()}


def copilot() -> Iterator[Told]:
    start = happened("session.start", sessionId="p", context={"cwd": "/w"})
    go = happened("user.message", content="go")
    told = happened("assistant.message", messageId="m", content="hi", outputTokens=5)
    down = happened("session.shutdown", modelMetrics=metrics(one=(100, 7, 60, 10), two=(10, 1, 0, 0)))
    expected = counts(0, 5, session_id="p", cwd="/w", users=1, answers=1, tokens_complete=False)
    yield "running.jsonl", log(start, go, told, told), expected
    expected = counts(40, 8, 60, 10, tokens_complete=True, models=["one", "two"])
    yield "ended.jsonl", log(start, told, down), expected
    again = (happened("session.resume", sessionId="p"), told | {"data": {"messageId": "n"}}, down)
    yield "resumed.jsonl", log(start, told, down, *again), counts(80, 16, 120, 20, answers=2)
    skills = log(
        start,
        go,
        happened("user.message", content="x", source="skill-pdf"),
        happened("user.message", content="<skill-context name='a'>"),
        happened("user.message", content="  "),
        *[happened("tool.execution_start", toolCallId="1", toolName="bash")] * 2,
        happened("tool.execution_start", toolCallId="2", toolName="view"),
        *[happened("tool.execution_complete", toolCallId="1", success=False)] * 2,
    )
    yield "skills.jsonl", skills, counts(users=1, tool_calls=calls(bash=1, view=1), failed=1, open=1)
    dirt = log(start, b"\0\0", happened("tomorrow.thing"), {"type": "user.message"}, b"7", b'{"type":"us', end=b"")
    expected = counts(malformed_lines=2, records=3, partial_tail=True, users=0)
    yield "dirt.jsonl", dirt, expected | {"unknown_records": {"?": {"tomorrow.thing": 1}}}


def entry(role: str, content: Any, **fields: Any) -> Json:
    message = {"role": role, "content": content, **fields}
    return {"type": "message", "id": "e", "parentId": None, "timestamp": "2026-01-01T00:00:00Z", "message": message}


def pi() -> Iterator[Told]:
    head = {"type": "session", "version": 3, "id": "q", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}
    call = {"type": "toolCall", "id": "1", "name": "read", "arguments": {}}
    usage = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": {"total": 0.5}}
    talk = log(
        head,
        entry("user", "hi"),
        entry("assistant", [{"type": "text", "text": "ho"}], usage=usage, model="m"),
        entry("assistant", [call, call | {"id": "2"}], usage=usage),
        entry("toolResult", [], toolCallId="1", isError=True),
    )
    told = counts(2, 4, 6, 8, session_id="q", users=1, answers=2, models=["m"])
    yield "talk.jsonl", talk, told | counts(tool_calls=calls(read=2), failed=1, open=1)
    odd = (entry("assistant", "text", usage={"input": "7", "output": None}), entry("bashExecution", ""))
    yield "odd.jsonl", log(head, *odd, {"type": "compaction"}), counts(0, answers=1, unknown_records={})
    dirt = log(head, b"not json", entry("user", "x"), {"type": "message", "message": 3}, end=b"\r\n")
    yield "dirt.jsonl", b"\xef\xbb\xbf" + dirt, counts(lines=4, malformed_lines=1, records=3, users=1)


def others() -> Iterator[Told]:
    nothing = counts(0, users=0, answers=0)
    yield "cursor.jsonl", log({"role": "user", "message": {"content": [{"type": "text", "text": "hi"}]}}), nothing
    qwen = {"uuid": "u", "sessionId": "s", "type": "user", "message": {"role": "user", "parts": [{"text": "hi"}]}}
    yield "qwen.jsonl", log(qwen), nothing
    yield "table.jsonl", log({"kind": 0}, b"1", b"x"), nothing | {"lines": 3, "malformed_lines": 1, "records": 1}
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
