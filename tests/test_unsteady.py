"""A test that failed beside others gets a second look, alone; one that is broken fails all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites import run_suite

IN_WORKERS = ("-p", "xdist", "-n", "2")
SUITE = """
from pathlib import Path
import pytest

def times(name):
    with Path(__file__).with_name(name).open("a+") as file:
        file.write("x")
        file.seek(0)
        return len(file.read())

def test_good():
    times("good")

@pytest.mark.parametrize("number", range({unsteady}))
def test_unsteady(number):
    assert times(f"unsteady{{number}}") > 1, "in a hurry"

@pytest.mark.parametrize("number", range({broken}))
def test_broken(number):
    assert times(f"broken{{number}}") > 9, "never right"
"""


def suite(folder: Path, unsteady: int = 0, broken: int = 0) -> Path:
    """A tiny suite with so many tests that fail the first time, and so many that always do."""
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p tests.unsteady -p no:cacheprovider\n")
    (folder / "test_it.py").write_text(SUITE.format(unsteady=unsteady, broken=broken))
    return folder


def test_one_that_passes_alone_is_named_with_what_it_said_the_first_time(tmp_path: Path) -> None:
    ended = run_suite(suite(tmp_path, unsteady=2), *IN_WORKERS)
    assert ended.returncode == 0
    _, _, summary = ended.stdout.partition("unsteady 2")
    assert "test_it.py::test_unsteady[0]" in summary
    assert "test_it.py::test_unsteady[1]" in summary
    assert "in a hurry" in ended.stdout
    assert (tmp_path / "good").read_text() == "x", "what passed is not run again"


def test_one_that_fails_alone_too_fails_the_run(tmp_path: Path) -> None:
    ended = run_suite(suite(tmp_path, unsteady=1, broken=1), *IN_WORKERS)
    assert ended.returncode == 1
    assert "never right" in ended.stdout
    assert "unsteady 1" not in ended.stdout


def test_more_than_three_are_no_accident(tmp_path: Path) -> None:
    ended = run_suite(suite(tmp_path, unsteady=4), *IN_WORKERS)
    assert ended.returncode == 1
    assert (tmp_path / "unsteady0").read_text() == "x"


@pytest.mark.parametrize("arguments", [IN_WORKERS, ()], ids=["workers", "serial"])
def test_a_suite_without_failures_has_nothing_to_say(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ended = run_suite(suite(tmp_path), *arguments)
    assert ended.returncode == 0
    assert "unsteady" not in ended.stdout.replace(str(tmp_path), "")


def test_alone_there_is_no_second_look(tmp_path: Path) -> None:
    assert run_suite(suite(tmp_path, unsteady=1)).returncode == 1
    assert (tmp_path / "unsteady0").read_text() == "x"
