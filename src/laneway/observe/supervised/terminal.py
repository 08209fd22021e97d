"""The person's terminal: what it is, how large, and raw only while we have it in the foreground."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import termios
import tty
from typing import Any

_LITTLE = 256
_SIZE = struct.Struct("HHHH")


class Terminal:
    """The terminal behind one or more of our files 0, 1 and 2. It is given back as it was taken."""

    def __init__(self, files: frozenset[int]) -> None:
        self.files = files
        self.reads = 0 in files
        self.output = next(number for number in (1, 2, 0) if number in files)
        self.settings: list[Any] = termios.tcgetattr(self.output)
        self.raw = False
        self._writing = self._opened()

    @staticmethod
    def ours() -> Terminal | None:
        """The terminal we were started in; None if all three files are something else."""
        files = frozenset(number for number in (0, 1, 2) if _is_terminal(number))
        return Terminal(files) if files else None

    @property
    def foreground(self) -> bool:
        """Whether the terminal listens to us; in the background we neither read nor change it."""
        try:
            return os.tcgetpgrp(self.output) == os.getpgrp()
        except OSError:
            # Not our controlling terminal, so there is nobody to share it with.
            return True

    def take(self) -> None:
        """Every key reaches the agent's terminal instead of this one; nothing happens in the background."""
        if self.raw or not self.reads or not self.foreground:
            return
        with contextlib.suppress(termios.error):
            settings = termios.tcgetattr(self.output)
            tty.setraw(self.output, termios.TCSADRAIN)
            self.settings, self.raw = settings, True

    def give_back(self) -> None:
        """The terminal is as it was."""
        if self.raw:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self.output, termios.TCSADRAIN, self.settings)
            self.raw = False

    def size(self) -> bytes:
        """Rows and columns, as the kernel keeps them."""
        try:
            return fcntl.ioctl(self.output, termios.TIOCGWINSZ, bytes(_SIZE.size))
        except OSError:
            return _SIZE.pack(24, 80, 0, 0)

    def write(self, text: bytes) -> int:
        """As much as the terminal takes now has been written; it may be nothing, but this never waits."""
        if self._writing == self.output:
            # It could not be opened anew: a little at a time, and only what fits.
            text = text[:_LITTLE] if select.select([], [self._writing], [], 0)[1] else b""
        try:
            return os.write(self._writing, text) if text else 0
        except BlockingIOError:
            return 0

    @property
    def writes_to(self) -> int:
        return self._writing

    def close(self) -> None:
        """What was opened here is closed."""
        self.give_back()
        if self._writing != self.output:
            os.close(self._writing)
            self._writing = self.output

    def _opened(self) -> int:
        # A terminal that is held (Ctrl-S) must not hold us. Opened anew, its other users are not changed by that.
        try:
            return os.open(os.ttyname(self.output), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError:
            return self.output


def _is_terminal(number: int) -> bool:
    try:
        return os.isatty(number)
    except OSError:
        return False


def resize(master: int, size: bytes) -> None:
    """The agent's terminal has this size; the kernel tells the agent."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(master, termios.TIOCSWINSZ, size)


def is_plain(master: int) -> bool:
    """Whether the agent reads lines, so that lines may be printed between its own; a program that draws reads keys."""
    try:
        return bool(termios.tcgetattr(master)[3] & termios.ICANON)
    except termios.error:
        return True
