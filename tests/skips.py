"""Skipped tests in plain sight: what is missing, the line that installs it, a failure in CI unless it was hidden."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import NoReturn

import pytest

from tests.without import WITHOUT, hidden

INSTALL = "install it: "
HIDDEN = f"hidden by {WITHOUT}"
DATA = "LANEWAY_TEST_DATA"


def missing(what: str, install: str) -> NoReturn:
    """The test is skipped, and the summary shows the line that brings what it needs, or that it was hidden."""
    if what.split()[0] in hidden():
        pytest.skip(f"{what} is {HIDDEN}")
    pytest.skip(f"{what} is missing; {INSTALL}{install}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """In CI everything is installed, so a skipped test there means that nobody has run it, unless that was wanted."""
    if exitstatus == pytest.ExitCode.OK and _fails(_skipped(session.config)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The reader knows what did not run, and whether outside data was there."""
    reasons = _skipped(config)
    if reasons:
        consequence = ": a failure, because CI is set" if _fails(reasons) else ""
        terminalreporter.section(f"skipped {sum(reasons.values())}{consequence}")
        for line in _lines(reasons.most_common()):
            terminalreporter.write_line(line)
    folder = os.environ.get(DATA)
    terminalreporter.write_line(f"{DATA}: {folder or 'not set, so no outside data was used'}")


def _lines(reasons: Iterable[tuple[str, int]]) -> Iterable[str]:
    for reason, count in reasons:
        what, found, install = reason.partition(INSTALL)
        if reason.endswith(HIDDEN):
            yield f"{count} × {reason}"
            continue
        yield f"{count} × {what.rstrip(' ;')}"
        yield f"    {install}" if found else "    the reason does not say how to install it; use skips.missing"


def _skipped(config: pytest.Config) -> Counter[str]:
    reporter: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    return Counter(_reason(report) for report in reports)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def _fails(reasons: Iterable[str]) -> bool:
    return _in_ci() and not all(reason.endswith(HIDDEN) for reason in reasons)


def _in_ci() -> bool:
    return os.environ.get("CI", "").lower() in {"1", "true"}
