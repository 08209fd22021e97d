"""Loops that last as long as the process begin again after an error, and end when they are told to."""

from __future__ import annotations

import asyncio

import pytest

from laneway.engine.kept import keep

PAUSE = 0.01


async def test_a_loop_that_fails_begins_again_until_it_is_not_needed_or_ends_and_the_log_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun: list[int] = []

    async def run() -> None:
        begun.append(len(begun))
        if len(begun) < 3:
            raise ZeroDivisionError("nobody foresaw it")

    await asyncio.wait_for(keep("clockwork", run, going=lambda: len(begun) < 2, pause=PAUSE), 30)
    assert len(begun) == 2
    told = [record for record in caplog.records if "clockwork" in record.getMessage()]
    assert told
    assert all(record.exc_info is not None and "nobody foresaw it" in str(record.exc_info[1]) for record in told)
    await asyncio.wait_for(keep("clockwork", run, pause=PAUSE), 30)
    assert len(begun) == 3, "it ended by itself and stays ended"
