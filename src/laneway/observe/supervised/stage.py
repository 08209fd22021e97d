"""What the person sees and types: their terminal, the agent's, the bytes between the two, and lines of ours."""

from __future__ import annotations

import select
import signal
import time

from laneway.observe.supervised.child import Child, start
from laneway.observe.supervised.order import Order
from laneway.observe.supervised.pump import Pump
from laneway.observe.supervised.speech import Speech
from laneway.observe.supervised.terminal import Terminal, resize

_LONGEST_WAIT, _SHORT_WAIT = 1.0, 0.2


class Stage:
    """Without a terminal there is nothing to carry, and lines of ours just go to standard error."""

    def __init__(self, order: Order, ignored: frozenset[signal.Signals]) -> None:
        self.speech = Speech()
        self.terminal = Terminal.ours()
        self.child = self._started(order, ignored)
        self._pump: Pump | None = None
        if self.terminal and self.child.master is not None:
            self._pump = Pump(self.terminal, self.child.master)
            if 2 in self.terminal.files:
                self.speech.shares(self._pump, self.child.master)
        self._size = self.terminal.size() if self.terminal else b""
        self._resizing = 0.0

    def _started(self, order: Order, ignored: frozenset[signal.Signals]) -> Child:
        if self.terminal:
            self.terminal.take()
        try:
            return start(order, self.terminal, ignored)
        except OSError:
            if self.terminal:
                self.terminal.close()
            raise

    def wait(self, files: list[int], most: float | None) -> None:
        """One of the files can be read, or it is time to look around; bytes have been carried meanwhile."""
        reading, writing = self._pump.wanted() if self._pump else ([], [])
        left = _LONGEST_WAIT if most is None else min(_LONGEST_WAIT, max(0.0, most))
        if self.terminal and self.terminal.reads and not self.terminal.raw:
            left = min(left, _SHORT_WAIT)
        if time.monotonic() < self._resizing:
            left = min(left, _SHORT_WAIT / 4)
        ready = select.select([*files, *reading], writing, [], left)
        if self._pump:
            self._pump.move({*ready[0], *ready[1]})
        if self.terminal:
            # A job that was sent to the background and fetched back gets no signal for it.
            self.terminal.take()
            self._fit(self.terminal)

    def resized(self) -> None:
        """The window changes its size; the kernel tells so before it has noted it, so it is looked for a while."""
        self._resizing = time.monotonic() + _LONGEST_WAIT

    def _fit(self, terminal: Terminal) -> None:
        """The agent's terminal is as large as the person's, and the agent knows."""
        size = terminal.size()
        if size != self._size and self.child.master is not None:
            self._size = size
            resize(self.child.master, size)
            # An agent quick enough to have read the old size is told once more.
            self.child.signal(signal.SIGWINCH)

    def leave(self) -> None:
        """The terminal is an ordinary one, and the person's."""
        if self.terminal and self._pump:
            self._pump.say(self._pump.screen.leave())
            self.terminal.give_back()

    def enter(self) -> None:
        """The terminal is the agent's again, which draws it anew."""
        if self.terminal and self._pump:
            self.terminal.take()
            self._pump.say(self._pump.screen.enter())
            self._size = b""
            self._fit(self.terminal)

    def meanwhile(self) -> None:
        """What the agent still draws while it ends is carried, so that it need not wait for us."""
        self.child.news()
        self.child.bury()
        if self._pump and self.child.master is not None:
            self._pump.move({self.child.master})

    def empty(self) -> None:
        """All that the agent drew is on the terminal, and what it left switched on there is off."""
        if self._pump:
            self._pump.drain()
            self._pump.say(self._pump.screen.leave())

    def close(self) -> None:
        """The terminal is given back, and the keeper is gone."""
        if self.terminal:
            self.terminal.close()
        self.child.dismiss()
