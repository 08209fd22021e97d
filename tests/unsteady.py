"""A test that failed beside others is looked at once more, alone. If it passes then it is called unsteady, by name.

Up to three tests of a whole suite get that look: more is no accident. What failed the first time is printed in full,
so that an unsteady test is seen and mended; the run itself is judged by the second look.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

MOST = 3
UNSTEADY = pytest.StashKey[list[str]]()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """The session failed only if a test of it fails alone, too; its workers have ended before this begins."""
    failed = _failed(session.config)
    if exitstatus != pytest.ExitCode.TESTS_FAILED or not _in_workers(session.config) or not 0 < len(failed) <= MOST:
        return
    print(f"\n\nOnce more, alone: {', '.join(failed)}", flush=True)
    command = [sys.executable, "-m", "pytest", *failed]
    again = subprocess.run(command, cwd=session.config.invocation_params.dir, env=os.environ, check=False)
    if again.returncode == 0:
        session.config.stash[UNSTEADY] = failed
        session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The reader knows which tests are to be mended though nothing is broken."""
    unsteady = config.stash.get(UNSTEADY, [])
    if unsteady:
        terminalreporter.section(
            f"unsteady {len(unsteady)}: failed beside others, passed alone; mend them", yellow=True
        )
        for name in unsteady:
            terminalreporter.write_line(name)


def _in_workers(config: pytest.Config) -> bool:
    return bool(getattr(config.option, "numprocesses", None))


def _failed(config: pytest.Config) -> list[str]:
    reporter: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    return sorted({report.nodeid for kind in ("failed", "error") for report in stats.get(kind, [])})
