"""Asks what is to happen to an agent that stands still: it goes on, or it ends."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import termios
import time
from collections.abc import Iterator

from laneway.observe.supervised.signals import Signals
from laneway.observe.supervised.terminal import Terminal

_NO = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
_ANSWERS = {"r": True, "resume": True, "k": False, "kill": False}
_QUESTION = "laneway: the agent and all it started stand still. [r]esume or [k]ill? "


def is_refused(signals: Signals) -> bool:
    """Whether a signal that would end us came before anybody was asked; a SIGCONT from before is no answer."""
    return not _NO.isdisjoint(signals.taken())


def resumes(terminal: Terminal | None, signals: Signals, seconds: float) -> bool:
    """Whether it goes on. Nobody to ask: not, unless SIGCONT comes in time. A signal that would end us: not."""
    with _keyboard(terminal) as keyboard:
        return _waited(signals, seconds) if keyboard is None else _asked(keyboard, signals)


@contextlib.contextmanager
def _keyboard(terminal: Terminal | None) -> Iterator[int | None]:
    if terminal is not None and terminal.reads:
        yield 0
        return
    try:
        file = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        yield None
        return
    try:
        yield file
    finally:
        os.close(file)


def _asked(keyboard: int, signals: Signals) -> bool:
    with contextlib.suppress(termios.error):
        # What was typed for the agent is no answer.
        termios.tcflush(keyboard, termios.TCIFLUSH)
    while True:
        with contextlib.suppress(OSError):
            os.write(keyboard, _QUESTION.encode())
        line = _line(keyboard, signals)
        if line is None:
            return False
        if line.strip().lower() in _ANSWERS:
            return _ANSWERS[line.strip().lower()]


def _line(keyboard: int, signals: Signals) -> str | None:
    """What the person typed; None if the terminal has gone or a signal ends the matter."""
    while True:
        ready = select.select([keyboard, signals.reading], [], [])[0]
        if _NO.intersection(signals.taken()):
            return None
        if keyboard in ready:
            with contextlib.suppress(OSError):
                return os.read(keyboard, 1024).decode("utf-8", "replace") or None
            return None


def _waited(signals: Signals, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        select.select([signals.reading], [], [], left)
        heard = signals.taken()
        if _NO.intersection(heard):
            return False
        if signal.SIGCONT in heard:
            return True
    return False
