"""The border of reactors: whatever one of them does, the work and the other reactors go on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

_log = logging.getLogger("laneway.reactors")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failed:
    """A reactor broke, on an event or while it was made, and was passed over."""

    reactor: str
    error: str


def attempted(name: str, call: Callable[[], T], *, again: bool = False) -> T | Failed:
    """What the call gave, or that it failed; `again` says that its failing is no news."""
    try:
        return call()
    except (Exception, SystemExit) as error:  # noqa: BLE001  the border of the reactor chain
        if not again:
            _log.warning("The reactor %s failed and was passed over.", name, exc_info=error)
        return Failed(name, f"{type(error).__name__}: {error}"[:500])
