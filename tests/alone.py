"""Tests run in several processes, whose memory is told; those that exhaust the machine have it to themselves.

A test marked `alone` waits until no other worker is inside a test, and no other begins before it has ended. What the
tests before it left in this process is not looked through meanwhile: late in a suite that alone takes seconds.
"""

from __future__ import annotations

import fcntl
import gc
import os
import resource
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

MOST_WORKERS = 8
"""Each has a PostgreSQL and encoders of its own; more of them would wait for memory and disk."""
FOLDER, PEAK = "laneway_turns", "laneway_peak"
TURNS = pytest.StashKey[str]()
PEAKS = pytest.StashKey[list[str]]()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto` there is a worker for each processor, hyper-threads included, and never only one."""
    return min(max(2, os.cpu_count() or 2), MOST_WORKERS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests come first, so that no worker ends long after the others; those that stop all others come last."""
    items.sort(key=lambda item: 2 if _alone(item) else item.get_closest_marker("slow") is None)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """The worker about to start knows where turns are taken."""
    config: pytest.Config = node.config
    if TURNS not in config.stash:
        folder = tempfile.TemporaryDirectory(prefix="laneway-turns-")
        config.add_cleanup(folder.cleanup)
        config.stash[TURNS] = folder.name
    node.workerinput[FOLDER] = config.stash[TURNS]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """The test ran in its turn; its timeout begins with the turn, not with the waiting for it."""
    folder, alone = getattr(item.config, "workerinput", {}).get(FOLDER), _alone(item)
    with turn(Path(folder), alone=alone) if folder else nullcontext(), tidy() if alone else nullcontext():
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker has said how large it grew, and what coverage measured in it is stored before it may be killed."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[PEAK] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        measured = getattr(sys.modules.get("coverage"), "Coverage", None)
        if measured is not None and (running := measured.current()) is not None:
            running.save()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """The controller knows how large the worker grew."""
    peak = getattr(node, "workeroutput", {}).get(PEAK)
    node.config.stash.setdefault(PEAKS, []).append(f"{node.gateway.id} {peak} MB" if peak else f"{node.gateway.id} ?")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The reader knows what memory the tests took."""
    if peaks := config.stash.get(PEAKS, []):
        terminalreporter.write_line(f"Memory of the workers at most: {', '.join(sorted(peaks))}")


def _alone(item: pytest.Item) -> bool:
    return item.get_closest_marker("alone") is not None


@contextmanager
def tidy() -> Iterator[None]:
    """While the block lasts, the interpreter cleans up after the block alone."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def turn(folder: Path, *, alone: bool) -> Iterator[None]:
    """While the block lasts, either nobody else has a turn or nobody has one alone."""
    with (folder / "door").open("w") as door, (folder / "room").open("w") as room:
        # Whoever waits for the room holds the door, so that those who share cannot keep out the one who does not.
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(room, fcntl.LOCK_UN)
