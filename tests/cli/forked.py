"""The command `laneway` in a process of its own, forked from one that has imported everything already.

It is the real command with its own arguments, environment, folder, streams and exit code. What it saves is the second
or more that Python needs to import it, for each of some two hundred commands. `python -m tests.cli.forked` is the
process that forks: it serves one test process over a socket and ends with it.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, NoReturn

ROOT = Path(__file__).parents[2]
IMPORTED = (
    "laneway.cli.commands", "laneway.client", "laneway.app", "httpx", "rich.table",
    "pydantic_ai.models.anthropic", "pydantic_ai.models.openai",
)  # fmt: skip


def run(
    arguments: Sequence[str], typed: str, folder: Path, environ: Mapping[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    """The command has ended; it was given what was typed, and what it printed was kept."""
    command = ["laneway", *arguments]
    told = json.dumps({"command": command, "folder": str(folder), "environ": dict(environ)})
    with _file(told) as request, _file(typed) as given, _file() as printed, _file() as complaints:
        pid, ending = _forked([request, given, printed, complaints])
        with ending:
            if not select.select([ending], [], [], seconds)[0]:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(command, seconds)
            code = int(ending.readline())
        return subprocess.CompletedProcess(command, code, _all(printed), _all(complaints))


def _file(text: str = "") -> IO[str]:
    file = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  the caller closes it
    file.write(text)
    file.seek(0)
    return file


def _all(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def _forked(files: Sequence[IO[str]]) -> tuple[int, IO[str]]:
    """The number of the new process, and a stream that will tell its exit code."""
    ours, theirs = os.pipe()
    socket.send_fds(_forker(), [b"."], [*(file.fileno() for file in files), theirs])
    os.close(theirs)
    heard = os.fdopen(ours, encoding="ascii")
    return int(heard.readline()), heard


@cache
def _forker() -> socket.socket:
    """The way to the process that forks; it has been started and will end with this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "tests.cli.forked", str(theirs.fileno())]
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()])

    def end() -> None:
        ours.close()
        process.wait(10)

    atexit.register(end)
    return ours


def main() -> None:
    """Every request has been answered by a process; the one who asked has gone."""
    for name in IMPORTED:
        importlib.import_module(name)
    # What is there now stays: no child need look at it, and so copy it, to find garbage.
    gc.freeze()
    door = socket.socket(fileno=int(sys.argv[1]))
    minders: set[int] = set()
    while files := socket.recv_fds(door, 1, 5)[1]:
        minders = {pid for pid in minders if os.waitpid(pid, os.WNOHANG) == (0, 0)}
        if (minder := os.fork()) == 0:
            door.close()
            _mind(files)
        minders.add(minder)
        for file in files:
            os.close(file)


def _mind(files: list[int]) -> None:
    """The command has run in a child of this process, and whoever asked for it knows its exit code."""
    request, *streams, told = files
    pid = os.fork()
    if pid == 0:
        os.close(told)
        with os.fdopen(request, encoding="utf-8") as text:
            _become(json.load(text), streams)
    else:
        os.write(told, f"{pid}\n".encode())
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(BrokenPipeError):
            os.write(told, f"{code}\n".encode())
        os._exit(0)


def _become(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """This process has done what `python -m laneway` would, and has ended."""
    os.environ.clear()
    os.environ.update(request["environ"])
    time.tzset()
    os.chdir(request["folder"])
    sys.argv = request["command"]
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    import laneway.cli

    laneway.cli.BEGAN = time.monotonic()
    _leave(_code_of(laneway.cli.main))


def _code_of(command: Callable[[], None]) -> int:
    """What the process would end with, were this its main program."""
    try:
        command()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _leave(code: int) -> NoReturn:
    """Everything a process does at its end, but for taking apart every object of every module: that takes seconds."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
