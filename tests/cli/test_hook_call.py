"""The command an agent's hook runs: whatever happens to the server, the agent gets an answer it understands."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.processes import Shell, free_port

PATIENTLY = ("--seconds", "30")
"""An agent waits three; here it is not about how quickly somebody answers."""
BEFORE = {"claude-code": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool"}


def call(agent: str, command: str = "git status", **more: Any) -> str:
    body = {"hook_event_name": BEFORE[agent], "session_id": "s1", "cwd": "/srv/app", "tool_name": "Bash"}
    return json.dumps(body | {"tool_input": {"command": command}} | more)


def decided(agent: str, printed: str) -> str:
    """What the answer decides, in the agent's own words; empty if it leaves it to the agent."""
    answer = json.loads(printed)
    if agent == "gemini":
        return str(answer.get("decision", ""))
    return str(answer.get("hookSpecificOutput", {}).get("permissionDecision", ""))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "hooks-key").write_text("lw_hooks_secret-of-this-test\n")
    return folder


@contextmanager
def answering(status: int, body: bytes, seconds: float = 0) -> Iterator[str]:
    """Something that answers every request so, while the block lasts."""
    gone = threading.Event()

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            gone.wait(seconds)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        gone.set()
        server.shutdown()
        server.server_close()
        thread.join()


EXPECTED = {
    ("claude-code", "ask"): ("ask", 0), ("claude-code", "allow"): ("", 0), ("claude-code", "deny"): ("deny", 2),
    ("codex", "ask"): ("deny", 2), ("codex", "allow"): ("", 0), ("codex", "deny"): ("deny", 2),
    ("gemini", "ask"): ("ask", 0), ("gemini", "allow"): ("", 0), ("gemini", "deny"): ("deny", 2),
}  # fmt: skip


@pytest.mark.parametrize(("agent", "rule"), EXPECTED)
def test_while_nobody_answers_the_setting_decides(shell: Shell, home: Path, agent: str, rule: str) -> None:
    decision, code = EXPECTED[agent, rule]
    nobody = f"http://127.0.0.1:{free_port()}"
    ended = shell.ended(
        "hooks",
        "call",
        agent,
        "--home",
        str(home),
        "--when-down",
        rule,
        typed=call(agent),
        code=code,
        LANEWAY_URL=nobody,
    )
    assert decided(agent, ended.stdout) == decision
    assert "cannot be reached" in ended.stdout
    # Exit code 2 counts with every agent, and the reason for it is read from standard error.
    assert bool(ended.stderr.strip()) is (code == 2)


def test_without_a_word_about_it_the_user_is_asked(shell: Shell, home: Path) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    printed = shell.run(
        "hooks", "call", "claude-code", "--home", str(home), typed=call("claude-code"), LANEWAY_URL=nobody
    )
    assert decided("claude-code", printed) == "ask"
    codex = shell.run(
        "hooks", "call", "codex", "--home", str(home), "--cannot-ask", "leave", typed=call("codex"), LANEWAY_URL=nobody
    )
    assert decided("codex", codex) == ""
    assert "not judged" in json.loads(codex)["systemMessage"]


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (500, b"{}", "answered with 500"), (503, b"", "answered with 503"), (401, b"{}", "does not accept"),
        (403, b"{}", "does not accept"), (200, b"<html>", "is not Laneway"), (200, b"[]", "is not Laneway"),
        (302, b"", "answered with 302"),
    ],
)  # fmt: skip
def test_a_wrong_answer_is_none(shell: Shell, home: Path, status: int, body: bytes, told: str) -> None:
    with answering(status, body) as url:
        printed = shell.run(
            "hooks", "call", "claude-code", "--home", str(home), *PATIENTLY, typed=call("claude-code"), LANEWAY_URL=url
        )
        denied = shell.ended(
            "hooks", "call", "gemini", "--home", str(home), *PATIENTLY, "--when-down", "deny", typed=call("gemini"),
            code=2, LANEWAY_URL=url,
        )  # fmt: skip
    assert decided("claude-code", printed) == "ask"
    assert told in printed
    assert told in denied.stderr
    assert "secret-of-this-test" not in printed + denied.stdout + denied.stderr


def test_a_slow_server_is_not_waited_for(shell: Shell, home: Path) -> None:
    with answering(200, b"{}", seconds=30) as url:
        printed = shell.run(
            "hooks", "call", "claude-code", "--home", str(home), "--seconds", "0.3", typed=call("claude-code"),
            LANEWAY_URL=url,
        )  # fmt: skip
    assert decided("claude-code", printed) == "ask"
    assert "within 0.3 s" in printed


@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "SessionStart", "SomethingNew"])
def test_events_that_wait_for_no_decision_stop_nobody(shell: Shell, home: Path, event: str) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    body = json.dumps({"hook_event_name": event, "session_id": "s1"})
    printed = shell.run(
        "hooks", "call", "claude-code", "--home", str(home), "--when-down", "deny", typed=body, LANEWAY_URL=nobody
    )
    assert json.loads(printed) == {}


@pytest.mark.parametrize("typed", ["", "{", "[]", '{"hook_event_name": 7}', "[" * 50_000])
def test_input_nobody_can_read_counts_as_a_call_that_waits(shell: Shell, home: Path, typed: str) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    printed = shell.run("hooks", "call", "claude-code", "--home", str(home), typed=typed, LANEWAY_URL=nobody)
    assert decided("claude-code", printed) == "ask"


@pytest.mark.parametrize(
    "arguments", [[], ["cursor"], ["codex", "--when-down"], ["codex", "--when-down", "maybe"], ["codex", "-x", "y"]]
)
def test_a_misspelled_hook_is_a_fault_that_denies_nothing(shell: Shell, arguments: list[str]) -> None:
    assert shell.ended("hooks", "call", *arguments, code=1).stderr.startswith("Usage: laneway hooks call")


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1", "http://", "http://a b", "http://u:p@h", "http://h:x"])
def test_a_wrong_address_is_said(shell: Shell, home: Path, url: str) -> None:
    printed = shell.run("hooks", "call", "claude-code", "--home", str(home), typed=call("claude-code"), LANEWAY_URL=url)
    assert decided("claude-code", printed) == "ask"
    assert "LANEWAY_URL" in printed


def test_only_the_quickest_of_the_standard_library_is_imported(home: Path) -> None:
    code = (
        "import sys; sys.argv = ['laneway', 'hooks', 'call', 'claude-code', '--home', sys.argv[1]]\n"
        "import atexit; atexit.register(lambda: print(' '.join(sys.modules), file=sys.stderr))\n"
        "from laneway.cli import main; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(home)], input=call("claude-code"), text=True, capture_output=True, check=False,
        env={"LANEWAY_URL": f"http://127.0.0.1:{free_port()}"},
    )  # fmt: skip
    modules = set(ended.stderr.split())
    assert "laneway.cli.hook_call" in modules
    assert not modules & {"typer", "pydantic", "httpx", "http.client", "dataclasses", "asyncio", "urllib.request"}
    ours = {name for name in modules if name.startswith("laneway")}
    assert ours == {
        "laneway", "laneway.cli", "laneway.cli.hook_call", "laneway.observe", "laneway.observe.hooks",
        "laneway.observe.hooks.answers",
    }  # fmt: skip
