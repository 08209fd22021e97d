"""Running a tiny test suite inside a test, for what our pytest plugins promise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
THEIRS = {"CI", "LANEWAY_TEST_DATA", "LANEWAY_TEST_WITHOUT"}


def run_suite(suite: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The tests in this folder have run, with none of our own run's settings."""
    clean = {name: value for name, value in os.environ.items() if name not in THEIRS and not name.startswith("PYTEST_")}
    ours = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    # Without a folder of its own pytest closes the one all runs of a user share to everybody else, in which
    # the PostgreSQL of another test, started by root for the user `pgserver`, is just being made.
    command = [sys.executable, "-m", "pytest", f"--basetemp={suite / 'basetemp'}", *arguments]
    return subprocess.run(
        command, cwd=suite, env={**clean, **ours, **environment}, text=True, capture_output=True, check=False
    )
