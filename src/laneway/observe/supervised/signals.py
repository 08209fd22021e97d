"""Signals to us, heard one after the other in the loop; other threads wake the loop the same way."""

from __future__ import annotations

import contextlib
import os
import signal
from types import TracebackType
from typing import Any, Self

_HEARD = (
    *(signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP, signal.SIGCONT),
    *(signal.SIGWINCH, signal.SIGUSR1, signal.SIGUSR2),
)
_WAKE = b"\0"
_PYTHONS_OWN = {signal.SIGPIPE, getattr(signal, "SIGXFSZ", signal.SIGPIPE)}
"""Python ignores these itself; that is nobody's wish."""


class Signals:
    """While it is open, no signal that can be heard ends us by itself."""

    def __init__(self) -> None:
        self.reading, self._writing = os.pipe()
        os.set_blocking(self.reading, False)
        os.set_blocking(self._writing, False)
        self.ignored = frozenset(
            number for number in signal.Signals if number not in _PYTHONS_OWN and _is_ignored(number)
        )
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        for number in _HEARD:
            # What was ignored when we were started (nohup) stays ignored.
            if number not in self.ignored:
                self._before[number] = signal.signal(number, _nothing)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        signal.set_wakeup_fd(-1)
        for number, before in self._before.items():
            signal.signal(number, before)
        os.close(self.reading)
        os.close(self._writing)

    def taken(self) -> list[int]:
        """The signals that came since the last time."""
        heard = b""
        with contextlib.suppress(BlockingIOError):
            heard = os.read(self.reading, 4096)
        return [number for number in heard if number]

    def wake(self) -> None:
        """Whoever waits for signals wakes up."""
        with contextlib.suppress(OSError):
            os.write(self._writing, _WAKE)


def _is_ignored(number: signal.Signals) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN


def _nothing(number: int, frame: object) -> None:
    """The signal is heard through the pipe."""


def stop_ourselves() -> None:
    """We, and what the shell started with us, were stopped, and go on; at once where no shell could continue us."""
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.killpg(os.getpgrp(), signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, before)
