"""What is counted by the day is counted within one."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

LONGEST_SECONDS = 30
"""No test here takes so long."""


@pytest.fixture(autouse=True)
def one_day() -> None:
    """The test ends on the day (UTC) on which it begins, and in the same month: the last moments are waited out."""
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    left = (midnight - now).total_seconds()
    if left < LONGEST_SECONDS:
        time.sleep(left + 0.1)
