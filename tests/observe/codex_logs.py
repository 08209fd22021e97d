"""Logs of Codex, with their counts worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.observe.logs import Json, Told, calls, counts, log, tokens


def event(kind: str, **fields: Any) -> Json:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "event_msg", "payload": {"type": kind, **fields}}


def item(kind: str, **fields: Any) -> Json:
    return {"timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": {"type": kind, **fields}}


def said(role: str, text: str, **fields: Any) -> Json:
    return item("message", role=role, content=[{"type": "input_text", "text": text}], **fields)


def meta(name: str, **fields: Any) -> Json:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": name, "cwd": "/w", **fields}}


def count(total: Json | None, last: Json | None = None) -> Json:
    info = None if total is None else {"total_token_usage": total, "last_token_usage": last or total}
    return event("token_count", info=info)


def spent(fresh: int, out: int, cached: int = 0, reasoning: int = 0, write: int = 0) -> Json:
    return {
        "input_tokens": fresh + cached,
        "cached_input_tokens": cached,
        "output_tokens": out,
        "reasoning_output_tokens": reasoning,
        "cache_write_input_tokens": write,
    }


def codex() -> Iterator[Told]:
    """All of them."""
    repeated = log(
        meta("c1", cli_version="0.66"),
        said("user", "<environment_context>…"),
        said("user", "go"),
        event("user_message", message="go"),
        count(None),
        count(spent(10, 5, 20, 2)),
        count(spent(10, 5, 20, 2)),
        count(spent(30, 9, 40, 3), spent(20, 4, 20, 1)),
        # It began again: what it shows is what was spent since.
        count(spent(4, 1), spent(4, 1)),
        said("assistant", "ok", id="a"),
        said("assistant", "ok", id="a"),
        said("assistant", "more"),
    )
    naive = tokens(input=44, output=15, cache_read=60, reasoning=5)
    yield "repeated.jsonl", repeated, counts(34, 10, 40, 0, 3, session_id="c1", users=1, answers=2, tokens_naive=naive)
    yield from tools()
    yield from formats()


def tools() -> Iterator[Told]:
    several = log(
        meta("c2"),
        item("function_call", name="shell", arguments='{"command":["ls"]}', call_id="1"),
        item("function_call", name="shell", arguments="{}", call_id="1"),
        item("function_call_output", call_id="1", output='{"output":"no","metadata":{"exit_code":2}}'),
        item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="2"),
        item("custom_tool_call_output", call_id="2", output="Exit code: 0\nOutput:\nExit code: 1\n"),
        item("local_shell_call", call_id="3", action={"command": ["ls"]}),
        item("function_call_output", call_id="3", output="Exit code: 127\nWall time: 1\nOutput:\nx"),
        item("web_search_call"),
        item("web_search_call"),
        item("tool_search_call", call_id="4"),
        item("function_call", name="exec", arguments="not json", call_id="5"),
        item("function_call_output", call_id="5", output="Chunk ID: 1\nProcess exited with code 3\nOutput:\n"),
        item("function_call_output", call_id="6", output={"content": "bad", "success": False}),
        item("function_call_output", call_id="7", output=[{"type": "input_text", "text": "Exit code: 9\nOutput:\n"}]),
        event("tomorrow"),
    )
    found = calls(apply_patch=1, exec=1, local_shell=1, shell=1, tool_search=1, web_search=2)
    yield "tools.jsonl", several, counts(tool_calls=found, failed=5, open=1, users=0)


def formats() -> Iterator[Told]:
    paginated = log(
        meta("c3", history_mode="paginated"),
        event("item_completed", item={"type": "UserMessage", "id": "u", "content": [{"text": "hi"}]}),
        event("item_completed", item={"type": "AgentMessage", "id": "v", "content": [{"text": "ho"}]}),
        event("item_completed", item={"type": "AgentMessage", "id": "w", "content": [{"text": "he"}]}),
        count(spent(7, 8, 9, 1, 6)),
    )
    yield "paginated.jsonl", paginated, counts(7, 8, 9, 6, 1, users=1, answers=2)
    older = log(
        {"id": "old", "timestamp": "2025-06-01T00:00:00Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<user_instructions>"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "please"}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "z"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    )
    yield "older.jsonl", older, counts(session_id="old", users=1, answers=1, tool_calls=calls(shell=1), open=1)
    dirt = log(
        meta("c5"),
        meta("somebody else"),
        b"{broken",
        b"",
        event("agent_message", message="a"),
        event("token_count", info={"total_token_usage": {"input_tokens": True, "output_tokens": "9"}}),
        event("token_count", info={"total_token_usage": "none"}),
        {"type": "response_item", "payload": {"type": ["odd"]}},
        {"type": "event_msg", "payload": None},
        {"type": "turn_context", "payload": {"model": "gpt-x"}},
        b'{"timestamp":"2026',
        end=b"",
    )
    told = counts(0, session_id="c5", malformed_lines=2, blank_lines=1, answers=1, models=["gpt-x"])
    yield "dirt.jsonl", dirt, told | {"partial_tail": True}
