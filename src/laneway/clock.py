"""The one clock: everything that needs the time asks here, and tests replace it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol
from zoneinfo import available_timezones


class Clock(Protocol):
    """Tells the time in UTC."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass
class FakeClock:
    """A clock that stands still until a test moves it."""

    at: datetime = field(default_factory=lambda: datetime(2026, 1, 1, 12, 0, tzinfo=UTC))

    def now(self) -> datetime:
        return self.at

    def advance(self, seconds: float) -> None:
        """The clock shows `seconds` later than before."""
        self.at += timedelta(seconds=seconds)


def local(moment: datetime) -> datetime:
    """The same moment in the reader's own time zone, for people to read."""
    return moment.astimezone()


def machine_zone() -> str:
    """The name of this machine's time zone, `UTC` if it does not say."""
    named = os.environ.get("TZ", "").removeprefix(":")
    candidates = [named, _linked_zone(), _written_zone(), "UTC"]
    return next(name for name in candidates if name and name in available_timezones())


def _linked_zone() -> str:
    path = os.path.realpath("/etc/localtime")
    return path.partition("zoneinfo/")[2].removeprefix("posix/").removeprefix("right/")


def _written_zone() -> str:
    try:
        return Path("/etc/timezone").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
