"""Processes of a run that are nobody's children are found, and signals reach exactly who they are for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from laneway.observe.supervised.ending import end
from laneway.observe.supervised.order import MARK
from laneway.observe.supervised.tree import Process, Tree, look, send

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
SLEEP = (sys.executable, "-c", "import time; print(flush=True); time.sleep(600)")


@contextmanager
def started(mark: str = "", **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has no children; it is gone when the block is left."""
    environ = {**os.environ, MARK: mark} if mark else None
    process = subprocess.Popen(SLEEP, stdout=subprocess.PIPE, env=environ, **options)
    assert process.stdout is not None
    assert process.stdout.readline()
    yield process
    process.kill()
    process.wait()


class SlowTree(Tree):
    """A tree on a machine that is so busy that one look takes longer than the grace."""

    def living(self, *, marked: bool = True) -> list[Process]:
        found = super().living(marked=marked)
        time.sleep(0.1)
        return found


def test_a_process_that_is_nobodys_child_is_found_by_its_mark_and_asked_to_end() -> None:
    with (
        started() as nobody,
        started("one", start_new_session=True) as marked,
        started("one-more", start_new_session=True) as other,
    ):
        tree = SlowTree("one", nobody.pid)
        assert [process.pid for process in tree.living()] == [marked.pid]
        assert tree.living(marked=False) == []
        assert end(tree, grace=0.05, bury=marked.poll) == []
        # It was asked before it was killed, however long the looking takes.
        assert marked.wait(10) == -signal.SIGTERM
        assert other.poll() is None


def test_a_signal_does_not_reach_a_later_process_with_the_same_number() -> None:
    with started() as nobody:
        process = look(nobody.pid)
        assert process is not None
        assert not send(replace(process, began=process.began - 1), signal.SIGKILL)
        assert look(nobody.pid) is not None
        assert send(process, 0)
