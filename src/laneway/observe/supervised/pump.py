"""Carries bytes between the person's terminal and the agent's, never waiting for either."""

from __future__ import annotations

import contextlib
import os
import select
import time

from laneway.observe.supervised.screen import Screen
from laneway.observe.supervised.terminal import Terminal

_PIECE = 64 * 1024
_MOST = 256 * 1024
"""Bytes that may wait; then the side that writes them has to."""


class Pump:
    """Two buffers. What the agent draws is shown to the `screen`, too."""

    def __init__(self, terminal: Terminal, master: int) -> None:
        self.screen = Screen()
        self._terminal, self._master = terminal, master
        self._shown = bytearray()
        self._typed = bytearray()
        self._over = False

    def wanted(self) -> tuple[list[int], list[int]]:
        """The files to wait for: to read from, and to write to."""
        reading, writing = [], []
        if not self._over and len(self._shown) < _MOST:
            reading.append(self._master)
        if self._terminal.reads and self._terminal.raw and len(self._typed) < _MOST:
            reading.append(0)
        if self._shown:
            writing.append(self._terminal.writes_to)
        if self._typed and not self._over:
            writing.append(self._master)
        return reading, writing

    def move(self, ready: set[int]) -> None:
        """What could be carried without waiting has been."""
        if 0 in ready and self._terminal.raw:
            with contextlib.suppress(OSError):
                self._typed += os.read(0, _PIECE)
        if self._typed:
            with contextlib.suppress(OSError):
                del self._typed[: os.write(self._master, self._typed)]
        if self._master in ready:
            self.draw()
        self.flush()

    def draw(self) -> bool:
        """What the agent has drawn is on its way; False if there is nothing now."""
        try:
            piece = os.read(self._master, _PIECE)
        except BlockingIOError:
            return False
        except OSError:
            # The last one who had the agent's terminal open has closed it.
            self._over = True
            return False
        self._shown += piece
        self.screen.feed(piece)
        return bool(piece)

    def say(self, text: bytes) -> None:
        """The text follows what the agent has drawn so far."""
        self._shown += text
        self.flush()

    def flush(self) -> None:
        """What the terminal takes now has been written."""
        with contextlib.suppress(OSError):
            while self._shown and (taken := self._terminal.write(bytes(self._shown[:_PIECE]))):
                del self._shown[:taken]

    @property
    def waiting(self) -> bool:
        """Whether something drawn is not on the terminal yet."""
        return bool(self._shown)

    def drain(self, quiet: float = 0.3, most: float = 2.0) -> None:
        """All that was drawn before the agent's end is on the terminal, unless that takes none of it."""
        until = time.monotonic() + most
        while time.monotonic() < until and (not self._over or self._shown):
            reading, writing, _ = select.select([] if self._over else [self._master], self.wanted()[1], [], quiet)
            if not reading and not writing:
                return
            self.move(set(reading) - {0})
