"""The command itself: it loads only what it needs, knows its commands, and names its version."""

from __future__ import annotations

import json
import subprocess
import sys

from laneway import __version__
from laneway.cli.commands import COMMANDS, GROUPS
from tests.cli import in_process
from tests.cli.conftest import Server
from tests.cli.processes import Shell, executed

HEAVY = {"dbos", "pydantic_ai", "sqlalchemy", "alembic", "fastapi", "uvicorn", "psycopg"}
PROGRAM = """
import atexit, os, sys
packages = lambda: {name.partition('.')[0] for name in sys.modules}
atexit.register(lambda: print('LOADED', os.environ['OPENBLAS_NUM_THREADS'], *packages(), file=sys.stderr))
from laneway.cli import main
main()
"""


def loaded_by(shell: Shell, *arguments: str, **environ: str) -> list[str]:
    """The threads numpy may use, and the top-level packages that the command has loaded when it ends."""
    env = {name: text for name, text in shell.environment({}).items() if name != "OPENBLAS_NUM_THREADS"} | environ
    command = [sys.executable, "-c", PROGRAM, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, env=env, cwd=shell.folder, check=False)
    return ended.stderr.partition("LOADED ")[2].split()


def test_commands_load_nothing_heavy_and_numpy_uses_one_thread_unless_somebody_said_otherwise(server: Server) -> None:
    threads, *loaded = loaded_by(server.shell, "--help")
    assert threads == "1"
    assert set(loaded) & (HEAVY | {"httpx", "rich", "numpy", "laneway"}) == {"laneway"}
    threads, *loaded = loaded_by(server.shell, "send", "hello", OPENBLAS_NUM_THREADS="3")
    assert threads == "3"
    assert set(loaded) & (HEAVY | {"httpx", "laneway"}) == {"httpx", "laneway"}


def test_help_names_every_command(shell: Shell) -> None:
    printed = shell.run("--help")
    names = {command.__name__ for command in COMMANDS} | set(GROUPS)
    assert {name for name in names if f"\n  {name} " not in printed} == set()
    assert "..." not in printed.replace("[ARGS]...", "")
    classify = shell.run("classify", "--help")
    assert "--taxonomy NAME TEXT" in classify
    assert "eval" in classify


def test_the_version_is_told(shell: Shell) -> None:
    assert shell.run("version").startswith(f"laneway {__version__} ")
    assert shell.run("--version").startswith(f"laneway {__version__} ")
    assert json.loads(shell.run("version", "--json"))["laneway"] == __version__


def test_what_the_command_line_does_not_know_is_two(shell: Shell) -> None:
    for arguments in (("sing",), ("send",), ("ledger", "--by", "moon"), ("jobs", "--limit", "0")):
        assert "Usage: laneway" in shell.ended(*arguments, code=2).stderr


def test_a_command_in_this_process_prints_complains_and_ends_like_one_that_was_started(shell: Shell) -> None:
    environ = shell.environment({"TZ": "Asia/Tokyo", "MESSAGE_HISTORY_LIMIT": "7", "LANEWAY_KEY": "lw_none"})
    for arguments, typed, code in ((("send", "-"), "Grüße\n", 3), (("config", "show"), "", 0)):
        one, other = (run(arguments, typed, shell.folder, environ) for run in (in_process.run, executed))
        assert (one.stdout, one.stderr, one.returncode) == (other.stdout, other.stderr, other.returncode)
        assert one.returncode == code
