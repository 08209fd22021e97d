"""Files that grow are noticed at once: told by the system, or looked at where it cannot tell."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import median

import psutil
import pytest

from laneway.domain.session import EventKind
from laneway.observe.changes import Changes
from laneway.observe.discovery import discover, roots
from laneway.observe.plug import process_of, pull
from laneway.observe.watched import Seen
from laneway.observe.watching import Watching, keep_watching
from tests.observe.live_logs import Agent


@asynccontextmanager
async def live(home: Path, *, polling: bool = False) -> AsyncIterator[tuple[Watching, list[Seen], Changes]]:
    environ, seen = {"HOME": str(home)}, list[Seen]()
    watching = Watching(partial(discover, environ), lambda _: [], seen.append)
    watching.begin()
    changes = Changes(lambda: [folder for several in roots(environ).values() for folder in several], polling=polling)

    async def after() -> None:
        pass

    task = asyncio.create_task(keep_watching(watching, changes, after))
    try:
        await asyncio.sleep(0.2)
        yield watching, seen, changes
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(is_so: Callable[[], bool], seconds: float = 30) -> float:
    """It has become so; returns after how many seconds."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < seconds, "It did not happen in time."
        await asyncio.sleep(0.005)
    return time.monotonic() - began


def texts(seen: list[Seen]) -> list[str]:
    return [one.event.text for one in seen if one.event.kind is EventKind.USER and not one.past]


@pytest.mark.alone
@pytest.mark.parametrize("polling", [False, True])
async def test_what_an_agent_writes_is_seen_within_a_second(tmp_path: Path, polling: bool) -> None:
    agent = Agent(tmp_path)
    agent.says("before")
    async with live(tmp_path, polling=polling) as (_, seen, _):
        # The middle of three: what else the machine does in one of them is not the watching's fault.
        assert median([await seen_after(agent, f"number {number}", seen) for number in range(3)]) < 1
        assert median([await seen_after(Agent(tmp_path), f"session {number}", seen) for number in range(3)]) < 2


async def seen_after(agent: Agent, text: str, seen: list[Seen]) -> float:
    """The seconds from writing it to seeing it."""
    agent.says(text)
    return await until(lambda: text in texts(seen))


async def test_an_agent_that_is_installed_later_is_noticed(tmp_path: Path) -> None:
    async with live(tmp_path) as (_, seen, changes):
        await asyncio.sleep(0.6)
        agent = Agent(tmp_path)
        agent.says("the first of all")
        await until(lambda: texts(seen) == ["the first of all"])
        assert not changes.polling
        # From some moment on the system tells of it. Until then it is seen when all is looked at, every five seconds
        # and as listening begins: what is written right after such a look would wait for the next.
        async with asyncio.timeout(60):
            soon, numbers = 0, itertools.count(2)
            while soon < 3:
                soon = soon + 1 if await seen_after(agent, f"number {next(numbers)}", seen) < 2 else 0


async def test_half_a_line_is_no_event(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    agent.says("before")
    async with live(tmp_path) as (_, seen, _):
        content = agent.path.read_bytes()
        with agent.path.open("ab") as file:
            file.write(content[:40])
            file.flush()
            await asyncio.sleep(0.4)
            assert texts(seen) == []
            file.write(content[40:])
        await until(lambda: texts(seen) == ["before"])


@pytest.mark.alone
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
        began, line = time.monotonic(), process.stdout.readline()
        # Twice a second it looks at what is open; where it need not, it looks at everything every five seconds.
        assert time.monotonic() - began < 4
        assert b"after" in line
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


_SLEEPER = (
    "import os, subprocess, sys, time; subprocess.Popen(['sleep', '60']); print('up', flush=True); time.sleep(60)"
)


@pytest.fixture
def agent_program(tmp_path: Path) -> Path:
    """A program that is called `claude`, starts another one, and waits."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{_SLEEPER}\n")
    program.chmod(0o755)
    return program


def started(program: Path, folder: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([program], cwd=folder, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


async def test_the_plug_is_pulled_of_the_only_agent_in_the_folder_and_all_it_started(
    tmp_path: Path, agent_program: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with started(agent_program, project) as process:
        children = psutil.Process(process.pid).children(recursive=True)
        async with live(tmp_path) as (watching, seen, _):
            Agent(tmp_path, cwd=str(project)).says("hello")
            await until(lambda: bool(texts(seen)))
            [session] = watching.shown()
            pulled = await asyncio.to_thread(pull, session, watching.shown(), 1.0)
        assert pulled.ended, pulled
        assert not psutil.pid_exists(process.pid)
        assert len(children) == 1
        assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)


async def test_nothing_is_ended_where_it_could_be_another_session(tmp_path: Path, agent_program: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with started(agent_program, project) as process:
        async with live(tmp_path) as (watching, seen, _):
            for _ in range(2):
                Agent(tmp_path, cwd=str(project)).says("hello")
            Agent(tmp_path, cwd=str(tmp_path)).says("hello")
            await until(lambda: len(texts(seen)) == 3)
            for session in watching.shown():
                assert process_of(session, watching.shown()) is None
                assert not pull(session, watching.shown()).ended
        assert process.poll() is None
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
