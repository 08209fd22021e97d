"""Files that grow are told by the system, or looked at where it cannot tell; and an agent's plug is pulled."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import psutil
import pytest

from laneway.observe.changes import Changes
from laneway.observe.discovery import discover
from laneway.observe.plug import process_of, pull
from laneway.observe.watching import Watching
from tests.observe.live_logs import Agent


async def test_the_system_tells_which_file_grew_also_in_a_folder_that_appears_later(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    path = folder / "s.jsonl"
    async with Changes(lambda: [folder]).heard() as changes, asyncio.timeout(60):
        folder.mkdir()
        told: set[Path] = set()
        while path not in told:
            with path.open("a", encoding="utf-8") as file:
                file.write("{}\n")
            told |= await changes.take(0.1)
    assert not changes.polling


@pytest.mark.parametrize("limit", ["max_inotify_watches", "max_inotify_instances"])
def test_where_the_system_cannot_tell_the_files_are_looked_at(tmp_path: Path, limit: str) -> None:
    agent = Agent(tmp_path)
    agent.says("before")
    script = f'echo 0 > /proc/sys/user/{limit} && exec "$@"'
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        return  # Here nobody may make a namespace of users, so the limits cannot be reached.
    environ = {**os.environ, "HOME": str(tmp_path), "LANEWAY_HOME": str(tmp_path / "laneway")}
    command += [sys.executable, "-m", "laneway", "watch", "--json"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stderr.readline()
        assert b"cannot tell which files change" in process.stderr.readline()
        agent.says("after")
        assert b"after" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


_SLEEPER = (
    "import os, subprocess, sys, time; subprocess.Popen(['sleep', '60']); print('up', flush=True); time.sleep(60)"
)


def started(tmp_path: Path) -> subprocess.Popen[bytes]:
    """A program that is called `claude`, has started another one, and waits in the folder `project`."""
    program, folder = tmp_path / "bin" / "claude", tmp_path / "project"
    for one in (program.parent, folder):
        one.mkdir()
    program.write_text(f"#!{sys.executable}\n{_SLEEPER}\n")
    program.chmod(0o755)
    process = subprocess.Popen([program], cwd=folder, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def watching(home: Path, *folders: str) -> Watching:
    """One session in each of these folders is watched."""
    watching = Watching(partial(discover, {"HOME": str(home)}), lambda _: [], lambda _: None)
    watching.begin()
    for folder in folders:
        Agent(home, cwd=str(home / folder)).says("hello")
    watching.rescan()
    watching.read(10)
    return watching


def test_the_plug_is_pulled_of_the_only_agent_in_the_folder_and_all_it_started(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        children = psutil.Process(process.pid).children(recursive=True)
        [session] = watching(tmp_path, "project").shown()
        pulled = pull(session, [session], 1.0)
        assert pulled.ended, pulled
        assert not psutil.pid_exists(process.pid)
        assert len(children) == 1
        assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)


def test_nothing_is_ended_where_it_could_be_another_session(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        shown = watching(tmp_path, "project", "project", ".").shown()
        for session in shown:
            assert process_of(session, shown) is None
            assert not pull(session, shown).ended
        assert len(shown) == 3
        assert process.poll() is None
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
