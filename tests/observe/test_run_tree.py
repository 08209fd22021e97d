"""The three ways to find the processes of a run, each by itself, and signals that reach exactly who they are for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from laneway.observe.supervised.cgroup import Group, made
from laneway.observe.supervised.ending import end, freeze, thaw
from laneway.observe.supervised.order import MARK
from laneway.observe.supervised.tree import Process, Tree, look, send
from tests.observe.runs import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
SLEEP = (sys.executable, "-c", "import time; print(flush=True); time.sleep(600)")


def started(**options: object) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(SLEEP, stdout=subprocess.PIPE, **options)  # type: ignore[call-overload]
    assert process.stdout.readline()
    return process  # type: ignore[no-any-return]


@pytest.fixture
def nobody() -> Iterator[int]:
    """The number of a process that has no children."""
    process = started()
    yield process.pid
    process.kill()
    process.wait()


@pytest.fixture
def group() -> Iterator[Group | None]:
    """A control group, or None where nobody may make one."""
    group = made("test")
    yield group
    if group is None:
        return
    group.kill()
    until(lambda: not group.members(), "the group is empty")
    group.close()
    assert not group.folder.exists()


def test_a_process_that_is_nobodys_child_is_found_by_its_mark(nobody: int) -> None:
    marked = started(env={**os.environ, MARK: "one"}, start_new_session=True)
    other = started(env={**os.environ, MARK: "one-more"}, start_new_session=True)
    try:
        tree = Tree("one", nobody)
        assert [process.pid for process in tree.living()] == [marked.pid]
        assert tree.living(marked=False) == []
        assert end(tree, bury=marked.poll) == []
        assert marked.wait(10) == -signal.SIGTERM
        assert other.poll() is None
    finally:
        for process in (marked, other):
            process.kill()
            process.wait()


class SlowTree(Tree):
    """A tree on a machine that is so busy that one look takes longer than the grace."""

    def living(self, *, marked: bool = True) -> list[Process]:
        found = super().living(marked=marked)
        time.sleep(0.1)
        return found


def test_everybody_is_asked_before_being_killed_however_long_the_looking_takes(nobody: int) -> None:
    marked = started(env={**os.environ, MARK: "four"})
    assert end(SlowTree("four", nobody), grace=0.05, bury=marked.poll) == []
    assert marked.wait(10) == -signal.SIGTERM


def test_a_process_that_is_nobodys_child_is_found_by_its_group(nobody: int, group: Group | None) -> None:
    if group is None:
        return
    member = started(preexec_fn=group.join)
    outside = started()
    try:
        tree = Tree("none", nobody, group=group)
        assert [process.pid for process in tree.living()] == [member.pid]
        assert end(tree, grace=0, bury=member.poll) == []
        assert member.wait(10) == -signal.SIGKILL
        assert outside.poll() is None
    finally:
        for process in (member, outside):
            process.kill()
            process.wait()


def test_a_signal_does_not_reach_a_later_process_with_the_same_number(nobody: int) -> None:
    process = look(nobody)
    assert process is not None
    assert not send(replace(process, began=process.began - 1), signal.SIGKILL)
    assert look(nobody) is not None
    assert send(process, 0)


def test_all_are_stopped_and_go_on(nobody: int) -> None:
    marked = started(env={**os.environ, MARK: "two"})
    try:
        tree = Tree("two", nobody)
        assert [process.pid for process in freeze(tree, 30)] == [marked.pid]
        assert all(process.stopped for process in tree.living())
        thaw(tree)
        until(lambda: not any(process.stopped for process in tree.living()), "it goes on")
    finally:
        marked.kill()
        marked.wait()


def test_what_is_stopped_hears_that_it_has_to_end(nobody: int) -> None:
    marked = started(env={**os.environ, MARK: "three"})
    tree = Tree("three", nobody)
    freeze(tree, 30)
    assert end(tree, grace=30, bury=marked.poll) == []
    assert marked.wait(10) == -signal.SIGTERM
