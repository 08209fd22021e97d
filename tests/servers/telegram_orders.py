"""How the loopback Bot API goes wrong on order, and how it refuses."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any, TypeAlias


class Refused(Exception):
    """The Bot API answers with this error."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code, self.description, self.parameters = code, description, parameters

    def body(self) -> dict[str, Any]:
        """The error as it travels."""
        answer: dict[str, Any] = {"ok": False, "error_code": self.code, "description": self.description}
        return {**answer, "parameters": self.parameters} if self.parameters else answer


def bad(words: str, **parameters: int) -> Refused:
    """A 400 with these words."""
    return Refused(400, f"Bad Request: {words}", **parameters)


@dataclass(frozen=True)
class Flood:
    """429: come back after so many seconds."""

    retry_after: int

    def refusal(self) -> Refused:
        """The error as Telegram words it."""
        return Refused(429, f"Too Many Requests: retry after {self.retry_after}", retry_after=self.retry_after)


@dataclass(frozen=True)
class Fail:
    """The request is not carried out; as JSON, or as the page of a gateway in front of it."""

    status: int = 502
    description: str = "Bad Gateway"
    page: bool = False


@dataclass(frozen=True)
class Cut:
    """The connection is dropped without an answer, before or after the request was carried out."""

    taken: bool


@dataclass(frozen=True)
class Garbled:
    """The request is carried out, and the answer is half a JSON."""


@dataclass(frozen=True)
class Slow:
    """The request is carried out at once and answered after so many seconds, if the client still waits."""

    seconds: float


@dataclass(frozen=True)
class Fine:
    """The request is carried out; stands in a script between mishaps."""


Order: TypeAlias = Flood | Fail | Cut | Garbled | Slow | Fine


@dataclass
class Orders:
    """What shall happen next, per method and chat; each order is followed once, an outage until it is lifted."""

    outage: Order | None = None
    """While set, every request meets this."""
    _waiting: dict[tuple[str, int | None], deque[Order]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def give(self, method: str, *orders: Order, chat: int | None = None) -> None:
        """The next calls of the method (to this chat) meet these orders, one each."""
        with self._lock:
            self._waiting.setdefault((method, chat), deque()).extend(orders)

    def next(self, method: str, chat: int | None) -> Order:
        """What this call meets."""
        with self._lock:
            for key in ((method, chat), (method, None)):
                if waiting := self._waiting.get(key):
                    return waiting.popleft()
        return self.outage or Fine()
