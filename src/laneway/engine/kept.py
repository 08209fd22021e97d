"""Loops that last as long as the process: an error nobody foresaw ends one, and it begins again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from laneway.engine.faults import ended

AGAIN_SECONDS = 1.0
Loop = Callable[[], Coroutine[Any, Any, None]]
_log = logging.getLogger("laneway.engine")


async def keep(name: str, loop: Loop, going: Callable[[], bool] = lambda: True, pause: float = AGAIN_SECONDS) -> None:
    """The loop has ended by itself, or failed when nobody needed it any more; after any other failure it began again.

    Cancelled, it is over when the loop is.
    """
    while True:
        task = asyncio.create_task(loop(), name=name)
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            await asyncio.wait([task])
        error = None if task.cancelled() else task.exception()
        if error is None or ended() or not going():
            return
        _log.critical("The %s ended and is started again.", name, exc_info=error)
        await asyncio.sleep(pause)
