"""One run from its start to its end: output taken, limits watched, and at the end nothing of it alive.

What is started is a launcher (bubblewrap or the warden), and below it everything the command starts, daemons included:
bubblewrap has a process namespace, the warden adopts orphans. So the tree below the launcher is all there is to end.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from laneway.sandbox.contract import BoundaryBroken, Killed, Limits, OnStop, Ran
from laneway.sandbox.output import Output
from laneway.sandbox.usage import Held, descendants, held, memory

GRACE_SECONDS = 0.3
"""Between TERM and KILL."""
READY = b"ready"
"""What a launcher writes when all walls stand and the command begins."""

_LOOK_SECONDS, _COUNT_SECONDS = 0.1, 0.5
_ROOM = 16 * 1024 * 1024
"""What a full workspace may still grow in one run, so that it can be tidied."""
_FEW_FILES = 1000
_SURELY = 3
"""Times nobody is seen below the launcher until that is believed: a list of processes is not read in one moment."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a command: the launcher, its environment, and the files it is given."""

    boundary: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    folders: Sequence[Path]
    """Whose growth is watched."""
    status: tuple[int, int]
    """A pipe; the launcher writes READY to its second end."""
    given: Sequence[int] = field(default_factory=tuple)
    """Open files the launcher is given; closed here as soon as it has them."""


async def run(launch: Launch, limits: Limits, on_stop: OnStop) -> Ran:
    """The command has ended or was ended, and nothing of it lives on."""
    began = time.monotonic()
    try:
        process = await _start(launch)
        supervised = Supervised(process, limits, launch.folders)
        withdraw = on_stop(supervised.stop)
        try:
            await supervised.until_it_ends()
        finally:
            withdraw()
            await asyncio.shield(supervised.end())
        status = os.read(launch.status[0], 4096)
    finally:
        os.close(launch.status[0])
    stdout, stderr, left_out = supervised.output.texts()
    if not status.startswith(READY) and supervised.killed is None:
        raise BoundaryBroken(status.decode("utf-8", "replace") or stderr.strip() or "It did not start.")
    code = None if supervised.killed else _exit_code(process.returncode)
    return Ran(stdout, stderr, code, supervised.killed, launch.boundary, time.monotonic() - began, left_out)


async def _start(launch: Launch) -> asyncio.subprocess.Process:
    """The launcher runs; the files it was given are closed here, whether it does or not."""
    try:
        return await asyncio.create_subprocess_exec(
            *launch.arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            # The launcher's own environment can be read from inside, so nothing of ours is in it.
            env=dict(launch.environment),
            cwd="/",
            pass_fds=(launch.status[1], *launch.given),
            start_new_session=True,
        )
    except OSError as error:
        raise BoundaryBroken(f"{launch.arguments[0]} cannot be started: {error.strerror}.") from None
    finally:
        for number in (launch.status[1], *launch.given):
            os.close(number)


def _exit_code(code: int | None) -> int | None:
    # A process that died of a signal, as shells count it.
    return 128 - code if code is not None and code < 0 else code


class Supervised:
    """A started launcher and all below it."""

    def __init__(self, process: asyncio.subprocess.Process, limits: Limits, folders: Sequence[Path]) -> None:
        self._process, self._limits, self._folders = process, limits, list(folders)
        self._over = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.killed: Killed | None = None
        self.output = Output(limits.output_bytes, limits.flood_bytes, lambda: self._exceeded(Killed.OUTPUT))
        assert process.stdout is not None
        assert process.stderr is not None
        self._pumps = [
            asyncio.create_task(self.output.pump(process.stdout, self.output.stdout)),
            asyncio.create_task(self.output.pump(process.stderr, self.output.stderr)),
        ]
        self._watching = asyncio.create_task(self._watch())

    def stop(self) -> None:
        """Ended by a person: everything has been told to end now, and is killed a moment later. From any thread."""
        self.killed = self.killed or Killed.STOPPED
        _signal(descendants(self._process.pid), signal.SIGTERM)
        self._loop.call_soon_threadsafe(self._over.set)

    def _exceeded(self, why: Killed) -> None:
        self.killed = self.killed or why
        self._over.set()

    async def until_it_ends(self) -> None:
        """It has ended by itself, or must be ended."""
        ended = asyncio.create_task(self._process.wait())
        over = asyncio.create_task(self._over.wait())
        try:
            done, _ = await asyncio.wait(
                {ended, over}, timeout=self._limits.seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                self._exceeded(Killed.TIMEOUT)
        finally:
            ended.cancel()
            over.cancel()

    async def end(self) -> None:
        """Nothing below the launcher lives, nor the launcher: TERM, a moment to comply, KILL until none is left."""
        self._watching.cancel()
        if self._process.returncode is None:
            _signal(descendants(self._process.pid), signal.SIGTERM)
            await self._ends_within(GRACE_SECONDS)
        nobody = 0
        while self._process.returncode is None and nobody < _SURELY:
            below = descendants(self._process.pid)
            _signal(below, signal.SIGKILL)
            nobody = 0 if below else nobody + 1
            await self._ends_within(0.01)
        if self._process.returncode is None:
            # Only now the launcher: while it lives, orphans stay below it.
            _signal([self._process.pid], signal.SIGKILL)
            await self._process.wait()
        await asyncio.wait(self._pumps, timeout=1)
        for task in (*self._pumps, self._watching):
            task.cancel()
        await asyncio.gather(*self._pumps, self._watching, return_exceptions=True)

    async def _ends_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _watch(self) -> None:
        """Ends the run as soon as it uses too much memory or disk."""
        first = await asyncio.to_thread(held, self._folders, [], self._limits.files)
        counted = time.monotonic()
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            pids = await asyncio.to_thread(descendants, self._process.pid)
            if await asyncio.to_thread(memory, pids) > self._limits.memory_bytes:
                return self._exceeded(Killed.MEMORY)
            if time.monotonic() - counted > _COUNT_SECONDS:
                now = await asyncio.to_thread(held, self._folders, pids, self._limits.files + _FEW_FILES)
                if _too_much(first, now, self._limits):
                    return self._exceeded(Killed.DISK)
                counted = time.monotonic()


def _too_much(first: Held, now: Held, limits: Limits) -> bool:
    """Whether the folders grew beyond what they may hold; full ones have a little room, to be tidied in."""
    if first.hidden:
        # What lies there is not counted, so all that the disk loses is taken for this run's.
        return first.free - now.free > limits.disk_bytes
    most_bytes, most_files = max(limits.disk_bytes, first.bytes + _ROOM), max(limits.files, first.files + _FEW_FILES)
    return now.hidden or now.bytes > most_bytes or now.files > most_files


def _signal(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
