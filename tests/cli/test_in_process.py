"""A command that ran in this process does what one does that was started."""

from __future__ import annotations

import pytest

from tests.cli import in_process
from tests.cli.processes import Shell, executed


@pytest.mark.parametrize(
    ("arguments", "typed", "code"),
    [(("--help",), "", 0), (("send",), "", 2), (("send", "-"), "Grüße\n", 3), (("config", "show"), "", 0)],
)
def test_it_prints_complains_and_ends_the_same(shell: Shell, arguments: tuple[str, ...], typed: str, code: int) -> None:
    environ = shell.environment({"TZ": "Asia/Tokyo", "MESSAGE_HISTORY_LIMIT": "7", "LANEWAY_KEY": "lw_none"})
    one, other = (run(arguments, typed, shell.folder, environ) for run in (in_process.run, executed))
    assert (one.stdout, one.stderr, one.returncode) == (other.stdout, other.stderr, other.returncode)
    assert one.returncode == code
