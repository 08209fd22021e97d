"""A process that runs until it is asked to end: the first signal asks, the second one ends it at once."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SWITCH_SECONDS = 0.0005
YOUNG_SECONDS = 300
_M_ARENA_MAX = -8


class Ending:
    """Whether somebody asked this process to end, and by which signal."""

    def __init__(self, at_once: Callable[[], None]) -> None:
        """`at_once` is called right before a second signal ends the process, and must not wait for anything."""
        self.signal: int | None = None
        self._asked = asyncio.Event()
        self._at_once = at_once
        self._loop = asyncio.get_running_loop()

    @contextmanager
    def heard(self) -> Iterator[Ending]:
        """SIGINT and SIGTERM are heard here while the block lasts."""
        # Not through the event loop: a second signal must get through even when the loop is stuck.
        earlier = {number: signal.signal(number, self._hear) for number in SIGNALS}
        try:
            yield self
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)

    @property
    def asked(self) -> bool:
        return self.signal is not None

    async def wait(self) -> None:
        """Somebody has asked this process to end."""
        await self._asked.wait()

    def end(self) -> None:
        """The end is asked for without a signal: there is nothing left to do."""
        self._asked.set()

    @property
    def exit_code(self) -> int:
        """0 when it was asked by SIGTERM, which is how a supervisor asks; 130 after Ctrl-C."""
        return 128 + signal.SIGINT if self.signal == signal.SIGINT else 0

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None:
            self._at_once()
            os._exit(128 + number)
        self.signal = number
        self._loop.call_soon_threadsafe(self._asked.set)


def run(main: Coroutine[Any, Any, int]) -> int:
    """What the process's main coroutine returns, run on the fastest event loop there is a wheel of."""
    _limit_heaps()
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    return uvloop.run(main)


def _limit_heaps() -> None:
    """Thirty threads share two heaps: with one each, as the C library has it, each keeps what it freed."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def age() -> float:
    """Seconds since the command began, its own loading included."""
    from laneway.cli import BEGAN

    return time.monotonic() - BEGAN


async def settle() -> None:
    """Neither what this process has loaded nor a thread of its own holds up its event loop for long."""
    import anyio.lowlevel

    # Its first use loads what it needs on this loop; now nobody waits for that.
    await anyio.lowlevel.checkpoint()
    # Half a million objects are looked through in a quarter of a second, in which nothing else happens here.
    gc.collect()
    gc.freeze()
    gc.callbacks.append(_freeze_what_stays)
    # A thread that computes keeps the interpreter for so long before the event loop gets it, each time it comes back
    # from the kernel: with the usual five milliseconds, a small answer takes fifty.
    sys.setswitchinterval(SWITCH_SECONDS)


def _freeze_what_stays(phase: str, info: dict[str, int]) -> None:
    """What the first requests had loaded is not looked through again, either."""
    if phase == "stop" and info["generation"] == 2:
        gc.freeze()
        if age() > YOUNG_SECONDS:
            gc.callbacks.remove(_freeze_what_stays)
