"""What our pytest plugins promise: skips in plain sight, hidden programs, a second look at faults."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.suites import run_suite

IN_WORKERS = ("-p", "xdist", "-n", "2")
WAYS = pytest.mark.parametrize("ways", [(), IN_WORKERS], ids=["serial", "workers"])
SKIPS = """
import shutil
from tests import skips

def test_good():
    pass

def test_bubblewrap():
    shutil.which("bwrap") or skips.missing("bubblewrap (none)", "apt-get install bubblewrap")

def test_tesseract():
    shutil.which("tesseract") or skips.missing("tesseract", "apt-get install tesseract-ocr")

def test_rights():
    skips.missing("the right to give files away", "sudo make test")
"""
FAULTS = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range({unsteady}))
def test_unsteady(number):
    with Path(__file__).with_name(f"unsteady{{number}}").open("a+") as file:
        file.write("x")
        file.seek(0)
        assert len(file.read()) > 1, "in a hurry"

@pytest.mark.parametrize("number", range({broken}))
def test_broken(number):
    assert not number + 1, "never right"
"""


def suite(folder: Path, text: str, plugins: str, name: str = "test_it.py") -> Path:
    """A tiny test suite of its own, with these of our plugins."""
    loaded = " ".join(f"-p tests.{one}" for one in plugins.split())
    (folder / "pytest.ini").write_text(f"[pytest]\nmarkers = fault: kills\naddopts = {loaded} -p no:cacheprovider\n")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


@WAYS
def test_a_skip_is_listed_with_the_line_that_installs_what_is_missing_and_fails_in_ci(
    tmp_path: Path, ways: tuple[str, ...]
) -> None:
    mine = suite(tmp_path, SKIPS, "skips")
    ended = run_suite(mine, "-k", "good or rights", *ways)
    assert ended.returncode == 0
    assert "the right to give files away is missing" not in ended.stderr
    assert "    sudo make test" in ended.stdout
    assert "LANEWAY_TEST_DATA: not set" in ended.stdout
    ended = run_suite(mine, "-k", "good or rights", *ways, CI="true")
    assert ended.returncode == 1
    assert "a failure, because CI is set" in ended.stdout
    assert run_suite(mine, "-k", "good", *ways, CI="true").returncode == 0


@WAYS
def test_a_hidden_program_is_not_found_and_its_skip_is_told_and_no_failure(
    tmp_path: Path, ways: tuple[str, ...]
) -> None:
    mine, folder = suite(tmp_path, SKIPS, "without skips"), tmp_path / "bin"
    folder.mkdir()
    for name in ("bwrap", "tesseract"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)

    def run(wanted: str, hidden: str) -> subprocess.CompletedProcess[str]:
        path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        return run_suite(mine, "-k", wanted, *ways, PATH=path, CI="true", LANEWAY_TEST_WITHOUT=hidden)

    ended = run("bubblewrap or tesseract", "bubblewrap, tesseract")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "1 × bubblewrap (none) is hidden by LANEWAY_TEST_WITHOUT" in ended.stdout
    assert "1 × tesseract is hidden by LANEWAY_TEST_WITHOUT" in ended.stdout
    assert "1 passed, 1 skipped" in run("bubblewrap or tesseract", "tesseract").stdout
    ended = run("bubblewrap or rights", "bubblewrap")
    assert ended.returncode == 1, "any other skip stays a failure"
    ended = run("tesseract", "tesserakt")
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "hides bubblewrap, tesseract, not tesserakt." in ended.stderr


def test_a_fault_that_passes_the_second_time_is_named_with_what_it_said_the_first_time(tmp_path: Path) -> None:
    ended = run_suite(suite(tmp_path, FAULTS.format(unsteady=2, broken=0), "unsteady", "faults/test_it.py"))
    assert ended.returncode == 0
    summary = ended.stdout.partition("unsteady 2")[2]
    assert "faults/test_it.py::test_unsteady[0]" in summary
    assert "in a hurry" in ended.stdout


@pytest.mark.parametrize(
    ("unsteady", "broken", "name"),
    [(1, 1, "faults/test_it.py"), (3, 0, "faults/test_it.py"), (1, 0, "test_it.py")],
    ids=["broken", "too many", "no fault"],
)
def test_a_broken_test_or_three_or_one_elsewhere_fails_the_run(
    tmp_path: Path, unsteady: int, broken: int, name: str
) -> None:
    mine = suite(tmp_path, FAULTS.format(unsteady=unsteady, broken=broken), "unsteady", name)
    ended = run_suite(mine)
    assert ended.returncode == 1
    assert "passed again" not in ended.stdout
