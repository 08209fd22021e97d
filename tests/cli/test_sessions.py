"""`laneway sessions`: found, shown and counted without a server, whatever the files hold."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.observe.claude_logs import answer, result, use, used, user
from tests.observe.logs import log
from tests.observe.samples import OWN

KEY = "sk-ant-" + "q9w8e7r6" * 5


def laneway(*words: str, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "HOME": str(home or "/nonexistent"), "TZ": "UTC"}
    command = [sys.executable, "-m", "laneway", "sessions", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environ, timeout=60, check=False)


def session(folder: Path, name: str = "abc-1.jsonl") -> Path:
    path = folder / ".claude" / "projects" / "-w" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    secret = use("t") | {"input": {"command": f"curl -H 'Authorization: Bearer {KEY}' x", "api_key": KEY}}
    path.write_bytes(log(user(f"my key is {KEY} \x1b[31m", timestamp="2026-01-01T10:00:00Z"),
                         answer("m", [secret], used(3, 4)), result("t", error=True)))  # fmt: skip
    return path


def test_read_prints_one_object_a_file_and_never_fails_over_what_is_in_it(tmp_path: Path) -> None:
    files = [sample.written(tmp_path / f"{number}") for number, sample in enumerate(OWN) if folder(tmp_path, number)]
    done = laneway("read", "--json", *map(str, files))
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (0, "")
    assert [one["file"] for one in told] == [str(file) for file in files]
    for one, sample in zip(told, OWN, strict=True):
        assert {name: one.get(name) for name in sample.expected} == sample.expected, sample


def folder(where: Path, number: int) -> Path:
    (where / f"{number}").mkdir()
    return where / f"{number}"


def test_read_says_all_that_is_promised(tmp_path: Path) -> None:
    told = json.loads(laneway("read", "--json", str(session(tmp_path))).stdout)
    promised = {
        "provider", "session_id", "lines", "blank_lines", "malformed_lines", "records", "partial_tail", "user_turns",
        "user_commands", "user_injected", "sidechain_prompts", "assistant_messages", "tool_calls", "tool_errors",
        "tool_unanswered", "tokens", "tokens_naive", "models", "first_time", "last_time", "cwd", "warnings",
    }  # fmt: skip
    assert promised - told.keys() == set()
    assert set(told["tokens"]) == {"input", "output", "cache_read", "cache_write", "reasoning", "tool_prompt"}
    assert told["tool_calls"] == {"total": 1, "by_name": {"Bash": 1}}


def test_a_file_that_cannot_be_opened_does_not_keep_the_others_from_being_read(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe.jsonl"
    os.mkfifo(fifo)
    done = laneway("read", "--json", str(tmp_path / "nowhere.jsonl"), str(fifo), str(tmp_path), str(session(tmp_path)))
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert ["error" in one for one in told] == [True, True, True, False]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_read_tells_people_in_a_few_lines(tmp_path: Path) -> None:
    done = laneway("read", str(session(tmp_path)))
    assert "claude-code, session s" in done.stdout
    assert "1 by a person, 1 answers" in done.stdout
    assert "1, 1 failed: Bash 1" in done.stdout


def test_list_finds_sessions_and_show_tells_one_without_its_secrets(tmp_path: Path) -> None:
    path = session(tmp_path)
    listed = json.loads(laneway("list", "--json", home=tmp_path).stdout)
    assert [(one["provider"], one["session"], one["file"]) for one in listed] == [("claude-code", "abc-1", str(path))]
    assert "abc-1" in laneway("list", home=tmp_path).stdout
    shown = laneway("show", "abc", home=tmp_path).stdout
    assert "> my key is" in shown
    assert "$ Bash" in shown
    assert "= failed: out" in shown
    assert KEY not in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("words", "said"), [(("show", "zzz"), "no session"), (("list", "--provider", "x"), "provider")]
)
def test_what_is_not_there_is_said(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = laneway(*words, home=tmp_path)
    assert done.returncode in (1, 2)
    assert said in done.stderr


def test_a_session_that_two_could_be_is_asked_about(tmp_path: Path) -> None:
    session(tmp_path, "abc-1.jsonl")
    session(tmp_path, "abc-2.jsonl")
    done = laneway("show", "abc", home=tmp_path)
    assert (done.returncode, "2 sessions" in done.stderr) == (2, True)


@pytest.mark.alone
def test_read_starts_fast(tmp_path: Path) -> None:
    path = str(session(tmp_path))
    laneway("read", path)
    usual, took = [], []
    for _ in range(5):
        usual.append(spent(lambda: subprocess.run([sys.executable, "-m", "laneway", "version"], check=True)))
        took.append(spent(lambda: laneway("read", "--json", path)))
    # A machine whose cores are shared needs twice as long for anything, so it is measured by the quickest command.
    assert min(took) < 1.8 * min(usual)
    assert min(took) < 1.5


def spent(run: Callable[[], object]) -> float:
    """Seconds of processor time that the programs took; what others do on this machine is not ours."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
