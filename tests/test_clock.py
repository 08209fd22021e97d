"""The machine's own time zone, as the clock tells it."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from laneway.clock import machine_zone


@pytest.mark.parametrize("written", ["Asia/Kolkata", ":Asia/Kolkata"])
def test_the_environment_names_the_zone(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("TZ", written)
    assert machine_zone() == "Asia/Kolkata"


@pytest.mark.parametrize("written", ["", "Mars/Base", "../../etc/passwd"])
def test_a_zone_nobody_knows_is_passed_over_for_one_that_exists(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("TZ", written)
    assert ZoneInfo(machine_zone()).key == machine_zone()
