"""An optional program that is hidden is found neither by a test nor by what it starts, and its skips are no failure."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.suites import run_suite

SUITE = """
import shutil
import subprocess
from tests import skips

def found(program):
    started = subprocess.run(["sh", "-c", f"command -v {program}"], capture_output=True)
    assert (started.returncode == 0) is (shutil.which(program) is not None)
    return started.returncode == 0

def test_bubblewrap():
    assert found("beside")
    found("bwrap") or skips.missing("bubblewrap (none)", "apt-get install bubblewrap")

def test_tesseract():
    found("tesseract") or skips.missing("tesseract", "apt-get install tesseract-ocr")

def test_rights():
    skips.missing("the right to give files away", "sudo make test")
"""
IN_WORKERS = ("-p", "xdist", "-n", "2")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A tiny test suite of its own."""
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p tests.without -p tests.skips -p no:cacheprovider\n")
    (tmp_path / "test_it.py").write_text(SUITE)
    return tmp_path


def run(suite: Path, wanted: str, *arguments: str, hidden: str, ci: str = "true") -> subprocess.CompletedProcess[str]:
    """The wanted tests have run on a machine that has both programs, and one more beside them."""
    folder = suite / "bin"
    folder.mkdir(exist_ok=True)
    for name in ("bwrap", "tesseract", "beside"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return run_suite(suite, "-k", wanted, *arguments, PATH=path, CI=ci, LANEWAY_TEST_WITHOUT=hidden)


@pytest.mark.parametrize("arguments", [(), IN_WORKERS], ids=["serial", "workers"])
def test_what_is_hidden_is_not_found_and_its_skip_is_told_and_no_failure(
    suite: Path, arguments: tuple[str, ...]
) -> None:
    ended = run(suite, "bubblewrap or tesseract", *arguments, hidden="bubblewrap, tesseract")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "1 × bubblewrap (none) is hidden by LANEWAY_TEST_WITHOUT" in ended.stdout
    assert "1 × tesseract is hidden by LANEWAY_TEST_WITHOUT" in ended.stdout
    assert "a failure" not in ended.stdout


def test_only_what_is_named_is_hidden(suite: Path) -> None:
    ended = run(suite, "bubblewrap or tesseract", hidden="tesseract")
    assert "1 passed, 1 skipped" in ended.stdout
    assert "2 passed" in run(suite, "bubblewrap or tesseract", hidden="").stdout


def test_any_other_skip_stays_a_failure_in_ci(suite: Path) -> None:
    ended = run(suite, "bubblewrap or rights", hidden="bubblewrap")
    assert ended.returncode == 1
    assert "skipped 2: a failure, because CI is set" in ended.stdout


def test_an_unknown_name_is_an_error_at_the_start(suite: Path) -> None:
    ended = run(suite, "tesseract", hidden="bubblewrap,tesserakt")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "LANEWAY_TEST_WITHOUT hides bubblewrap, tesseract, not tesserakt." in ended.stderr
