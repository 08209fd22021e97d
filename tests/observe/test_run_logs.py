"""`laneway run` finds the logs of its agent, and of nobody else, and counts in them what belongs to the run."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from laneway.clock import FakeClock
from laneway.observe.discovery import Found
from laneway.observe.supervised.arming import reactors_for
from laneway.observe.supervised.locate import Candidate, Locator, provider_of
from laneway.observe.supervised.order import Cause, Order
from laneway.observe.supervised.watching import Alarm, Watching
from tests.observe.runs import AGENT, Desk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
OLD = "11111111-2222-3333-4444-555555555555"


@pytest.mark.parametrize(
    ("command", "provider"),
    [
        (("claude", "-p", "ask gemini about pi"), "claude-code"),
        (("/usr/local/bin/codex", "exec"), "codex"),
        (("npx", "-y", "@google/gemini-cli@latest"), "gemini-cli"),
        (("npx", "@anthropic-ai/claude-code"), "claude-code"),
        (("env", "A=b", "opencode"), "opencode"),
        (("bash", "-c", "cd sub && codex exec 'x'"), "codex"),
        (("python", "agent.py", "claude"), None),
        ((), None),
    ],
)
def test_whose_agent_it_is_shows_in_the_command(command: tuple[str, ...], provider: str | None) -> None:
    assert provider_of(command) == provider


def test_an_agent_that_goes_to_a_sub_folder_is_found(desk: Desk) -> None:
    desk.run("--kill-on", "danger", "--", "claude", "cd:sub", "start", "danger", "wait", code=81)
    assert desk.report()["logs"] == [str(path) for path in desk.logs()]


def test_an_agent_that_moves_to_another_folder_is_found(desk: Desk) -> None:
    elsewhere = desk.root / "elsewhere"
    desk.run("--kill-on", "danger", "--", "claude", f"cd:{elsewhere}", "sleep:1", "start", "danger", "wait", code=81)


def test_an_agent_whose_name_says_nothing_is_found(desk: Desk) -> None:
    desk.run("--kill-on", "danger", "--", sys.executable, str(AGENT), desk.token, "start", "danger", "wait", code=81)


def test_a_log_folder_that_only_the_agent_was_told_of_is_found(desk: Desk) -> None:
    told = f"CLAUDE_CONFIG_DIR={desk.root}/other"
    desk.run("--kill-on", "danger", "--", "env", told, "claude", "sleep:1", "start", "danger", "wait", code=81)


def test_an_agent_of_another_provider_is_found(desk: Desk) -> None:
    lines = [
        {"type": "session_meta", "payload": {"id": "c1", "cwd": str(desk.folder), "cli_version": "1"}},
        {"type": "response_item", "payload": {"type": "function_call", "name": "shell", "call_id": "c",
                                              "arguments": json.dumps({"command": ["rm", "-rf", "/etc"]})}},
    ]  # fmt: skip
    (desk.root / "lines").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    script = (
        f"mkdir -p $CODEX_HOME/sessions; cat {desk.root}/lines > $CODEX_HOME/sessions/rollout-1.jsonl; exec sleep 600"
    )
    (desk.bin / "codex").write_text(f"#!/bin/sh\n{script} # {desk.token}\n", encoding="utf-8")
    (desk.bin / "codex").chmod(0o755)
    desk.run("--kill-on", "danger", "--", "codex", env={"CODEX_HOME": str(desk.root / "codex")}, code=81)
    assert desk.report()["evidence"]["provider"] == "codex"


def test_a_resumed_session_is_not_judged_for_what_it_did_before(desk: Desk) -> None:
    before(desk, f"resume:{OLD}", "start", "budget", "danger")
    ended = desk.run("--kill-on", "danger,budget", "--budget-tokens", "1000", "--report", "report.json", "--",
                     "claude", f"resume:{OLD}", "harmless", "sleep:1", "exit:0")  # fmt: skip
    assert "safety" not in ended.err
    report = json.loads((desk.folder / "report.json").read_text(encoding="utf-8"))
    assert report["tokens"]["total"] == 110
    assert len(report["logs"]) == 1


def test_a_resumed_session_is_judged_for_what_it_does_now(desk: Desk) -> None:
    before(desk, f"resume:{OLD}", "start", "harmless")
    desk.run("--kill-on", "danger", "--", "claude", f"resume:{OLD}", "danger", "wait", code=81)


def test_what_happens_in_another_folder_is_nobodys_business(desk: Desk) -> None:
    process = desk.start("--kill-on", "danger", "--report", "r.json", "--", "claude", "start", "note:on", "sleep:3")
    desk.noted("on")
    elsewhere = desk.root / "elsewhere"
    elsewhere.mkdir()
    before(desk, "start", "danger", cwd=elsewhere)
    assert process.wait(60) == 0
    assert len(json.loads((desk.folder / "r.json").read_text(encoding="utf-8"))["logs"]) == 1


def test_an_older_log_that_grows_is_not_ours_while_another_agent_works_here(desk: Desk) -> None:
    (desk.root / "twin").mkdir()
    twin = Path(desk.root / "twin" / "claude")
    # The kernel shows the name a program was started by.
    command = ["claude", str(AGENT), desk.token, f"resume:{OLD}", "start", "note:twin", "sleep:4", "danger", "wait"]
    twin.symlink_to(sys.executable)
    other = subprocess.Popen(command, executable=sys.executable, cwd=desk.folder, env=desk.environ)
    try:
        desk.noted("twin")
        process = desk.start("--kill-on", "danger", "--", "claude", "start", "sleep:6", "exit:5")
        assert process.wait(60) == 5
    finally:
        other.kill()
        other.wait()


def before(desk: Desk, *orders: str, cwd: Path | None = None) -> None:
    """Another agent has done this without us."""
    subprocess.run([str(desk.bin / "claude"), *orders], env=desk.environ, cwd=cwd or desk.folder, check=True)


class Watched:
    """A watching without its thread, on a clock that stands still."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.clock = FakeClock(datetime(2026, 1, 1, 12, tzinfo=UTC))
        self.logs = root / "codex" / "sessions"
        self.logs.mkdir(parents=True)
        self.claude = root / "claude" / "projects" / "p"
        self.claude.mkdir(parents=True)
        self.root, self.alarms = root, list[Alarm]()
        self._command, self._options = options.pop("command", ("agent",)), options

    def begin(self) -> Callable[[], None]:
        environ = {"HOME": str(self.root), "CODEX_HOME": str(self.root / "codex"),
                   "CLAUDE_CONFIG_DIR": str(self.root / "claude")}  # fmt: skip
        order = Order(self._command, self.root, environ, "run", **self._options)
        self.watching = Watching(order, Locator(order), reactors_for(order), self.alarms.append, self.clock)
        return lambda: self.watching.look(last=True)

    @property
    def total(self) -> int:
        return self.watching.whole.state.tokens.total


