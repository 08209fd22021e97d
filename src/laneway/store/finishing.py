"""What is being written down is written, whoever stops its writer, and however long the database is away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from math import inf
from typing import Any, TypeVar

from laneway.errors import Unavailable

T = TypeVar("T")


async def outlast(work: Callable[[], Awaitable[T]], seconds: float = inf) -> T:
    """What the work returns once the database is there for it; Unavailable if it stays away for so long."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return await work()
        except Unavailable:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(1)


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """What the work returns; a cancellation that comes meanwhile counts when it is over."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
