"""A test that did not run is never mistaken for one that passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites import run_suite


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A tiny test suite of its own, with one test that cannot run."""
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p tests.skips -p no:cacheprovider\n")
    (tmp_path / "test_it.py").write_text(
        "from tests import skips\n"
        "def test_good():\n    assert True\n"
        "def test_needs_a_sandbox():\n    skips.missing('bubblewrap', 'apt-get install bubblewrap')\n"
    )
    return tmp_path


IN_WORKERS = ("-p", "xdist", "-n", "2")


@pytest.mark.parametrize("arguments", [(), IN_WORKERS], ids=["serial", "workers"])
def test_a_skip_is_listed_with_the_line_that_installs_what_is_missing(suite: Path, arguments: tuple[str, ...]) -> None:
    ended = run_suite(suite, *arguments)
    assert ended.returncode == 0
    assert "bubblewrap is missing" in ended.stdout
    assert "    apt-get install bubblewrap" in ended.stdout


@pytest.mark.parametrize("arguments", [(), IN_WORKERS], ids=["serial", "workers"])
def test_a_skip_is_a_failure_in_ci(suite: Path, arguments: tuple[str, ...]) -> None:
    ended = run_suite(suite, *arguments, CI="true")
    assert ended.returncode == 1
    assert "a failure, because CI is set" in ended.stdout


def test_nothing_skipped_is_a_success_in_ci(suite: Path) -> None:
    assert run_suite(suite, "-k", "good", CI="true").returncode == 0
    assert run_suite(suite, "-k", "good", *IN_WORKERS, CI="true").returncode == 0


def test_the_summary_says_whether_outside_data_was_there(suite: Path) -> None:
    assert "LANEWAY_TEST_DATA: not set" in run_suite(suite, "-k", "good").stdout
    assert "LANEWAY_TEST_DATA: /data" in run_suite(suite, "-k", "good", LANEWAY_TEST_DATA="/data").stdout