def counted(total: int) -> dict[str, Any]:
    usage = {"input_tokens": total, "output_tokens": 0, "total_tokens": total}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": usage}}}


def written(path: Path, *records: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def test_what_a_fork_copied_from_its_parent_is_not_spent_again(tmp_path: Path) -> None:
    watched = Watched(tmp_path, budget_tokens=1500)
    look = watched.begin()
    meta = {"type": "session_meta", "payload": {"id": "parent", "cwd": str(tmp_path)}}
    written(watched.logs / "rollout-parent.jsonl", meta, counted(500), counted(1000))
    look()
    assert watched.total == 1000
    fork = {"type": "session_meta", "payload": {"id": "child", "cwd": str(tmp_path), "forked_from_id": "parent"}}
    path = watched.logs / "rollout-child.jsonl"
    written(path, fork, counted(500), counted(1000))
    look()
    assert watched.total == 1000
    written(path, counted(1100))
    look()
    assert watched.total == 1100
    assert [alarm for alarm in watched.alarms if alarm.kills] == []
    written(path, counted(1600))
    look()
    assert [alarm.cause for alarm in watched.alarms if alarm.kills] == [Cause.BUDGET]


def answered(name: str, output: int, *blocks: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 0, "output_tokens": output}
    message = {"role": "assistant", "id": name, "model": "claude-sonnet-4-5", "content": list(blocks), "usage": usage}
    return {"type": "assistant", "sessionId": "s", "timestamp": "2026-01-01T12:00:00Z", "message": message}


RM = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "rm -rf /etc"}}


