"""Says things to the person on standard error, and not in the middle of what an agent is drawing."""

from __future__ import annotations

import contextlib
import os
from collections import deque

from laneway.domain.storable import storable
from laneway.observe.supervised.pump import Pump
from laneway.observe.supervised.terminal import is_plain

_MOST, _LONGEST = 200, 1_000
_BELL = b"\a"


class Speech:
    """Lines go out at once where they spoil nothing; else they are held until the end, and only the bell rings.

    They spoil nothing where standard error is not the agent's terminal, or where the agent reads lines and has not
    taken the whole screen. A program that reads single keys draws its own screen.
    """

    def __init__(self) -> None:
        self._pump: Pump | None = None
        self._paused: Pump | None = None
        self._master = -1
        self._held: deque[str] = deque(maxlen=_MOST)
        self._ring = False

    def shares(self, pump: Pump, master: int) -> None:
        """From now on standard error is a terminal that the agent draws on."""
        self._pump, self._master = pump, master

    def say(self, line: str, *, ring: bool = False) -> None:
        """The line has been said, or will be."""
        self._held.append(plain(line)[:_LONGEST])
        self._ring = self._ring or ring
        self.attend()

    def attend(self) -> None:
        """What can be said now has been."""
        if self._pump is None:
            self._write_out()
        elif self._spoils_nothing(self._pump):
            before = b"" if self._pump.screen.at_line_start else b"\r\n"
            for line in self._taken():
                self._pump.say(before + f"laneway: {line}\r\n".encode())
                before = b""
        elif self._ring and self._pump.screen.between and not self._pump.waiting:
            self._ring = False
            self._pump.say(_BELL)

    def pause(self) -> None:
        """The agent stands still and the terminal is an ordinary one: everything is said at once."""
        self._paused, self._pump = self._pump, None
        self._write_out()

    def resume(self) -> None:
        """The agent draws again."""
        self._pump, self._paused = self._paused, None

    def alone(self) -> None:
        """The agent has ended: everything held is said now."""
        self._pump = None
        self._write_out()

    def _spoils_nothing(self, pump: Pump) -> bool:
        return not pump.screen.alternate and pump.screen.between and is_plain(self._master)

    def _taken(self) -> list[str]:
        lines = list(self._held)
        self._held.clear()
        return lines

    def _write_out(self) -> None:
        for line in self._taken():
            with contextlib.suppress(OSError):
                os.write(2, f"laneway: {line}\n".encode())


def plain(text: str) -> str:
    """The text on one line, without anything a terminal would obey."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in storable(text)).split())
