"""The orders a loopback model server follows: what to answer next, and how to go wrong."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """One parsed request, told in the same words whichever API it came by."""

    model: str
    text: str
    """What the user said last; tool results are not words of the user."""
    tool_results: tuple[str, ...]
    """The results of tools given since the model last spoke."""
    stream: bool
    body: Json


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The token counts as the wire will show them; without them they are estimated, and Anthropic has a cache."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cache_read: int = 0
    cache_write: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True)
class Say(Figures):
    """The model says a text; with `filter` a filter of the provider has ended it."""

    text: str
    stop: Literal["end", "filter"] = "end"


@dataclass(frozen=True)
class CallTool(Figures):
    """The model calls a tool."""

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Refuse(Figures):
    """The model refuses, in the way its API reports a refusal."""

    text: str = "I can't help with that."


Turn: TypeAlias = Say | CallTool | Refuse

LONG = Say("The first words of an answer that is long enough to be broken off before it ends.")


@dataclass(frozen=True)
class Delay:
    """The order is followed, each piece of its text taking this many seconds."""

    order: Order
    per_piece: float


@dataclass(frozen=True)
class Hang:
    """The server falls silent, at once or after some pieces of the stream, then goes on."""

    seconds: float
    then: Order = LONG
    after_pieces: int = 0
    until: threading.Event | None = None
    """It goes on as soon as this has happened, without waiting for the time to pass."""


@dataclass(frozen=True)
class CutStream:
    """The connection is dropped after some pieces; with 0 it is dropped before a single byte."""

    after_pieces: int
    of: Order = LONG


@dataclass(frozen=True)
class Fail:
    """The server answers an error; with `after_pieces` it is reported inside a stream that began well."""

    status: int
    retry_after: float | None = None
    body: Mapping[str, Any] | None = None
    message: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    after_pieces: int | None = None
    of: Order = LONG


@dataclass(frozen=True)
class Malformed:
    """The server answers 200 with something that is not JSON; a stream turns bad after one piece."""

    text: str = '{"id": "broken", "content": ['
    after_pieces: int = 1
    of: Order = LONG


Order: TypeAlias = Turn | Delay | Hang | CutStream | Fail | Malformed
Break: TypeAlias = Hang | CutStream | Fail | Malformed
Decide: TypeAlias = Callable[[Asked], Order]


@dataclass(frozen=True)
class Plan:
    """An order unfolded: the turn to deliver, its pace, and the mishap on the way."""

    turn: Turn
    wait: float = 0.0
    until: threading.Event | None = None
    """What ends the wait early."""
    per_piece: float = 0.0
    mishap: Break | None = None


def plan(order: Order) -> Plan:
    """The order is unfolded to the turn it carries and what happens to that turn."""
    match order:
        case Delay():
            return replace(plan(order.order), per_piece=order.per_piece)
        case Hang(after_pieces=0):
            inner = plan(order.then)
            return replace(inner, wait=inner.wait + order.seconds, until=order.until)
        case Hang():
            return replace(plan(order.then), mishap=order)
        case CutStream() | Fail() | Malformed():
            return replace(plan(order.of), mishap=order)
        case _:
            return Plan(order)


def echo(asked: Asked) -> Order:
    """The model repeats what it was told last: the tool results if there are any, else the user's words."""
    return Say("echo: " + (" | ".join(asked.tool_results) or asked.text))


class Script:
    """A queue of orders, taken one per answered request; when it is empty the default is followed."""

    def __init__(self, *orders: Order | Decide, default: Order | Decide = echo) -> None:
        self._queue: deque[Order | Decide] = deque(orders)
        self._lock = threading.Lock()
        self.default = default

    def then(self, *orders: Order | Decide) -> Script:
        """The orders stand at the end of the queue."""
        with self._lock:
            self._queue.extend(orders)
        return self

    @property
    def left(self) -> int:
        """How many orders have not been followed yet."""
        return len(self._queue)

    def next(self, asked: Asked) -> Order:
        """The next order has left the queue; a callable one has been asked what to do."""
        with self._lock:
            order = self._queue.popleft() if self._queue else self.default
        return order(asked) if callable(order) else order