def test_a_log_that_is_written_anew_is_counted_and_judged_once(tmp_path: Path) -> None:
    watched = Watched(tmp_path, kill_on=frozenset({Cause.DANGER}))
    look = watched.begin()
    path = watched.claude / "s.jsonl"
    first = {**answered("m1", 100, RM), "cwd": str(tmp_path)}
    written(path, first, answered("m2", 50))
    look()
    assert (watched.total, [alarm.cause for alarm in watched.alarms]) == (150, [Cause.DANGER])
    path.unlink()
    written(path, first, answered("m3", 1))
    look()
    assert watched.total == 101
    assert len(watched.alarms) == 1


def test_the_calls_a_fork_copied_are_not_judged_again(tmp_path: Path) -> None:
    watched = Watched(tmp_path, kill_on=frozenset({Cause.DANGER}))
    arguments = json.dumps({"command": ["rm", "-rf", "/etc"]})
    call = {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": arguments}
    meta = {"type": "session_meta", "payload": {"id": "parent", "cwd": str(tmp_path)}}
    written(watched.logs / "rollout-parent.jsonl", meta, {"type": "response_item", "payload": call})
    look = watched.begin()
    fork = {"type": "session_meta", "payload": {"id": "child", "cwd": str(tmp_path), "forked_from_id": "parent"}}
    path = watched.logs / "rollout-child.jsonl"
    written(path, fork, {"type": "response_item", "payload": call})
    look()
    assert watched.alarms == []
    written(path, {"type": "response_item", "payload": {**call, "call_id": "c2"}})
    look()
    assert [alarm.cause for alarm in watched.alarms] == [Cause.DANGER]


def test_history_that_was_copied_into_a_new_log_is_not_judged_when_a_session_is_resumed(tmp_path: Path) -> None:
    watched = Watched(tmp_path, kill_on=frozenset({Cause.DANGER}), command=("agent", "--resume"))
    look = watched.begin()
    old = answered("m1", 100, RM) | {"cwd": str(tmp_path), "timestamp": "2025-12-31T00:00:00Z"}
    written(watched.claude / "s.jsonl", old)
    look()
    assert (watched.alarms, watched.total) == ([], 0)
    written(watched.claude / "s.jsonl", answered("m2", 1, {**RM, "id": "t2"}))
    look()
    assert [alarm.cause for alarm in watched.alarms] == [Cause.DANGER]


def test_a_log_without_a_folder_is_told_by_the_hash_in_its_path(tmp_path: Path) -> None:
    order = Order(("gemini",), tmp_path, {"HOME": str(tmp_path)}, "run")
    locator = Locator(order)
    ours, other = (hashlib.sha256(folder.encode()).hexdigest() for folder in (str(tmp_path), "/elsewhere"))
    for name, expected in ((ours, True), (other, False), ("a-slug", True)):
        path = tmp_path / ".gemini" / "tmp" / name / "chats" / "session-1.jsonl"
        found = Found("gemini-cli", path, datetime(2026, 1, 1, tzinfo=UTC), 1)
        assert locator.is_ours(Candidate(found, 0, False), "") is expected


def test_silence_is_noticed_by_the_clock_alone(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    look = watched.begin()
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}}
    written(watched.claude / "s.jsonl", {**answered("m1", 1, call), "cwd": str(tmp_path)})
    look()
    watched.clock.advance(59)
    watched.watching.tick()
    assert watched.alarms == []
    watched.clock.advance(3600)
    watched.watching.tick()
    watched.watching.tick()
    assert [alarm.said.reactor for alarm in watched.alarms] == ["stall"]
    assert not watched.alarms[0].kills


def test_a_model_without_a_price_is_named(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    look = watched.begin()
    unknown = answered("m1", 10)
    unknown["message"]["model"] = "nobody-knows-this-one"
    written(watched.claude / "s.jsonl", {**unknown, "cwd": str(tmp_path)})
    look()
    assert watched.watching.unpriced == {"nobody-knows-this-one"}
