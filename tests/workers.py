"""Tests run in several processes, the slow ones first, and the memory of each process is told at the end."""

from __future__ import annotations

import os
import resource
import sys
from typing import Any

import pytest

MOST_WORKERS = 8
"""Each has a PostgreSQL and encoders of its own; more of them would wait for memory and disk."""
PEAK = "laneway_peak"
PEAKS = pytest.StashKey[list[str]]()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto` there is a worker for each processor, hyper-threads included, and never only one."""
    return min(max(2, os.cpu_count() or 2), MOST_WORKERS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests come first, so that no worker ends long after the others."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """The encoders stay loaded until the last test of a folder, and no longer."""
    done = nextitem is None or nextitem.path.parent != item.path.parent
    if done and "laneway.classify.local" in sys.modules:
        from tests.classify.encoders import release

        release()


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
