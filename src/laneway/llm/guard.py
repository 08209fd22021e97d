"""A question asked right before every model call: may this process still act?

The engine sets it to check the worker's lease; whoever set nothing may always act.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Callback = Callable[[], Awaitable[None]]

_callback: ContextVar[Callback | None] = ContextVar("laneway_guard", default=None)


@contextmanager
def guarded_by(callback: Callback) -> Iterator[None]:
    """Inside, `check` awaits the callback; it forbids the call by raising."""
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


async def check() -> None:
    """Returns only if the call may be made."""
    callback = _callback.get()
    if callback is not None:
        await callback()
