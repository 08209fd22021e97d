"""What a loopback model server remembers of every request."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from .script import Order

Auth: TypeAlias = Literal["x-api-key", "bearer"]
SECRET_HEADERS = ("x-api-key", "api-key", "authorization")


@dataclass
class Received:
    """One request: who asked what and when, and how it ended; times are seconds since the epoch."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    """Names in lower case; keys are masked but for their last four characters."""
    auth: Auth | None
    """Which header carried the key."""
    began: float = field(default_factory=time.time)
    ended: float | None = None
    body: Any = None
    """The parsed JSON, or the raw text when it was none."""
    status: int | None = None
    """The status sent, None when the connection was dropped before one."""
    order: Order | None = None
    """The order that was followed, None when the request was rejected or needed none."""
    client_left: bool = False
    """Whether the client went away before the answer was complete."""
    _over: threading.Event = field(default_factory=threading.Event, repr=False)

    def end(self) -> None:
        """The request is over and those who wait for its end are told."""
        if self.ended is None:
            self.ended = time.time()
        self._over.set()

    def wait_for_end(self, timeout: float = 30.0) -> Received:
        """The request is over, or TimeoutError is raised."""
        if not self._over.wait(timeout):
            raise TimeoutError(f"{self.method} {self.path} is still being answered after {timeout} s")
        return self


def masked(value: str) -> str:
    """The secret is unreadable but for its last four characters, and none of a short one is shown."""
    return f"***{value[-4:]}" if len(value) > 8 else "***"


def readable_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers as text, unmasked."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}


def mask_headers(headers: dict[str, str]) -> dict[str, str]:
    """The headers with every key in them masked."""
    return {name: _mask(value) if name in SECRET_HEADERS else value for name, value in headers.items()}


def _mask(value: str) -> str:
    scheme, space, secret = value.rpartition(" ")
    return f"{scheme}{space}{masked(secret)}"


def key_of(headers: dict[str, str]) -> tuple[Auth | None, str]:
    """Which header carries the key, and the key."""
    if headers.get("x-api-key"):
        return "x-api-key", headers["x-api-key"]
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return ("bearer", secret.strip()) if scheme.lower() == "bearer" and secret.strip() else (None, "")
