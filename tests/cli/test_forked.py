"""A command that was forked does what one does that was started."""

from __future__ import annotations

import json
import subprocess
import time

import pytest

from tests.cli import forked
from tests.cli.conftest import Server
from tests.cli.processes import Shell, executed


@pytest.mark.parametrize(
    ("arguments", "typed", "code"),
    [
        (("version",), "", 0),
        (("--help",), "", 0),
        (("send",), "", 2),
        (("send", "--nonsense"), "", 2),
        (("threads",), "", 3),
        (("send", "-"), "Grüße\n", 3),
        (("config", "show"), "", 0),
    ],
)
def test_it_prints_complains_and_ends_the_same(shell: Shell, arguments: tuple[str, ...], typed: str, code: int) -> None:
    environ = shell.environment({"TZ": "Asia/Tokyo", "MESSAGE_HISTORY_LIMIT": "7", "LANEWAY_KEY": "lw_none"})
    one, other = (run(arguments, typed, shell.folder, environ, 60) for run in (forked.run, executed))
    assert (one.stdout, one.stderr, one.returncode) == (other.stdout, other.stderr, other.returncode)
    assert one.returncode == code


def test_one_has_nothing_of_the_one_before(shell: Shell) -> None:
    def limit(shell: Shell) -> object:
        shown = json.loads(shell.run("config", "show", "--json"))["items"]
        return next(item["value"] for item in shown if item["environment"] == "MESSAGE_HISTORY_LIMIT")

    assert limit(Shell(shell.folder, {**shell.environ, "MESSAGE_HISTORY_LIMIT": "7"})) == 7
    assert limit(shell) == 30


def test_one_that_does_not_end_is_ended(server: Server) -> None:
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run(["logs", "-f"], "", server.shell.folder, server.shell.environment({}), 1)
    assert time.monotonic() - began < 60
