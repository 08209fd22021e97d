"""`laneway watch` as a person runs it: lines, JSON or a table, until Ctrl-C."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from laneway.cli.watch_board import Board
from laneway.observe.discovery import discover
from laneway.observe.watching import Watching
from laneway.reactors.shipped import shipped
from tests.cli.processes import Shell
from tests.observe.live_logs import Agent
from tests.observe.runs import Desk
from tests.observe.test_watch_live import started


@contextmanager
def watching(
    home: Path, *arguments: str, settings: Mapping[str, str] = {}, **streams: Any
) -> Iterator[subprocess.Popen[bytes]]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("LANEWAY_", "CLAUDE_"))}
    environ |= {"HOME": str(home), "LANEWAY_HOME": str(home / "laneway"), "TERM": "xterm-256color"}
    environ |= settings
    command = [sys.executable, "-m", "laneway", "watch", *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    with cast(subprocess.Popen[bytes], subprocess.Popen(command, env=environ, cwd=home, **streams)) as process:
        try:
            yield process
        finally:
            process.kill()


def begun(process: subprocess.Popen[bytes]) -> None:
    assert process.stderr is not None
    line = process.stderr.readline()
    # What is there is known when it says this: whatever is written from now on is new.
    assert b"Ctrl-C ends" in line, line


def ended(process: subprocess.Popen[bytes]) -> tuple[str, str]:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    return out.decode(), err.decode()


def test_events_and_reactions_stand_below_each_other_and_old_ones_are_left_out(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    agent.says("before")
    with watching(tmp_path) as process:
        begun(process)
        agent.says("now \x1b[31mred")
        agent.calls("Bash", command="rm -rf /")
        other = Agent(tmp_path)
        other.says("elsewhere")
        assert process.stdout is not None
        lines = [process.stdout.readline().decode() for _ in range(5)]
        out, _ = ended(process)
    mine = [line for line in lines if agent.session_id[:8] in line]
    assert [line.split(" ", 2)[2].strip()[:20] for line in mine] == [
        "› now �[31mred",
        "$ exec Bash rm -rf /",
        "▲ safety: Bash rm -r",
    ]
    assert any("elsewhere" in line and other.session_id[:8] in line for line in lines)
    assert "before" not in "".join(lines) + out


def test_programs_get_one_object_a_line(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    agent.says("before")
    with watching(tmp_path, "--json", "--poll", "--session", agent.session_id[:8]) as process:
        begun(process)
        Agent(tmp_path).says("not asked for")
        agent.calls("Bash", command="rm -rf /")
        assert process.stdout is not None
        lines = [process.stdout.readline().decode() for _ in range(3)]
        # In the next round at the latest, what was not asked for would have been told, too.
        agent.says("and on")
        lines.append(process.stdout.readline().decode())
        out, _ = ended(process)
    told = [json.loads(line) for line in [*lines, *out.splitlines()]]
    assert [one.get("event") or one["reaction"] for one in told] == ["tool_called", "notification", "tokens", "user"]
    assert told[0]["about"] == "rm -rf /"
    assert told[1]["reactor"] == "safety"
    assert {one["session"] for one in told} == {agent.session_id}


def test_of_a_file_that_is_named_what_was_recorded_is_shown_and_nobody_is_told_of_it(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    agent.says("recorded")
    agent.calls("Bash", command="rm -rf /")
    long_ago = time.time() - 3 * 86_400
    os.utime(agent.path, (long_ago, long_ago))
    audit = tmp_path / "audit.jsonl"
    with watching(tmp_path, "--session", str(agent.path), "--notify", "bell", "--audit", str(audit)) as process:
        begun(process)
        assert process.stdout is not None
        lines = [process.stdout.readline().decode() for _ in range(4)]
        assert not audit.exists() or audit.read_text() == "", "what was recorded is not put down again"
        agent.says("new")
        agent.calls("Bash", command="rm -rf /usr")
        lines += [process.stdout.readline().decode() for _ in range(3)]
        out, err = ended(process)
    assert [line.split(" ", 2)[2].strip()[:22] for line in lines] == [
        "▶ claude-code in /home", "› recorded", "$ exec Bash rm -rf /", "▲ safety: Bash rm -rf ",
        "› new", "$ exec Bash rm -rf /us", "▲ safety: Bash rm -rf ",
    ]  # fmt: skip
    assert out == ""
    assert "\a" not in err
    with watching(tmp_path, "--json", "--session", str(agent.path)) as process:
        begun(process)
        assert process.stdout is not None
        told = [json.loads(process.stdout.readline()) for _ in range(9)]
        ended(process)
    assert [one["reactor"] for one in told if "reaction" in one] == ["safety", "safety"]
    assert [one["text"] for one in told if one.get("event") == "user"] == ["recorded", "new"]


def test_a_terminal_shows_the_table_and_is_as_it_was_afterwards(tmp_path: Path) -> None:
    agent = Agent(tmp_path, cwd="/home/u/shop")
    agent.says("before")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    with watching(tmp_path, "--tui", stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        screen = _read_until(ours, b"Ctrl-C ends")
        agent.calls("Bash", command="rm -rf /")
        screen += _read_until(ours, b"It removes everything")
        process.send_signal(signal.SIGINT)
        screen += _rest(ours)
        assert process.wait(60) == 130
    os.close(ours)
    assert b"\x1b[?1049h" in screen[:200]
    assert b"\x1b[?1049l" in screen, "the screen of before is back"
    assert screen.rindex(b"\x1b[?25h") > screen.rindex(b"\x1b[?25l"), "and so is the cursor"
    assert b"\a" in screen, "the bell rang"
    assert b"shop" in screen


def _read_until(descriptor: int, wanted: bytes) -> bytes:
    read = b""
    while wanted not in read:
        read += os.read(descriptor, 65536)
    return read


def _rest(descriptor: int) -> bytes:
    """What the terminal still showed; nobody has it open any more in the end."""
    read = b""
    with contextlib.suppress(OSError):
        while piece := os.read(descriptor, 65536):
            read += piece
    return read


def test_what_makes_no_sense_is_refused(shell: Shell) -> None:
    cases = {
        "--provider nobody": "is no provider",
        "--kill-on boredom": "--kill-on knows no boredom",
        "--notify pigeon": "--notify knows no pigeon",
        "--tui": "--tui needs a terminal",
        "--tui --json": "exclude each other",
    }
    for arguments, complaint in cases.items():
        assert complaint in shell.ended("watch", *arguments.split(), code=2).stderr


def test_the_table_has_a_row_for_each_session_and_counts_what_does_not_fit(tmp_path: Path) -> None:
    agents = [Agent(tmp_path, cwd=f"/home/u/[red]shop{number}") for number in range(30)]
    for agent in agents:
        agent.says("work")
    console = Console(file=io.StringIO(), width=140, height=20, force_terminal=False)
    board = Board(console, side=False)
    watch = Watching(partial(discover, {"HOME": str(tmp_path)}), lambda _: shipped(), board.hear)
    watch.begin()
    watch.read(30)
    agents[3].calls("Bash", command="rm -rf /")
    # Written in the same tick of the clock as another, it would not be the one that changed last.
    os.utime(agents[3].path, (time.time() + 1, time.time() + 1))
    watch.round([agents[3].path], seconds=10)
    console.print(board.picture(watch.shown(), watch.clock.now()))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    first = next(line for line in shown.splitlines() if line.startswith("claude-code"))
    # What an agent writes is no markup.
    parts = (agents[3].session_id[:8], "[red]shop3", "in Bash", "110", "$0.00", "exec Bash rm -rf /")
    assert [part for part in parts if part not in first] == []
    assert first.rstrip().endswith("1"), "reactions"
    assert "▲ safety: Bash rm -rf /" in shown
    assert "… and 17 more" in shown
    assert len(shown.splitlines()) <= 20


PATIENCE = {f"LANEWAY_REACTORS_{what}_SECONDS": "5" for what in ("IDLE", "PERMISSION", "TOOL")}


def told_until_a_stall_of(agent: Agent, process: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
    """All that is told until this session, which begins to wait now, is said to stand still."""
    agent.says("work")
    agent.calls("Edit", file_path="/home/u/project/a.py", old_string="a", new_string="b")
    assert process.stdout is not None
    told: list[dict[str, Any]] = [{}]
    while (told[-1].get("reactor"), told[-1]["session"] if told[-1] else "") != ("stall", agent.session_id):
        told.append(json.loads(process.stdout.readline()))
    return told[1:]


def test_a_session_whose_plug_was_pulled_has_ended_and_is_no_stall(tmp_path: Path) -> None:
    agent, other = Agent(tmp_path, cwd=str(tmp_path / "project")), Agent(tmp_path)
    arguments = ("--json", "--notify", "none", "--kill-on", "danger")
    with started(tmp_path), watching(tmp_path, *arguments, settings=PATIENCE) as process:
        begun(process)
        agent.says("work")
        agent.calls("Bash", command="rm -rf /")
        assert process.stdout is not None
        while "done" not in (line := json.loads(process.stdout.readline())):
            pass
        assert line["done"].startswith("Ended: process ")
        told = told_until_a_stall_of(other, process)
        ended(process)
    assert [one["session"] for one in told if one.get("reactor") == "stall"] == [other.session_id]
    assert [one["session"] for one in told if one.get("event") == "ended"] == [agent.session_id]


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_a_session_that_a_run_has_ended_is_no_stall_for_whoever_watches(tmp_path: Path) -> None:
    desk, other = Desk(tmp_path), Agent(tmp_path)
    folders = {"CLAUDE_CONFIG_DIR": f"{tmp_path / 'claude'},{tmp_path / '.claude'}"}
    with watching(tmp_path, "--json", "--notify", "none", settings=PATIENCE | folders) as process:
        begun(process)
        desk.run("--kill-on", "danger", "--report", "r.json", "--", "claude", "start", "danger", "wait", code=81)
        told = told_until_a_stall_of(other, process)
        ended(process)
    assert [one["session"] for one in told if one.get("reactor") == "stall"] == [other.session_id]
    assert [one["text"] for one in told if one.get("event") == "ended"] == ["ended by Laneway"]
