"""Work that one process does for all: whoever holds the lock does it, and another takes over when that one is gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from laneway.engine.faults import FAULTS, ended
from laneway.errors import Unavailable
from laneway.store.database import Connection, Database
from laneway.store.leading import TRY_AGAIN_SECONDS, leading, still_leading

Duty = Callable[[], Coroutine[Any, Any, None]]
CANCEL_AGAIN_SECONDS = 1.0
_log = logging.getLogger("laneway.engine.duties")


async def keep(db: Database, name: str, duty: Duty, pause: float = TRY_AGAIN_SECONDS) -> None:
    """Runs until cancelled: one process at a time does the duty, again and again if it ends or fails."""
    while not ended():
        try:
            async with leading(db, name, pause) as connection:
                await _while_leading(connection, name, duty, pause)
        except Unavailable:
            pass
        if not ended():
            await asyncio.sleep(pause)


async def _while_leading(connection: Connection, name: str, duty: Duty, pause: float) -> None:
    """The duty has run until it ended, or until the lock may be somebody else's."""
    task = asyncio.create_task(duty(), name=name)
    try:
        while not task.done():
            await asyncio.wait([task], timeout=pause)
            if not task.done():
                await still_leading(connection)
    finally:
        await _ended(task)
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, Unavailable):
        known = isinstance(error, FAULTS)
        _log.error("%s stopped: %s It begins again in a moment.", name, error, exc_info=None if known else error)


async def _ended(task: asyncio.Task[None]) -> None:
    """The task is over: a cancellation can be lost (see `ended`), so it is said until it is heard."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_AGAIN_SECONDS)
