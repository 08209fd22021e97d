"""The command itself: its help is quick, it loads only what it needs, and it names its version."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from laneway import __version__
from laneway.cli.commands import COMMANDS, GROUPS
from tests.cli.conftest import Server
from tests.cli.processes import Shell

HEAVY = {"dbos", "pydantic_ai", "sqlalchemy", "alembic", "fastapi", "uvicorn", "psycopg"}


def loaded_by(shell: Shell, *arguments: str) -> set[str]:
    """The top-level packages a command has loaded when it ends."""
    program = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('LOADED', *{name.partition('.')[0] for name in sys.modules}, file=sys.stderr))\n"
        f"sys.argv = ['laneway', *{list(arguments)!r}]\n"
        "from laneway.cli import main\n"
        "main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=shell.environment({}), cwd=shell.folder
    )
    return set(ended.stderr.partition("LOADED ")[2].split())


def test_help_names_every_command(shell: Shell) -> None:
    printed = shell.run("--help")
    names = {command.__name__ for command in COMMANDS} | set(GROUPS)
    assert {name for name in names if f"\n  {name} " not in printed} == set()
    assert "..." not in printed.replace("[ARGS]...", "")


@pytest.mark.alone
def test_help_is_there_at_once(shell: Shell) -> None:
    took = []
    for _ in range(5):
        began = time.monotonic()
        shell.run("--help")
        took.append(time.monotonic() - began)
    # The best of five: what else the machine does is not the command's fault.
    assert min(took) < 0.5


def test_help_and_version_load_nothing_heavy(shell: Shell) -> None:
    for arguments in (("--help",), ("version",)):
        loaded = loaded_by(shell, *arguments)
        assert "laneway" in loaded
        assert loaded & (HEAVY | {"httpx", "rich"}) == set()


def test_numpy_is_told_to_use_one_thread_unless_somebody_said_otherwise(shell: Shell) -> None:
    program = (
        "import atexit, os, sys\n"
        "atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS'], 'numpy' in sys.modules))\n"
        "sys.argv = ['laneway', 'version']\n"
        "from laneway.cli import main\n"
        "main()\n"
    )
    clean = {name: value for name, value in shell.environment({}).items() if name != "OPENBLAS_NUM_THREADS"}
    for given, used in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")):
        told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**clean, **given})
        assert told.stdout.splitlines()[-1] == f"{used} False"


def test_send_does_not_load_the_engine(server: Server) -> None:
    loaded = loaded_by(server.shell, "send", "hello")
    assert "httpx" in loaded
    assert loaded & HEAVY == set()


def test_the_version_is_told(shell: Shell) -> None:
    assert shell.run("version").startswith(f"laneway {__version__} ")
    assert shell.run("--version").startswith(f"laneway {__version__} ")
    assert json.loads(shell.run("version", "--json"))["laneway"] == __version__


@pytest.mark.parametrize("arguments", [("sing",), ("send",), ("ledger", "--by", "moon"), ("jobs", "--limit", "0")])
def test_what_the_command_line_does_not_know_is_two(shell: Shell, arguments: tuple[str, ...]) -> None:
    process = shell.start(*arguments)
    _, complaints = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Usage: laneway" in complaints
