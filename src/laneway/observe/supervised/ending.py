"""Stops, continues or ends all processes of a run, those that appear meanwhile included."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

from laneway.observe.supervised.tree import Process, Tree, send

_LOOK = 0.03
"""Seconds between two looks."""
_SURELY = 3
"""Looks that find nobody until that is believed: a list of processes is not read in one moment."""
_LAST_WAIT = 5.0
"""Seconds that processes get to vanish after KILL; the kernel itself may hold one longer."""
Bury = Callable[[], object]


def end(tree: Tree, first: int = signal.SIGTERM, grace: float = 1.0, bury: Bury = lambda: None) -> list[Process]:
    """Everybody was asked to end, and after the grace made to; returns those who live all the same."""
    if grace > 0:
        _ask(tree, first, grace, bury)
    return _make(tree, bury)


def _ask(tree: Tree, first: int, grace: float, bury: Bury) -> None:
    """Each has got the signal once; it is over when nobody is left or the time is up."""
    asked = set[tuple[int, int]]()
    # The grace is for those who were asked: a look that took long takes nothing of it away.
    living, until = tree.living(), time.monotonic() + grace
    while living:
        for process in living:
            if (process.pid, process.began) not in asked:
                asked.add((process.pid, process.began))
                send(process, first)
            # What is stopped hears nothing until it goes on.
            if process.stopped:
                send(process, signal.SIGCONT)
        if time.monotonic() >= until:
            return
        time.sleep(_LOOK)
        bury()
        living = tree.living(marked=False)


def _make(tree: Tree, bury: Bury) -> list[Process]:
    """KILL, again and again, until nobody is found or the kernel does not let go of somebody."""
    until, clear = time.monotonic() + _LAST_WAIT, 0
    while clear < _SURELY:
        bury()
        living = tree.living()
        if living and time.monotonic() > until:
            return living
        clear = 0 if living else clear + 1
        # One that forks as fast as it is killed cannot while it is stopped.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in living:
                send(process, number)
        if living and tree.group:
            tree.group.kill()
        if clear < _SURELY:
            time.sleep(_LOOK / 3 if not living else _LOOK)
    return []


def freeze(tree: Tree, seconds: float = 2.0) -> list[Process]:
    """Everybody is stopped; returns who was there."""
    until = time.monotonic() + seconds
    while True:
        living = tree.living()
        moving = [process for process in living if not process.stopped]
        for process in moving:
            send(process, signal.SIGSTOP)
        if not moving or time.monotonic() > until:
            return living
        time.sleep(_LOOK / 3)


def thaw(tree: Tree) -> None:
    """Everybody goes on."""
    for process in tree.living():
        send(process, signal.SIGCONT)
