"""The one clock: everything that needs the time asks here, and tests replace it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol


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
