"""Starts the keeper and the agent, and says how the agent is."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import socket
from dataclasses import dataclass

from laneway.observe.supervised.cgroup import Group, made
from laneway.observe.supervised.keeper import LEAVE, Wiring, adopt, keep
from laneway.observe.supervised.order import Order
from laneway.observe.supervised.terminal import Terminal, resize


@dataclass(frozen=True, slots=True)
class News:
    """One thing the keeper said: started, stopped, ended or failed, and the number that goes with it."""

    what: str
    number: int


class Child:
    """The agent, seen through its keeper."""

    def __init__(self, keeper: int, talk: socket.socket, master: int | None, group: Group | None) -> None:
        self.keeper, self.talk, self.master, self.group = keeper, talk, master, group
        self.pid: int | None = None
        self._unread = b""
        self._early: list[int] = []
        """Signals that came before there was anybody to get them."""
        self.lost = False
        """The keeper has ended though nobody asked it to."""

    def news(self) -> list[News]:
        """What the keeper has said since the last time; it does not wait."""
        with contextlib.suppress(BlockingIOError):
            try:
                heard = self.talk.recv(4096, socket.MSG_DONTWAIT)
            except ConnectionResetError:
                heard = b""
            self._unread += heard
            self.lost = not heard
        *lines, self._unread = self._unread.split(b"\n")
        told = [News(line.split()[0].decode(), int(line.split()[1])) for line in lines]
        for one in told:
            if one.what == "started":
                self.pid, early = one.number, self._early
                self._early = []
                for number in early:
                    self.signal(number)
        return told

    def signal(self, number: int) -> None:
        """The signal went to the agent's foreground: its own process group, or the job it put in front."""
        if self.pid is None:
            self._early.append(number)
            return
        with contextlib.suppress(OSError):
            os.killpg(self._foreground(self.pid), number)

    def _foreground(self, agent: int) -> int:
        if self.master is not None:
            with contextlib.suppress(OSError):
                return os.tcgetpgrp(self.master)
        return agent

    def bury(self) -> None:
        """What has ended among our own children is gone; orphans come to us if the keeper has died."""
        if self.lost:
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass

    def dismiss(self) -> None:
        """The keeper is gone, and all that belonged to this run is closed."""
        with contextlib.suppress(OSError):
            self.talk.sendall(LEAVE)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.keeper, 0)
        self.lost = True
        self.bury()
        self.talk.close()
        if self.master is not None:
            os.close(self.master)
        if self.group:
            self.group.close()


def start(order: Order, terminal: Terminal | None, ignored: frozenset[signal.Signals]) -> Child:
    """The keeper runs and is about to start the agent."""
    # Should the keeper be killed, what it had adopted comes to us.
    adopt()
    ours, theirs = socket.socketpair()
    master, slave = pty.openpty() if terminal else (None, None)
    if terminal and master is not None:
        resize(master, terminal.size())
    group = made(order.run_id)
    keeper = os.fork()
    if keeper == 0:
        ours.close()
        if master is not None:
            os.close(master)
        keep(order, _wiring(terminal, slave, group, ignored), theirs)
    theirs.close()
    if slave is not None:
        os.close(slave)
    if master is not None:
        os.set_blocking(master, False)
    return Child(keeper, ours, master, group)


def _wiring(
    terminal: Terminal | None, slave: int | None, group: Group | None, ignored: frozenset[signal.Signals]
) -> Wiring:
    if terminal is None:
        return Wiring((None, None, None), None, group, None, None, ignored)
    first, second, third = (slave if number in terminal.files else None for number in (0, 1, 2))
    return Wiring((first, second, third), slave, group, terminal.output, terminal.settings, ignored)
