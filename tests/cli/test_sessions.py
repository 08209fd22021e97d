"""`laneway sessions`: found, shown and counted without a server, whatever the files hold."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.cli.processes import Shell
from tests.observe.claude_logs import answer, result, use, used, user
from tests.observe.logs import log

KEY = "sk-ant-" + "q9w8e7r6" * 5


def session(folder: Path, name: str = "abc-1.jsonl") -> Path:
    path = folder / ".claude" / "projects" / "-w" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    secret = use("t") | {"input": {"command": f"curl -H 'Authorization: Bearer {KEY}' x", "api_key": KEY}}
    path.write_bytes(log(user(f"my key is {KEY} \x1b[31m", timestamp="2026-01-01T10:00:00Z"),
                         answer("m", [secret], used(3, 4)), result("t", error=True)))  # fmt: skip
    return path


def test_read_says_all_that_is_promised(shell: Shell) -> None:
    path = str(session(shell.folder))
    told = json.loads(shell.run("sessions", "read", "--json", path))
    promised = {
        "provider", "session_id", "lines", "blank_lines", "malformed_lines", "records", "partial_tail", "user_turns",
        "user_commands", "user_injected", "sidechain_prompts", "assistant_messages", "tool_calls", "tool_errors",
        "tool_unanswered", "tokens", "tokens_naive", "models", "first_time", "last_time", "cwd", "warnings",
    }  # fmt: skip
    assert promised - told.keys() == set()
    assert set(told["tokens"]) == {"input", "output", "cache_read", "cache_write", "reasoning", "tool_prompt"}
    assert told["tool_calls"] == {"total": 1, "by_name": {"Bash": 1}}
    people = shell.run("sessions", "read", path)
    for part in ("claude-code, session s", "1 by a person, 1 answers", "1, 1 failed: Bash 1"):
        assert part in people


def test_a_file_that_cannot_be_opened_does_not_keep_the_others_from_being_read(shell: Shell) -> None:
    fifo = shell.folder / "pipe.jsonl"
    os.mkfifo(fifo)
    files = ("nowhere.jsonl", str(fifo), str(shell.folder), str(session(shell.folder)))
    done = shell.run("sessions", "read", "--json", *files, code=1)
    assert ["error" in json.loads(line) for line in done.splitlines()] == [True, True, True, False]


def test_list_finds_sessions_and_show_tells_one_without_its_secrets(shell: Shell) -> None:
    path = session(shell.folder)
    listed = json.loads(shell.run("sessions", "list", "--json"))
    assert [(one["provider"], one["session"], one["file"]) for one in listed] == [("claude-code", "abc-1", str(path))]
    assert "abc-1" in shell.run("sessions", "list")
    shown = shell.run("sessions", "show", "abc")
    for part in ("> my key is", "$ Bash", "= failed: out"):
        assert part in shown
    assert KEY not in shown
    assert "\x1b" not in shown
    session(shell.folder, "abc-2.jsonl")
    assert "2 sessions" in shell.ended("sessions", "show", "abc", code=2).stderr
    assert "no session" in shell.ended("sessions", "show", "zzz", code=1).stderr
    assert "provider" in shell.ended("sessions", "list", "--provider", "x", code=2).stderr
