"""The command `laneway` in this process, by Typer's runner: environment, folder, streams and exit code of its own."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import typer.main
from typer.testing import CliRunner

import laneway.cli

# A hundred commands are described once for all tests, not again for each command that is run.
typer.main.get_command = functools.cache(typer.main.get_command)
_turn = threading.Lock()
"""Environment, folder and streams belong to the whole process."""


def run(
    arguments: Sequence[str], typed: str, folder: Path, environ: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """The command has ended; it was given what was typed, and what it printed was kept."""
    command, argv = ["laneway", *arguments], sys.argv
    env = {**dict.fromkeys(os.environ), **environ}
    with (
        _turn,
        contextlib.chdir(folder),
        _zone(),
        _logging(),
        CliRunner().isolation(typed, env) as (printed, complaints, _),
    ):
        time.tzset()
        sys.argv, laneway.cli.BEGAN = command, time.monotonic()
        try:
            laneway.cli.main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except BaseException:
            traceback.print_exc()
            code = 1
        finally:
            sys.argv = argv
        sys.stdout.flush()
        sys.stderr.flush()
        texts = [stream.getvalue().decode() for stream in (printed, complaints)]
    return subprocess.CompletedProcess(command, code, *texts)


@contextlib.contextmanager
def _zone() -> Iterator[None]:
    """Afterwards the local time is that of the environment again."""
    try:
        yield
    finally:
        time.tzset()


@contextlib.contextmanager
def _logging() -> Iterator[None]:
    """Afterwards the log goes where it went before: `up` and `worker` send it to a file and to their own screen."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        ours = [handler for handler in root.handlers if handler not in handlers]
        root.handlers[:] = handlers
        root.setLevel(level)
        for handler in ours:
            handler.close()
