"""Whether a result is worth saying, and when quiet hours let it be said."""

from __future__ import annotations

from datetime import UTC, datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from laneway.domain.schedule import NOTHING, quiet_hours, quiet_until, worth_saying
from laneway.errors import BadInput
from laneway.llm.prompts import Prompts

BERLIN = ZoneInfo("Europe/Berlin")


def test_nothing_is_not_worth_saying_and_everything_else_is() -> None:
    for text in (NOTHING, "nothing", " NOTHING.\n", "`NOTHING`", "**NOTHING**", '"Nothing!"', "", " \n"):
        assert not worth_saying(text), text
    worth = (
        "The disk is 91 % full.", "Nothing is left on /var: it is full.", "NOTHING\n\nBut the disk is 91 % full.", "0",
        "Nothing to report, but web2 did not answer.", "NOTHING NOTHING", "NO THING works: all is down.",
    )  # fmt: skip
    assert [text for text in worth if not worth_saying(text)] == []


def test_the_proactive_prompt_asks_for_exactly_this_word(tmp_path: Path) -> None:
    assert f"`{NOTHING}`" in Prompts(tmp_path).text("proactive")


def test_quiet_hours_are_read_or_refused() -> None:
    assert quiet_hours("22:00-07:00") == (time(22), time(7))
    assert quiet_hours("13 - 14:30") == (time(13), time(14, 30))
    for text in ("", "22:00", "22-25", "7-7", "22:00-07:00-08:00", "night"):
        with pytest.raises(BadInput, match="quiet hours"):
            quiet_hours(text)


def test_quiet_hours_over_midnight_end_in_the_morning() -> None:
    ends = {
        "21:59": None, "22:00": "17 07:00", "23:30": "17 07:00", "00:10": "16 07:00", "06:59": "16 07:00",
        "07:00": None, "12:00": None,
    }  # fmt: skip
    for at, until in ends.items():
        now = datetime.fromisoformat(f"2026-11-16T{at}").replace(tzinfo=BERLIN)
        found = quiet_until(time(22), time(7), now.astimezone(UTC), BERLIN)
        assert (f"{found.astimezone(BERLIN):%d %H:%M}" if found else None) == until, at


def test_quiet_hours_within_a_day_end_the_same_day() -> None:
    now = datetime(2026, 11, 16, 13, 30, tzinfo=BERLIN)
    found = quiet_until(time(13), time(15), now, BERLIN)
    assert found == datetime(2026, 11, 16, 15, tzinfo=BERLIN)
