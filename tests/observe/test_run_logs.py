"""`laneway run` finds the logs of its agent, and of nobody else, and counts in them what belongs to the run."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from laneway.clock import FakeClock
from laneway.observe.supervised.arming import reactors_for
from laneway.observe.supervised.locate import Locator, provider_of
from laneway.observe.supervised.order import Cause, Order
from laneway.observe.supervised.watching import Alarm, Watching
from tests.observe.claude_logs import answer, used
from tests.observe.codex_logs import count, item, meta, spent
from tests.observe.logs import Json, log
from tests.observe.runs import AGENT, Desk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
OLD = "11111111-2222-3333-4444-555555555555"


COMMANDS = {
    "/usr/local/bin/codex exec": "codex",
    "npx -y @google/gemini-cli@latest": "gemini-cli",
    "npx @anthropic-ai/claude-code": "claude-code",
    "env A=b opencode": "opencode",
    "python agent.py claude": None,
    "": None,
}


def test_whose_agent_it_is_shows_in_the_command() -> None:
    assert {command: provider_of(command.split()) for command in COMMANDS} == COMMANDS
    assert provider_of(("claude", "-p", "ask gemini about pi")) == "claude-code"
    assert provider_of(("bash", "-c", "cd sub && codex exec 'x'")) == "codex"


@pytest.mark.parametrize(
    "command",
    ["claude cd:sub", "{python} {agent} {token} cd:{root}/elsewhere", "env CLAUDE_CONFIG_DIR={root}/other claude"],
)
def test_an_agent_is_found_by_its_folder_whatever_it_is_called_and_wherever_it_keeps_its_logs(
    desk: Desk, command: str
) -> None:
    words = command.format(python=sys.executable, agent=AGENT, token=desk.token, root=desk.root).split()
    desk.run("--kill-on", "danger", "--", *words, "start", "danger", "wait", code=81)
    assert desk.report()["logs"] == [str(path) for path in desk.root.rglob("*.jsonl")]


def test_a_resumed_session_is_judged_for_what_it_does_now_and_not_for_what_it_did_before(desk: Desk) -> None:
    before(desk, f"resume:{OLD}", "start", "budget", "danger")
    options = ("--kill-on", "danger,budget", "--budget-tokens", "1000")
    desk.run(*options, "--", "claude", f"resume:{OLD}", "harmless", "danger", "wait", code=81)
    report = desk.report()
    assert (report["cause"], report["tokens"]["total"], len(report["logs"])) == ("danger", 220, 1)


def test_the_logs_of_agents_that_nobody_started_here_are_nobodys_business(desk: Desk) -> None:
    """One in another folder, and one in this folder whose older log grows."""
    elsewhere, twin = desk.root / "elsewhere", desk.root / "claude-twin" / "claude"
    for folder in (elsewhere, twin.parent):
        folder.mkdir()
    # The kernel shows the name a program was started by.
    twin.symlink_to(sys.executable)
    orders = (f"resume:{OLD}", "start", "note:twin", "until:go", "danger", "note:twin-done", "wait")
    other = subprocess.Popen(["claude", str(AGENT), desk.token, *orders], executable=sys.executable, cwd=desk.folder,
                             env=desk.environ)  # fmt: skip
    try:
        desk.noted("twin")
        words = ("--kill-on", "danger", "--report", "r.json", "--", "claude", "start", "note:on", "until:end", "exit:5")
        process = desk.start(*words)
        desk.noted("on")
        before(desk, "start", "danger", cwd=elsewhere)
        (desk.folder / "go").touch()
        desk.noted("twin-done")
        # When the agent has ended, all logs are looked at once more.
        (desk.folder / "end").touch()
        assert process.wait(60) == 5
    finally:
        other.kill()
        other.wait()
    assert len(json.loads((desk.folder / "r.json").read_text(encoding="utf-8"))["logs"]) == 1


def before(desk: Desk, *orders: str, cwd: Path | None = None) -> None:
    """Another agent has done this without us."""
    subprocess.run([str(desk.bin / "claude"), *orders], env=desk.environ, cwd=cwd or desk.folder, check=True)


class Watched:
    """A watching without its thread, on a clock that stands still."""

    def __init__(self, root: Path, *command: str, **options: Any) -> None:
        self.logs, self.claude = root / "codex" / "sessions", root / "claude" / "projects" / "p"
        for folder in (self.logs, self.claude):
            folder.mkdir(parents=True)
        self._alarms, self._order = list[Alarm](), Order(
            command or ("agent",), root,
            {"HOME": str(root), "CODEX_HOME": str(root / "codex"), "CLAUDE_CONFIG_DIR": str(root / "claude")}, "run",
            **{"kill_on": frozenset({Cause.DANGER})} | options,
        )  # fmt: skip

    def begin(self) -> None:
        clock = FakeClock(datetime(2026, 1, 1, 12, tzinfo=UTC))
        order = self._order
        self.watching = Watching(order, Locator(order), reactors_for(order), self._alarms.append, clock)

    def look(self) -> tuple[int, list[Cause]]:
        """The tokens that are counted by now, and why the run was to be ended by now."""
        self.watching.look(last=True)
        return self.watching.whole.state.tokens.total, [alarm.cause for alarm in self._alarms if alarm.kills]


def written(path: Path, *records: Json) -> None:
    with path.open("ab") as file:
        file.write(log(*records))


def shell(call: str, *command: str) -> Json:
    return item("function_call", name="shell", call_id=call, arguments=json.dumps({"command": command}))


def counted(total: int) -> Json:
    return count(spent(total, 0))


def test_what_a_fork_copied_from_its_parent_is_not_spent_and_not_judged_again(tmp_path: Path) -> None:
    watched = Watched(tmp_path, kill_on=frozenset(Cause), budget_tokens=1500)
    parent, path = watched.logs / "rollout-parent.jsonl", watched.logs / "rollout-child.jsonl"
    written(parent, meta("parent", cwd=str(tmp_path)), shell("c1", "rm", "-rf", "/etc"))
    watched.begin()
    written(parent, counted(500), counted(1000))
    assert watched.look() == (1000, [])
    written(path, meta("child", cwd=str(tmp_path), forked_from_id="parent"), shell("c1", "rm", "-rf", "/etc"))
    written(path, counted(500), counted(1000))
    assert watched.look() == (1000, [])
    written(path, counted(1100))
    assert watched.look() == (1100, [])
    written(path, counted(1600))
    assert watched.look() == (1600, [Cause.BUDGET])
    written(path, shell("c2", "rm", "-rf", "/etc"))
    assert watched.look() == (1600, [Cause.BUDGET, Cause.DANGER])


def answered(name: str, output: int, *blocks: Json, at: str = "2026-01-01T12:00:00Z", **more: Any) -> Json:
    return answer(name, list(blocks), used(0, output), timestamp=at, **more)


RM = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "rm -rf /etc"}}


def test_a_log_that_is_written_anew_is_counted_and_judged_once(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.begin()
    path, first = watched.claude / "s.jsonl", answered("m1", 100, RM, cwd=str(tmp_path))
    written(path, first, answered("m2", 50))
    assert watched.look() == (150, [Cause.DANGER])
    assert watched.watching.unpriced == {"claude-x"}
    path.unlink()
    written(path, first, answered("m3", 1))
    assert watched.look() == (101, [Cause.DANGER])


def test_history_that_was_copied_into_a_new_log_is_not_judged_when_a_session_is_resumed(tmp_path: Path) -> None:
    watched = Watched(tmp_path, "agent", "--resume")
    watched.begin()
    path = watched.claude / "s.jsonl"
    written(path, answered("m1", 100, RM, at="2025-12-31T00:00:00Z", cwd=str(tmp_path)))
    assert watched.look() == (0, [])
    written(path, answered("m2", 1, {**RM, "id": "t2"}))
    assert watched.look() == (1, [Cause.DANGER])
