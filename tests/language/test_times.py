"""One moment in words: understood in the person's zone, refused when it is past or could mean two moments."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from laneway.errors import BadInput
from laneway.language.times import moment_of, shown, zone_named

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)
"""10:30 on a Monday in Berlin."""

UNDERSTOOD = {
    "in 20 minutes": "2026-11-16 10:50",
    "in an hour": "2026-11-16 11:30",
    "in half an hour": "2026-11-16 11:00",
    "in 1.5 hours": "2026-11-16 12:00",
    "in 2 hours and 15 minutes": "2026-11-16 12:45",
    "in 3 days": "2026-11-19 10:30",
    "in two weeks": "2026-11-30 10:30",
    "tomorrow at 9": "2026-11-17 09:00",
    "Tomorrow 9am": "2026-11-17 09:00",
    "at 9:15 tomorrow": "2026-11-17 09:15",
    "day after tomorrow at 18:00": "2026-11-18 18:00",
    "today at 17:00": "2026-11-16 17:00",
    "at 17": "2026-11-16 17:00",
    "17:45": "2026-11-16 17:45",
    "tonight at 8": "2026-11-16 20:00",
    "today at noon": "2026-11-16 12:00",
    "next friday 14:00": "2026-11-20 14:00",
    "friday at 2 pm": "2026-11-20 14:00",
    "on wednesday at 7": "2026-11-18 07:00",
    "next monday 9:00": "2026-11-23 09:00",
    "this monday 11:00": "2026-11-16 11:00",
    "monday 9:00": "2026-11-23 09:00",
    "20 november at 9": "2026-11-20 09:00",
    "Nov 20th 9:30": "2026-11-20 09:30",
    "5 january 8:00": "2027-01-05 08:00",
    "24 december 2027 at 18:00": "2027-12-24 18:00",
    "24.12.2026 18:00": "2026-12-24 18:00",
    "2026-11-20T09:00": "2026-11-20 09:00",
    "2026-11-20 09:00": "2026-11-20 09:00",
    "2026-11-20T09:00:00Z": "2026-11-20 10:00",
    "2026-11-20T09:00+05:00": "2026-11-20 05:00",
}


@pytest.mark.parametrize(("words", "there"), UNDERSTOOD.items())
def test_words_name_a_moment_in_the_persons_zone(words: str, there: str) -> None:
    moment = moment_of(words, MONDAY, BERLIN)
    assert moment.utcoffset() == UTC.utcoffset(None)
    assert f"{moment.astimezone(BERLIN):%Y-%m-%d %H:%M}" == there


REFUSED = {
    "": "not understood",
    "later": "not understood",
    "soon": "not understood",
    "tomorrow": "does not say at what time",
    "next friday": "does not say at what time",
    "2026-11-20": "does not say at what time",
    "tomorrow morning": "not understood",
    "at 9": "09:00 has passed today",
    "today at 9": "is in the past",
    "2026-11-16T10:30+01:00": "is in the past",
    "2020-01-01T00:00": "is in the past",
    "in 0 minutes": "is in the past",
    "monday at 11:00": "is it today, or in a week",
    "tomorrow at midnight": "Midnight of which night",
    "20/11 at 9": "two ways",
    "03/04/2027 9:00": "two ways",
    "tomorrow at 25": "not a time of day",
    "31 february at 9": "There is no",
    "1 november at 9": "has passed this year",
    "in 100 years": "not understood",
    "in 9999999 days": "five years away",
    "2050-01-01T00:00": "five years away",
    "2026-13-01T00:00": "not a date and time",
    "in 0.5 days": "Half a day",
    "x" * 200: "too long",
}


@pytest.mark.parametrize(("words", "why"), REFUSED.items(), ids=lambda text: text[:30])
def test_what_is_past_ambiguous_or_not_understood_is_refused_with_a_sentence(words: str, why: str) -> None:
    with pytest.raises(BadInput, match=why) as refused:
        moment_of(words, MONDAY, BERLIN)
    assert refused.value.hint


def test_a_time_the_clocks_jump_over_is_refused() -> None:
    before = datetime(2026, 3, 28, 12, tzinfo=UTC)
    with pytest.raises(BadInput, match=r"There is no 02:30 on 2026-03-29 in Europe/Berlin"):
        moment_of("tomorrow at 2:30", before, BERLIN)


def test_a_time_the_clocks_show_twice_is_refused_with_both_spellings() -> None:
    before = datetime(2026, 10, 24, 12, tzinfo=UTC)
    with pytest.raises(BadInput, match="comes twice") as refused:
        moment_of("tomorrow at 2:30", before, BERLIN)
    first, second = "2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"
    assert refused.value.hint == f"Say which: {first} or {second}."
    assert moment_of(first, before, BERLIN) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert moment_of(second, before, BERLIN) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


def test_days_keep_the_time_on_the_clock_and_hours_their_length_over_a_change() -> None:
    before = datetime(2026, 10, 24, 8, tzinfo=UTC)
    assert f"{moment_of('in 2 days', before, BERLIN).astimezone(BERLIN):%d %H:%M}" == "26 10:00"
    assert f"{moment_of('in 48 hours', before, BERLIN).astimezone(BERLIN):%d %H:%M}" == "26 09:00"


def test_a_moment_is_shown_with_its_day_and_zone() -> None:
    assert shown(MONDAY, BERLIN) == "Mon 2026-11-16 10:30 (Europe/Berlin)"


@pytest.mark.parametrize("name", ["", "Mars/Base", "../../etc/passwd", "/etc/localtime", "Europe", "a b", "UTC\x00"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="no time zone"):
        zone_named(name)
