"""The command an agent's hook runs: whatever happens to the server, the agent gets an answer it understands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tests.cli.processes import Shell, free_port
from tests.servers.loopback import Loopback, rest

PATIENTLY = ("--seconds", "30")
"""An agent waits three; here it is not about how quickly somebody answers."""
BEFORE = {"claude-code": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool"}


def call(agent: str, command: str = "git status") -> str:
    body = {"hook_event_name": BEFORE[agent], "session_id": "s1", "cwd": "/srv/app", "tool_name": "Bash"}
    return json.dumps(body | {"tool_input": {"command": command}})


def decided(agent: str, printed: str) -> str:
    """What the answer decides, in the agent's own words; empty if it leaves it to the agent."""
    answer = json.loads(printed)
    if agent == "gemini":
        return str(answer.get("decision", ""))
    return str(answer.get("hookSpecificOutput", {}).get("permissionDecision", ""))


@pytest.fixture
def shell(shell: Shell) -> Shell:
    """A shell with the key of the hooks, whose commands find nobody who answers."""
    home = shell.folder / "home"
    home.mkdir()
    (home / "hooks-key").write_text("lw_hooks_secret-of-this-test\n")
    return Shell(shell.folder, {**shell.environ, "LANEWAY_URL": f"http://127.0.0.1:{free_port()}"})


def called(
    shell: Shell, agent: str, *arguments: str, typed: str | None = None, code: int = 0, **environ: str
) -> subprocess.CompletedProcess[str]:
    """All that the hook's command said to this agent."""
    home = str(shell.folder / "home")
    typed = call(agent) if typed is None else typed
    return shell.ended("hooks", "call", agent, "--home", home, *arguments, typed=typed, code=code, **environ)


@contextmanager
def answering(status: int, body: bytes, seconds: float = 0) -> Iterator[str]:
    """Something that answers every request so, while the block lasts."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await rest(seconds, receive)
        await Response(body, status)(scope, receive, send)

    with Loopback(answer, lifespan="off") as server:
        yield server.url


def test_while_nobody_answers_the_setting_decides(shell: Shell) -> None:
    expected = {
        ("claude-code", "ask"): ("ask", 0), ("claude-code", "allow"): ("", 0), ("claude-code", "deny"): ("deny", 2),
        ("codex", "ask"): ("deny", 2), ("codex", "allow"): ("", 0), ("codex", "deny"): ("deny", 2),
        ("gemini", "ask"): ("ask", 0), ("gemini", "allow"): ("", 0), ("gemini", "deny"): ("deny", 2),
    }  # fmt: skip
    for (agent, rule), (decision, code) in expected.items():
        ended = called(shell, agent, "--when-down", rule, code=code)
        assert decided(agent, ended.stdout) == decision, (agent, rule)
        assert "cannot be reached" in ended.stdout
        # Exit code 2 counts with every agent, and the reason for it is read from standard error.
        assert bool(ended.stderr.strip()) is (code == 2)


def test_without_a_word_about_it_the_user_is_asked(shell: Shell) -> None:
    assert decided("claude-code", called(shell, "claude-code").stdout) == "ask"
    codex = called(shell, "codex", "--cannot-ask", "leave").stdout
    assert decided("codex", codex) == ""
    assert "not judged" in json.loads(codex)["systemMessage"]
    # What nobody can read counts as a call that waits.
    for typed in ("", "{", "[]", '{"hook_event_name": 7}', "[" * 50_000):
        assert decided("claude-code", called(shell, "claude-code", typed=typed).stdout) == "ask", typed[:50]


def test_a_wrong_answer_is_none(shell: Shell) -> None:
    for status, body, told in (
        (500, b"{}", "answered with 500"), (401, b"{}", "does not accept"), (403, b"{}", "does not accept"),
        (200, b"<html>", "is not Laneway"), (200, b"[]", "is not Laneway"), (302, b"", "answered with 302"),
    ):  # fmt: skip
        with answering(status, body) as url:
            asked = called(shell, "claude-code", *PATIENTLY, LANEWAY_URL=url)
            denied = called(shell, "gemini", *PATIENTLY, "--when-down", "deny", code=2, LANEWAY_URL=url)
        assert decided("claude-code", asked.stdout) == "ask"
        assert told in asked.stdout
        assert told in denied.stderr
        assert "secret-of-this-test" not in f"{asked} {denied}"


def test_a_slow_server_is_not_waited_for(shell: Shell) -> None:
    with answering(200, b"{}", seconds=30) as url:
        printed = called(shell, "claude-code", "--seconds", "0.1", LANEWAY_URL=url).stdout
    assert decided("claude-code", printed) == "ask"
    assert "within 0.1 s" in printed


def test_events_that_wait_for_no_decision_stop_nobody(shell: Shell) -> None:
    for event in ("PostToolUse", "Stop", "SessionStart", "SomethingNew"):
        body = json.dumps({"hook_event_name": event, "session_id": "s1"})
        assert json.loads(called(shell, "claude-code", "--when-down", "deny", typed=body).stdout) == {}, event


def test_a_misspelled_hook_is_a_fault_that_denies_nothing_and_a_wrong_address_is_said(shell: Shell) -> None:
    for line in ("", "cursor", "codex --when-down", "codex --when-down maybe", "codex -x y"):
        said = shell.ended("hooks", "call", *line.split(), code=1).stderr
        assert said.startswith("Usage: laneway hooks call"), line
    for url in ("nonsense", "ftp://127.0.0.1", "http://", "http://a b", "http://u:p@h", "http://h:x"):
        printed = called(shell, "claude-code", LANEWAY_URL=url).stdout
        assert (decided("claude-code", printed), "LANEWAY_URL" in printed) == ("ask", True), url


def test_only_the_quickest_of_the_standard_library_is_imported(shell: Shell) -> None:
    code = (
        "import sys; sys.argv = ['laneway', 'hooks', 'call', 'claude-code', '--home', sys.argv[1]]\n"
        "import atexit; atexit.register(lambda: print(' '.join(sys.modules), file=sys.stderr))\n"
        "from laneway.cli import main; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(Path(shell.folder) / "home")], input=call("claude-code"), text=True,
        capture_output=True, check=False, env={"LANEWAY_URL": shell.environ["LANEWAY_URL"]},
    )  # fmt: skip
    modules = set(ended.stderr.split())
    assert not modules & {"typer", "pydantic", "httpx", "http.client", "dataclasses", "asyncio", "urllib.request"}
