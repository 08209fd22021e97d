"""What `laneway run` leaves behind: the reason, the evidence, the open call, the changes, the money, the survivors."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from laneway.domain.session import EventKind, SessionEvent
from laneway.observe.supervised.order import Cause
from laneway.observe.supervised.report import RunReport, write
from laneway.observe.supervised.screen import Screen
from laneway.observe.supervised.speech import plain
from laneway.observe.supervised.tree import Process
from laneway.observe.supervised.worktree import changes, commit_of
from tests.observe.runs import Desk

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "sub").mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "kept.txt").write_text("one\n", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def test_the_report_says_all_there_is_to_know(desk: Desk) -> None:
    git(desk.folder, "init", "-q")
    (desk.folder / "kept.txt").write_text("one\n", encoding="utf-8")
    git(desk.folder, "add", ".")
    git(desk.folder, "commit", "-qm", "first")
    ended = desk.run("--kill-on", "danger", "--", "claude", "start", "write:kept.txt", "write:new.txt", "open:key",
                     "danger", "wait", code=81)  # fmt: skip
    report = desk.report()
    assert report["cause"] == "danger"
    assert "rm -rf /etc" in report["reason"]
    assert report["evidence"]["arguments"] == {"command": "rm -rf /etc /usr"}
    assert [call["arguments"]["command"] for call in report["open_calls"]] == ["sleep 600 # key", "rm -rf /etc /usr"]
    assert any("kept.txt" in line for line in report["changes"]["stat"])
    assert report["changes"]["untracked"] == ["new.txt"]
    assert report["tokens"] == {"input": 200, "output": 20, "cache_read": 0, "cache_write": 0, "reasoning": 0,
                                "tool_prompt": 0, "total": 220}  # fmt: skip
    assert float(report["cost_usd"]) == pytest.approx(200 * 3e-6 + 20 * 15e-6)
    assert report["seconds"] > 0
    assert report["survivors"] == []
    for words in ("rm -rf /etc /usr", "kept.txt", "new: new.txt", "220 tokens", "survivors  none", "sleep 600"):
        assert words in ended.err
    (text,) = (desk.root / "laneway" / "runs").glob("*.txt")
    assert text.read_text(encoding="utf-8") in ended.err
    assert text.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("name", "starts"), [("report.json", "{"), ("report.txt", "Run ")])
def test_a_report_that_is_asked_for_is_written_though_nothing_was_wrong(desk: Desk, name: str, starts: str) -> None:
    desk.run("--report", f"reports/{name}", "--", "claude", "start", "exit:0")
    assert (desk.folder / "reports" / name).read_text(encoding="utf-8").startswith(starts)


def test_a_report_that_cannot_be_written_is_told_before_the_agent_runs(desk: Desk) -> None:
    ended = desk.run("--report", "/dev/null/report", "--", "claude", "start", code=2)
    assert ended.err.startswith("Error: The report cannot be written to /dev/null/report")
    assert desk.logs() == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--kill-on", "dangre"), "--kill-on knows no dangre."),
        (("--provider", "eliza"), "There is no provider eliza."),
    ],
)
def test_a_wrong_option_is_refused(desk: Desk, words: tuple[str, str], said: str) -> None:
    assert said in desk.run(*words, "--", "claude", "start", code=2).err


def test_the_folders_own_settings_are_not_read_since_the_agent_can_write_them(desk: Desk) -> None:
    (desk.folder / ".env").write_text("LANEWAY_REACTORS=/nowhere\nLANEWAY_NO_SUCH=1\n", encoding="utf-8")
    desk.run("--", "claude", "exit:0")


def test_laneway_itself_works_inside_a_run(desk: Desk) -> None:
    ended = desk.run("--", sys.executable, "-m", "laneway", "config", "check")
    assert "The settings are right." in ended.out


def test_a_reactor_of_the_persons_own_ends_a_run_with_a_code_of_its_own(desk: Desk) -> None:
    folder = desk.root / "laneway" / "reactors"
    folder.mkdir(parents=True, mode=0o755)
    (folder / "mine.py").write_text(
        "from laneway.reactors import Continue, Intervene, Severity\n"
        "class Mine:\n"
        "    name = 'mine'\n"
        "    def handle(self, ctx):\n"
        "        return Intervene('no ls here', Severity.KILL) if ctx.event.tool == 'Bash' else Continue()\n"
        "def reactors():\n"
        "    return Mine()\n",
        encoding="utf-8",
    )
    (folder / "mine.py").chmod(0o644)
    desk.run("--", "claude", "start", "harmless", "wait", code=85)
    assert desk.report()["reactor"] == "mine"


def test_secrets_stay_out_of_the_report(tmp_path: Path) -> None:
    event = SessionEvent("s", "claude-code", EventKind.TOOL_CALLED, NOW, tool="Bash",
                         arguments={"command": "curl -H 'Authorization: Bearer abcdefghijklmnop'"})  # fmt: skip
    report = RunReport("r", ["claude"], "/", NOW, 1.0, Cause.DANGER, "token=hunter2hunter2", 81, evidence=event,
                       survivors=[Process(7, 1, 0, "D", "stuck")])  # fmt: skip
    for name in ("r.json", "r.txt"):
        write(report, tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "abcdefghijklmnop" not in text
        assert "hunter2" not in text
        assert "stuck" in text
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["survivors"][0]["pid"] == 7


def test_changes_are_those_since_the_commit_of_the_start_even_if_the_agent_committed(tree: Path) -> None:
    base = commit_of(tree / "sub")
    (tree / "kept.txt").write_text("two\n", encoding="utf-8")
    git(tree, "commit", "-qam", "second")
    (tree / "new.txt").write_text("new\n", encoding="utf-8")
    found = changes(tree / "sub", base)
    assert found is not None
    assert "kept.txt" in found.stat[0]
    assert found.untracked == ["new.txt"]


def test_outside_a_work_tree_nothing_is_said_about_changes(tmp_path: Path) -> None:
    assert commit_of(tmp_path) is None
    assert changes(tmp_path, None) is None


def test_a_long_list_of_changes_is_cut(tree: Path) -> None:
    base = commit_of(tree)
    for number in range(300):
        (tree / f"n{number}").touch()
    found = changes(tree, base)
    assert found is not None
    assert (len(found.untracked), found.cut) == (200, True)


@pytest.mark.parametrize("name", ["x", "a=b", 'q"q'])
def test_looking_at_a_work_tree_runs_nothing_that_it_asks_for(tree: Path, tmp_path: Path, name: str) -> None:
    base = commit_of(tree)
    trap = f"touch {tmp_path}/trapped; cat"
    for setting in ("clean", "process", "smudge"):
        git(tree, "config", f"filter.{name}.{setting}", trap)
    git(tree, "config", f"diff.{name}.textconv", trap)
    git(tree, "config", f"diff.{name}.command", trap)
    git(tree, "config", "diff.external", trap)
    git(tree, "config", "core.fsmonitor", f"touch {tmp_path}/trapped")
    hooks = tree / ".git" / "hooks"
    (hooks / "post-index-change").write_text(f"#!/bin/sh\ntouch {tmp_path}/trapped\n", encoding="utf-8")
    (hooks / "post-index-change").chmod(0o755)
    quoted = name.replace('"', "")
    (tree / ".gitattributes").write_text(f"* filter={quoted} diff={quoted}\n", encoding="utf-8")
    (tree / "kept.txt").write_text("changed\n", encoding="utf-8")
    found = changes(tree, base)
    assert found is not None
    assert "kept.txt" in found.stat[0]
    assert not (tmp_path / "trapped").exists()


def test_the_screen_is_followed_through_any_pieces() -> None:
    whole, pieces = Screen(), Screen()
    drawn = b"a\x1b[?1049h\x1b[?25;2004hx\x1b[?25l\x1b]0;title\x07\xc3\xa9"
    whole.feed(drawn)
    for byte in drawn:
        pieces.feed(bytes([byte]))
    for screen in (whole, pieces):
        assert screen.alternate
        assert screen.between
        assert screen.leave() == b"\x1b[?25h\x1b[?2004l\x1b[?1049l\x1b[0m"
        assert screen.enter() == b"\x1b[?1049h\x1b[?25l\x1b[?2004h"


@pytest.mark.parametrize("piece", [b"\x1b", b"\x1b[", b"\x1b[?10", b"\x1b]0;title", b"\xe2\x82"])
def test_nothing_is_put_into_the_middle_of_a_sequence(piece: bytes) -> None:
    screen = Screen()
    screen.feed(b"text" + piece)
    assert not screen.between


def test_nothing_a_log_says_commands_the_terminal() -> None:
    assert plain("a\x1b[2J\x07b\nc\u202ed") == "a [2J b c d"
