"""A test marked `fault` that failed is tried once more, after all others: kills and floods depend on the machine.

All of tests/faults is marked so. At most two tests of a run get that second look; both outputs are printed, and the
tests named at the end, to be mended. Any other test gets none: it fails the run.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FAULT, FOLDER, MOST = "fault", "faults", 2
SECOND = "SECOND_LOOK_AT_FAULTS"
UNSTEADY = pytest.StashKey[list[str]]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What lies in the folder is marked before anybody chooses by marks."""
    for item in items:
        if FOLDER in item.path.parts:
            item.add_marker(FAULT)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """The session failed only if a test of it fails again; what it used has ended before this begins."""
    reports = _failed(session.config)
    failed = sorted({report.nodeid for report in reports})
    may = 0 < len(failed) <= MOST and all(FAULT in getattr(report, "keywords", ()) for report in reports)
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


def _failed(config: pytest.Config) -> list[pytest.TestReport]:
    reporter: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    return [report for kind in ("failed", "error") for report in stats.get(kind, [])]
