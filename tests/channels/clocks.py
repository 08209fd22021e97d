"""A clock for whoever waits its turn: sleeping moves it."""

from __future__ import annotations

from laneway.clock import FakeClock


class Time(FakeClock):
    """Shows noon, until somebody sleeps."""

    async def sleep(self, seconds: float) -> None:
        """The clock shows so much later."""
        self.advance(seconds)

    @property
    def seconds(self) -> float:
        """Seconds since noon."""
        return self.now().timestamp() - FakeClock().now().timestamp()
