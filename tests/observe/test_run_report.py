"""What `laneway run` leaves behind: the reason, the evidence, the open call, the changes, the money, the survivors."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from laneway.domain.session import EventKind, SessionEvent
from laneway.observe.supervised.order import Cause
from laneway.observe.supervised.report import RunReport, write
from laneway.observe.supervised.tree import Process
from laneway.observe.supervised.worktree import changes, commit_of
from laneway.reactors.audit_logger import entries_in, file_checked
from tests.observe.runs import Desk
from tests.servers.loopback import Loopback

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    """One file has been committed in the folder."""
    git(folder, "init", "-q")
    (folder / "kept.txt").write_text("one\n", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def test_the_report_says_all_there_is_to_know(desk: Desk) -> None:
    repository(desk.folder)
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


def test_a_report_that_is_asked_for_is_written_though_nothing_was_wrong(desk: Desk) -> None:
    # The folder's own settings are not read, since the agent can write them.
    (desk.folder / ".env").write_text("LANEWAY_REACTORS=/nowhere\nLANEWAY_NO_SUCH=1\n", encoding="utf-8")
    desk.run("--report", "reports/report.txt", "--", "claude", "start", "exit:0")
    assert (desk.folder / "reports" / "report.txt").read_text(encoding="utf-8").startswith("Run ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--kill-on", "dangre"), "--kill-on knows no dangre."),
        (("--report", "/dev/null/report"), "Error: The report cannot be written to /dev/null/report"),
    ],
)
def test_what_cannot_be_done_is_said_before_the_agent_runs(desk: Desk, words: tuple[str, str], said: str) -> None:
    assert said in desk.run(*words, "--", "claude", "start", code=2).err
    assert desk.logs() == []


def test_a_reactor_of_the_persons_own_ends_a_run_with_a_code_of_its_own(desk: Desk) -> None:
    folder = desk.root / "laneway" / "reactors"
    folder.mkdir(parents=True, mode=0o755)
    (folder / "mine.toml").write_text('[[rule]]\nname = "mine"\ntool = "Bash"\ndo = "kill"', encoding="utf-8")
    (folder / "mine.toml").chmod(0o644)
    desk.run("--", "claude", "start", "harmless", "wait", code=85)
    assert desk.report()["reactor"] == "mine"
    # Whoever says what may end it has to name it.
    words = ("--kill-on", "danger", "--max-minutes", "0.05", "--", "claude", "start", "harmless", "wait")
    ended = desk.run(*words, code=84)
    assert "mine" in ended.err
    desk.run("--kill-on", "reactor", "--", "claude", "start", "harmless", "wait", code=85)


def test_an_agent_that_is_ended_is_told_of_by_webhook_once_and_put_down_in_a_chain_of_hashes(desk: Desk) -> None:
    got: list[dict[str, str]] = []

    async def refuse(request: Request) -> Response:
        got.append(json.loads(await request.body()))
        return JSONResponse({}, 400)

    audit = desk.root / "audit.jsonl"
    with Loopback(Starlette(routes=[Route("/hook", refuse, methods=["POST"])])) as server:
        # That the webhook refuses it changes no exit code.
        words = ("--kill-on", "danger", "--", "claude", "start", "harmless", "danger", "wait")
        desk.run("--audit", str(audit), *words, code=81, env={"LANEWAY_NOTIFY_WEBHOOK": f"{server.url}/hook"})
    [told] = got
    assert (told["severity"], told["provider"], told["folder"]) == ("kill", "claude-code", str(desk.folder))
    assert "rm -rf" in told["reason"] or "/etc" in told["reason"]
    # Calls that can change something are audited.
    [entry] = list(entries_in(audit))
    assert entry.what == "tool.started"
    assert "rm -rf" in entry.body
    assert file_checked(audit).broken is None


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


def test_changes_are_those_since_the_commit_of_the_start_even_if_the_agent_committed(tmp_path: Path) -> None:
    below = tmp_path / "tree" / "sub"
    below.mkdir(parents=True)
    assert commit_of(below) is None
    assert changes(below, None) is None
    tree = repository(below.parent)
    base = commit_of(below)
    (tree / "kept.txt").write_text("two\n", encoding="utf-8")
    git(tree, "commit", "-qam", "second")
    (tree / "new.txt").write_text("new\n", encoding="utf-8")
    found = changes(below, base)
    assert found is not None
    assert "kept.txt" in found.stat[0]
    assert found.untracked == ["new.txt"]
    for number in range(300):
        (tree / f"n{number}").touch()
    found = changes(tree, base)
    assert found is not None
    assert (len(found.untracked), found.cut) == (200, True)


def test_looking_at_a_work_tree_runs_nothing_that_it_asks_for(tmp_path: Path) -> None:
    tree, trap = tmp_path / "tree", f"touch {tmp_path}/trapped"
    tree.mkdir()
    base = commit_of(repository(tree))
    git(tree, "config", "diff.external", f"{trap}; cat")
    git(tree, "config", "core.fsmonitor", trap)
    hook = tree / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\n{trap}\n", encoding="utf-8")
    hook.chmod(0o755)
    (tree / "kept.txt").write_text("changed\n", encoding="utf-8")
    for name in ("x", "a=b", 'q"q'):
        for setting in ("clean", "process", "smudge"):
            git(tree, "config", f"filter.{name}.{setting}", f"{trap}; cat")
        for setting in ("textconv", "command"):
            git(tree, "config", f"diff.{name}.{setting}", f"{trap}; cat")
        quoted = name.replace('"', "")
        (tree / ".gitattributes").write_text(f"* filter={quoted} diff={quoted}\n", encoding="utf-8")
        found = changes(tree, base)
        assert found is not None
        assert "kept.txt" in found.stat[0]
        assert not (tmp_path / "trapped").exists(), name
