"""Work in rounds: what is due is done, and the next round waits until something new is told of or falls due."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing

from laneway.engine.faults import ended
from laneway.errors import Unavailable
from laneway.store.database import Database

Told = tuple[str, str] | None
"""A notification: its channel and what it says; None where some may have been missed."""


async def rounds(
    wake: asyncio.Event,
    turn: Callable[[], Awaitable[float]],
    listening: Coroutine[None, None, None],
    *,
    going: Callable[[], bool] = lambda: True,
    breath: float = 0.0,
) -> None:
    """Turns were taken while it was `going` and nobody cancelled it, one after the other.

    A turn returns how many seconds nothing can be due; `wake` ends the wait, and `breath` seconds after it others may
    have come, too. `listening` runs beside it all the time and sets `wake`.
    """
    listener = asyncio.create_task(listening)
    try:
        while going() and not ended():
            wake.clear()
            pause = await turn()
            if ended():
                return
            try:
                async with asyncio.timeout(pause):
                    await wake.wait()
                    await asyncio.sleep(breath)
            except TimeoutError:
                pass
    finally:
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)


async def listen(db: Database, hear: Callable[[Told], None], *channels: str) -> None:
    """Everything told on these channels was heard until somebody cancelled this; a database that goes is waited for."""
    while not ended():
        try:
            async with aclosing(db.listen(*channels)) as notifications:
                async for told in notifications:
                    if ended():
                        return
                    hear(told)
        except Unavailable:
            await asyncio.sleep(1)
