"""A test of tests/faults that failed is tried once more, after all others: kills and floods depend on the machine.

At most two tests of a run get that second look. Both outputs are printed and the tests named at the end, to be mended.
A test that lies anywhere else gets none: it fails the run.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FOLDER, MOST = "faults", 2
SECOND = "SECOND_LOOK_AT_FAULTS"
UNSTEADY = pytest.StashKey[list[str]]()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """The session failed only if a test of it fails again; what it used has ended before this begins."""
    failed = _failed(session.config)
    may = 0 < len(failed) <= MOST and all(FOLDER in name.partition("::")[0].split("/") for name in failed)
    if exitstatus != pytest.ExitCode.TESTS_FAILED or not may or SECOND in os.environ:
        return
    print(f"\n\nOnce more: {', '.join(failed)}", flush=True)
    command = [sys.executable, "-m", "pytest", *failed]
    again = subprocess.run(
        command, cwd=session.config.invocation_params.dir, env={**os.environ, SECOND: "1"}, check=False
    )
    if again.returncode == 0:
        session.config.stash[UNSTEADY] = failed
        session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The reader knows which tests are to be mended though nothing is broken."""
    unsteady = config.stash.get(UNSTEADY, [])
    if unsteady:
        terminalreporter.section(f"unsteady {len(unsteady)}: failed first, passed again; mend them", yellow=True)
        for name in unsteady:
            terminalreporter.write_line(name)


def _failed(config: pytest.Config) -> list[str]:
    reporter: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    return sorted({report.nodeid for kind in ("failed", "error") for report in stats.get(kind, [])})
