"""Sessions are found where each agent keeps them."""

from __future__ import annotations

import os
from pathlib import Path

from laneway.observe.discovery import discover
from tests.observe.claude_logs import user
from tests.observe.logs import log

PLACES = {
    "claude-code": (".claude/projects/-w/s.jsonl", ".config/claude/projects/-w/t.jsonl"),
    "codex": (".codex/sessions/2026/01/02/rollout-1.jsonl", ".codex/archived_sessions/rollout-2.jsonl.zst"),
    "gemini-cli": (".gemini/tmp/hash/chats/session-1.json", ".gemini/tmp/hash/chats/session-2.jsonl"),
    "copilot-cli": (".copilot/session-state/id/events.jsonl", ".copilot/session-state/old.jsonl"),
    "pi": (".pi/agent/sessions/--w--/1_id.jsonl",),
}
NO_SESSIONS = (
    ".claude/history.jsonl",
    ".claude/projects/-w/s/tool-results/big.jsonl",
    ".codex/history.jsonl",
    ".gemini/tmp/hash/logs.json",
)


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(log(user("hi")))
    return path


def test_every_agents_usual_folders_are_searched(tmp_path: Path) -> None:
    for places in (*PLACES.values(), NO_SESSIONS):
        for place in places:
            put(tmp_path / place)
    found = {(one.provider, str(one.path.relative_to(tmp_path))) for one in discover({"HOME": str(tmp_path)})}
    assert found == {(provider, place) for provider, places in PLACES.items() for place in places}
    only = discover({"HOME": str(tmp_path)}, "codex")
    assert {one.provider for one in only} == {"codex"}


def test_the_last_change_comes_first_sub_agents_are_marked_and_links_that_lead_back_end(tmp_path: Path) -> None:
    old, new = put(tmp_path / ".claude/projects/a/old.jsonl"), put(tmp_path / ".claude/projects/b/new.jsonl")
    side = put(tmp_path / ".claude/projects/b/new/subagents/agent-1.jsonl")
    for moment, path in enumerate((old, side, new)):
        os.utime(path, (moment, moment))
    (tmp_path / ".claude/projects/b/loop").symlink_to(tmp_path / ".claude/projects")
    found = [(one.path, one.side) for one in discover({"HOME": str(tmp_path)})]
    assert found == [(new, False), (side, True), (old, False)]


def test_the_plain_log_wins_while_it_is_being_compressed(tmp_path: Path) -> None:
    plain = put(tmp_path / ".codex/sessions/rollout-1.jsonl")
    put(plain.with_name("rollout-1.jsonl.zst"))
    assert [one.path for one in discover({"HOME": str(tmp_path)})] == [plain]
