"""Tells whoever wants to know that a model was called, and what the call came to.

The engine listens while a job runs; where nobody listens, nothing is told. It costs no question to the database.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal

from laneway.domain.session import NO_TOKENS, Tokens


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """One call of a model; `entry` is its row in the ledger, `failed` what went wrong, empty if nothing did."""

    entry: int
    model: str
    tokens: Tokens = NO_TOKENS
    cost: Decimal | None = None
    text: str = ""
    failed: str = ""
    seconds: float = 0.0


Listener = Callable[[ModelCalled], Awaitable[None]]

_listener: ContextVar[Listener | None] = ContextVar("laneway_noted", default=None)


@contextmanager
def noted_by(listener: Listener) -> Iterator[None]:
    """Inside, `note` awaits the listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


async def note(called: ModelCalled) -> None:
    """Whoever listens has heard of the call."""
    listener = _listener.get()
    if listener is not None:
        await listener(called)
