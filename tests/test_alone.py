"""A test that measures time is not disturbed by the tests that run beside it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.alone import turn

ROOT = Path(__file__).parents[1]
SUITE = """
import os, time
from pathlib import Path
import pytest

HERE = Path(__file__).parent / "inside"
HERE.mkdir(exist_ok=True)

def inside(seconds):
    mine = HERE / str(os.getpid())
    mine.touch()
    time.sleep(seconds)
    others = len(list(HERE.iterdir())) - 1
    mine.unlink()
    return others

@pytest.mark.alone
@pytest.mark.parametrize("number", range(4))
def test_alone(number):
    assert inside(0.1) == 0

@pytest.mark.parametrize("number", range(8))
def test_together(number):
    with (HERE.parent / "others").open("a") as file:
        file.write(f"{inside(0.2)} ")

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
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ours = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", *arguments]
    ended = subprocess.run(command, cwd=suite, env={**clean, **ours}, text=True, capture_output=True, check=False)
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
