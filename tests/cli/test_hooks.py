"""`laneway hooks`: an agent's settings are changed only where Laneway's hooks are, and can be as they were."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Server
from tests.cli.processes import Shell
from tests.cli.test_hook_call import PATIENTLY, call, decided

FILES = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
BEFORE = {"claude-code": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool"}
OTHERS = {
    "model": "opus",
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine hooks call claude-code"}]}],
        "BeforeTool": [{"matcher": "*", "hooks": [{"type": "command", "command": "also-mine", "timeout": 7}]}],
        "Stop": [],
        "Odd": "not a list",
    },
    "permissions": {"deny": ["Read(./.env)"], "ä": "ö"},
}


def put(shell: Shell, agent: str, text: str) -> Path:
    path = shell.folder / FILES[agent]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def commands(path: Path, event: str) -> list[str]:
    groups = json.loads(path.read_text())["hooks"][event]
    return [hook.get("command", hook.get("url")) for group in groups for hook in group["hooks"]]


@pytest.mark.parametrize(("agent", "indent"), [("claude-code", None), ("codex", 2), ("gemini", 4), ("codex", "\t")])
def test_other_settings_stay_and_come_back_byte_for_byte(shell: Shell, agent: str, indent: Any) -> None:
    text = json.dumps(OTHERS, indent=indent, ensure_ascii=indent == 4) + ("\n" if indent == 2 else "")
    path = put(shell, agent, text)
    path.chmod(0o640)
    shell.run("hooks", "install", "--agent", agent)
    installed = json.loads(path.read_text())
    event = BEFORE[agent]
    assert commands(path, event)[:-1] == [hook["hooks"][0]["command"] for hook in OTHERS["hooks"].get(event, [])]  # type: ignore[attr-defined]
    assert commands(path, event)[-1].endswith(f"laneway hooks call {agent} --home {shell.environ['LANEWAY_HOME']}")
    assert (installed["permissions"], installed["hooks"]["Odd"]) == (OTHERS["permissions"], "not a list")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    [backup] = path.parent.glob("*.laneway-backup-*")
    assert backup.read_text() == text
    assert "already" in shell.run("hooks", "install", "--agent", agent)
    assert len(list(path.parent.glob("*.laneway-backup-*"))) == 1
    shell.run("hooks", "uninstall", "--agent", agent)
    assert path.read_text() == text


def test_what_changed_since_stays_when_the_hooks_go(shell: Shell) -> None:
    path = put(shell, "claude-code", json.dumps(OTHERS, indent=2))
    shell.run("hooks", "install")
    tree = json.loads(path.read_text())
    tree["model"] = "haiku"
    tree["hooks"]["PreToolUse"][-1]["hooks"].append({"type": "command", "command": "added-beside-ours"})
    path.write_text(json.dumps(tree, indent=2))
    shell.run("hooks", "uninstall")
    left = json.loads(path.read_text())
    assert left["model"] == "haiku"
    assert commands(path, "PreToolUse") == ["mine hooks call claude-code", "added-beside-ours"]
    assert "laneway hooks call" not in path.read_text()


def test_a_dry_run_shows_the_difference_and_changes_nothing(shell: Shell) -> None:
    path = put(shell, "gemini", json.dumps(OTHERS, indent=2))
    shown = shell.run("hooks", "install", "--agent", "gemini", "--dry-run")
    assert any(line.startswith("+") and "hooks call gemini" in line for line in shown.splitlines())
    assert path.read_text() == json.dumps(OTHERS, indent=2)
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]
    assert not Path(shell.environ["LANEWAY_HOME"], "hooks-key").exists()
    shell.run("hooks", "install", "--agent", "gemini")
    installed = path.read_text()
    shown = shell.run("hooks", "uninstall", "--agent", "gemini", "--dry-run")
    assert any(line.startswith("-") and "hooks call gemini" in line for line in shown.splitlines())
    assert path.read_text() == installed


def test_a_file_that_cannot_be_understood_is_left_alone(shell: Shell) -> None:
    path = put(shell, "claude-code", "")
    cases = {
        "{": "not valid JSON", '{"a": 1,}': "not valid JSON", '// mine\n{"a": 1}': "comments", "[]": "no JSON object",
        '{"hooks": {}, "hooks": {"Stop": []}}': "stands twice", '{"hooks": []}': "no object",
        '{"hooks": {"Stop": {}}}': "no list", "\udcff": "UTF-8", "[" * 20_000: "not valid JSON",
    }  # fmt: skip
    for text, told in cases.items():
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        complaint = shell.ended("hooks", "install", code=2).stderr
        assert told in complaint
        assert "settings.json" in complaint or "agent's settings" in complaint
        assert path.read_bytes() == text.encode("utf-8", "surrogateescape")
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]


def test_a_link_to_the_settings_stays_a_link(shell: Shell) -> None:
    real = shell.folder / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text('{"model": "opus"}')
    (shell.folder / ".claude").mkdir()
    (shell.folder / ".claude" / "settings.json").symlink_to(real)
    shell.run("hooks", "install")
    assert (shell.folder / ".claude" / "settings.json").is_symlink()
    assert "hooks call claude-code" in real.read_text()
    shell.run("hooks", "uninstall")
    assert real.read_text() == '{"model": "opus"}'


def test_addresses_are_called_only_where_nothing_is_lost_by_it(shell: Shell) -> None:
    path = shell.folder / FILES["claude-code"]
    shell.run("hooks", "install", LANEWAY_HOOKS_KEY="lw_hooks_mine", LANEWAY_URL="http://127.0.0.1:8600/")
    assert commands(path, "PostToolUse") == ["http://127.0.0.1:8600/hooks/claude-code"]
    # When nobody answers, Claude Code goes on: a decision must not be asked for so.
    assert "hooks call claude-code" in commands(path, "PreToolUse")[0]
    assert "hooks call claude-code" in commands(path, "SessionStart")[0]
    assert "lw_hooks_mine" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    shell.run("hooks", "uninstall")
    assert not path.exists(), "nor was it there before"
    assert "There are no hooks" in shell.run("hooks", "uninstall")
    codex = shell.ended("hooks", "install", "--agent", "codex", "--transport", "http", code=2)
    assert "calls no address" in codex.stderr


def test_a_projects_hooks_stand_in_the_project(shell: Shell) -> None:
    for agent, name in {"claude-code": ".claude/settings.local.json", "codex": ".codex/hooks.json"}.items():
        shell.run("hooks", "install", "--agent", agent, "--scope", "project")
        assert f"hooks call {agent}" in (shell.folder / name).read_text()


def test_the_installed_command_asks_the_server_and_its_key_opens_nothing_else(server: Server) -> None:
    shell = server.shell
    shell.run("hooks", "install")
    shell.run("hooks", "install", "--agent", "codex")
    key = (server.home / "hooks-key").read_text().strip()
    assert stat.S_IMODE((server.home / "hooks-key").stat().st_mode) == 0o600
    assert "answers" in shell.run("hooks", "status")
    assert json.loads(shell.run("hooks", "status", "--json"))[2]["state"] == "none"
    printed = shell.run("hooks", "call", "claude-code", *PATIENTLY, typed=call("claude-code", "git push --force"))
    assert decided("claude-code", printed) == "ask"
    printed = shell.run("hooks", "call", "claude-code", *PATIENTLY, typed=call("claude-code", "git status"))
    assert decided("claude-code", printed) == "allow"
    denied = shell.ended("hooks", "call", "codex", *PATIENTLY, typed=call("codex", "rm -rf /"), code=2)
    assert decided("codex", denied.stdout) == "deny"
    assert denied.stderr.startswith("Denied by Laneway: ")
    shell.ended("threads", code=1, LANEWAY_KEY=key)
    wrong = shell.run("hooks", "call", "claude-code", *PATIENTLY, typed=call("claude-code"), LANEWAY_HOOKS_KEY="wrong")
    assert "does not accept" in wrong
