"""Tool calls of other agents: where they write, what they read, what they fetch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from laneway.domain.action import Decision, Verdict
from laneway.sandbox.commands import judge_tool
from tests.sandbox.corpus import lines

WORKSPACE = "/home/dev/shop"
Given = dict[str, Any]


def judged(tool: str, given: Given) -> Verdict:
    return judge_tool(tool, given, WORKSPACE)


def test_every_call_of_the_corpus_is_judged_right() -> None:
    wrong = [
        str(case)
        for case in lines("tool_calls.jsonl")
        if (judged(case["tool"], case["arguments"]).decision is Decision.ALLOW) is not (case["label"] == "safe")
    ]
    assert not wrong, "\n".join(wrong)


def test_secrets_are_denied_and_reading_changes_nothing() -> None:
    for tool, given in (
        ("Read", {"file_path": "~/.ssh/id_rsa"}),
        ("Write", {"file_path": ".claude/settings.json", "content": ""}),
        ("WebFetch", {"url": "file:///etc/passwd"}),
    ):
        assert judged(tool, given).decision is Decision.DENY
    assert not judged("Read", {"file_path": "a.py"}).changes
    assert not judged("WebFetch", {"url": "https://example.com"}).changes
    assert judged("Write", {"file_path": "a.py", "content": ""}).changes
    assert not judged("Bash", {"command": "ls"}).changes


def test_a_link_that_leads_out_of_the_workspace_is_seen_where_it_can_be_looked_at(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    (workspace / "inside").mkdir(parents=True)
    (workspace / "to_inside").symlink_to(workspace / "inside")
    (workspace / "to_etc").symlink_to("/etc")
    (workspace / "key").symlink_to(Path("/home/eve/.ssh/id_rsa"))
    here = str(workspace)
    assert judge_tool("Write", {"file_path": "to_inside/x"}, here).decision is Decision.ALLOW
    assert judge_tool("Write", {"file_path": "to_etc/x"}, here).rule == "path-link"
    assert judge_tool("Edit", {"file_path": f"{here}/to_etc/hosts"}, here).rule == "path-link"
    assert judge_tool("Read", {"file_path": "key"}, here).decision is Decision.DENY


def test_hostile_arguments_never_crash_the_guard() -> None:
    strange: list[Given] = [
        {}, {"file_path": None}, {"file_path": 7}, {"file_path": ["a", "/etc/x"]}, {"file_path": {"path": "/etc/x"}},
        {"path": "x" * 100_000}, {"path": "\ud800"}, {"a": {"b": {"c": {"path": "/etc/x"}}}}, {"command": 3},
    ]  # fmt: skip
    for tool in ("Write", "Read", "Edit", "Bash", "apply_patch", "WebFetch", "mcp__x__y", "", "mcp__"):
        for given in strange:
            judge_tool(tool, given, WORKSPACE)
    assert judged("Write", {"file_path": ["a", "/etc/x"]}).decision is not Decision.ALLOW
    assert judged("Write", {"file_path": None}).decision is not Decision.ALLOW
