"""A test that measures time is not disturbed by the tests that run beside it."""

from __future__ import annotations

import gc
import re
import threading
import time
from pathlib import Path

import pytest

from tests.alone import tidy, turn
from tests.suites import run_suite

SUITE = """
import os, time
from pathlib import Path
import pytest

HERE = Path(__file__).parent / "inside"
HERE.mkdir(exist_ok=True)

def inside(seconds, expected=lambda: True):
    mine, until = HERE / str(os.getpid()), time.monotonic() + 20
    mine.touch()
    time.sleep(seconds)
    while not expected() and time.monotonic() < until:
        time.sleep(0.01)
    others = len(list(HERE.iterdir())) - 1
    mine.unlink()
    return others

def met():
    # However slowly the other worker begins, it is waited for, once.
    file = HERE.parent / "met"
    if "PYTEST_XDIST_WORKER" in os.environ and len(list(HERE.iterdir())) > 1:
        file.touch()
    return "PYTEST_XDIST_WORKER" not in os.environ or file.exists()

@pytest.mark.alone
@pytest.mark.parametrize("number", range(4))
def test_alone(number):
    assert inside(0.1) == 0

@pytest.mark.parametrize("number", range(8))
def test_together(number):
    with (HERE.parent / "others").open("a") as file:
        file.write(f"{inside(0.2, met)} ")

@pytest.mark.slow
def test_slow():
    pass
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A tiny test suite of its own."""
    markers = "markers =\n  alone: has the machine to itself\n  slow: takes long\n"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = -p tests.alone -p no:cacheprovider\n{markers}")
    (tmp_path / "test_it.py").write_text(SUITE)
    return tmp_path


def run(suite: Path, *arguments: str) -> str:
    ended = run_suite(suite, *arguments)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_a_test_marked_alone_has_no_other_beside_it(suite: Path) -> None:
    assert "13 passed" in run(suite, "-p", "xdist", "-n", "2", "--dist", "worksteal")
    assert "1" in (suite / "others").read_text(), "the others do run side by side"


def test_automatically_there_are_at_least_two_workers(suite: Path) -> None:
    assert len(set(re.findall(r"\[gw\d\]", run(suite, "-v", "-p", "xdist", "-n", "auto")))) >= 2


def test_slow_tests_come_first_and_those_that_stop_all_others_last(suite: Path) -> None:
    assert re.findall(r"::test_([a-z]+)", run(suite, "-v")) == ["slow"] + ["together"] * 8 + ["alone"] * 4


def test_whoever_shares_cannot_keep_out_the_one_who_does_not(tmp_path: Path) -> None:
    done = threading.Event()

    def share() -> None:
        while not done.is_set():
            with turn(tmp_path, alone=False):
                time.sleep(0.02)

    sharing = [threading.Thread(target=share) for _ in range(3)]
    for thread in sharing:
        thread.start()
    began = time.monotonic()
    for _ in range(3):
        with turn(tmp_path, alone=True):
            pass
    waited = time.monotonic() - began
    done.set()
    for thread in sharing:
        thread.join()
    assert waited < 5


def test_what_earlier_tests_left_is_not_looked_through_while_time_is_measured() -> None:
    before = gc.get_freeze_count()
    left = [[number] for number in range(1000)]
    with tidy():
        assert gc.get_freeze_count() > before + len(left)
    assert gc.get_freeze_count() == 0
