"""When schedules are due, on ordinary days and on those when the clocks change."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from laneway.engine.recurrence import MOST_COUNTED, coming, due, following
from laneway.errors import BadInput

BERLIN = "Europe/Berlin"
SPRING = "2026-03-29"
"""02:00 becomes 03:00 in Berlin, at 01:00 UTC."""
AUTUMN = "2026-10-25"
"""03:00 becomes 02:00 in Berlin, at 01:00 UTC."""


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def shown(times: list[datetime], zone: str = BERLIN) -> list[str]:
    return [f"{one.astimezone(ZoneInfo(zone)):%d %H:%M%z}" for one in times]


def test_nine_on_weekdays_skips_the_weekend() -> None:
    times = coming("0 9 * * 1-5", BERLIN, utc("2026-11-13 08:00"), 3)
    assert shown(times) == ["16 09:00+0100", "17 09:00+0100", "18 09:00+0100"]


def test_nine_stays_nine_over_both_changes() -> None:
    spring = coming("0 9 * * *", BERLIN, utc("2026-03-28 07:00"), 3)
    assert shown(spring) == ["28 09:00+0100", "29 09:00+0200", "30 09:00+0200"]
    autumn = coming("0 9 * * *", BERLIN, utc("2026-10-24 06:00"), 3)
    assert shown(autumn) == ["24 09:00+0200", "25 09:00+0100", "26 09:00+0100"]


def test_a_time_the_clocks_jump_over_comes_once_at_the_jump() -> None:
    for cron in ("30 2 * * *", "0 2 * * *", "*/30 2 * * *", "0,15,30,45 2 * * *"):
        first, second = coming(cron, BERLIN, utc(f"{SPRING} 00:30"), 2)
        assert shown([first]) == ["29 03:00+0200"]
        assert second.astimezone(ZoneInfo(BERLIN)).day == 30
    # Two times that fall on the jump come once.
    assert shown(coming("0 2,3 * * *", BERLIN, utc(f"{SPRING} 00:30"), 2)) == ["29 03:00+0200", "30 02:00+0200"]


def test_a_time_the_clocks_show_twice_comes_the_first_time_only() -> None:
    assert shown(coming("30 2 * * *", BERLIN, utc(f"{AUTUMN} 00:00"), 2)) == ["25 02:30+0200", "26 02:30+0100"]
    for after in ("00:45", "01:00", "01:15", "01:30", "01:45"):
        assert shown([following("30 2 * * *", BERLIN, utc(f"{AUTUMN} {after}"))]) == ["26 02:30+0100"]


def test_what_comes_every_hour_or_more_often_goes_by_elapsed_time() -> None:
    for day in (SPRING, AUTUMN):
        for cron, minutes in (("0 * * * *", 60), ("*/15 * * * *", 15)):
            times = coming(cron, BERLIN, utc(f"{day} 00:00") - timedelta(hours=2), 24)
            gaps = {later - earlier for earlier, later in itertools.pairwise(times)}
            assert gaps == {timedelta(minutes=minutes)}


@pytest.mark.parametrize("zone", ["America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata"])
def test_over_a_year_times_rise_and_no_day_is_left_out_or_doubled(zone: str) -> None:
    begin = utc("2026-01-01 12:00")
    for cron in ("30 2 * * *", "0 0 * * *", "15 1 * * 0", "0 */2 * * *"):
        times, at = [], begin
        while at < begin + timedelta(days=400):
            at = following(cron, zone, at)
            times.append(at)
        assert times == sorted(set(times)), cron
        if cron.split()[1].isdigit() and cron.endswith("*"):
            days = [one.astimezone(ZoneInfo(zone)).date() for one in times]
            assert days == [days[0] + timedelta(days=n) for n in range(len(days))], cron


def test_days_of_the_month_that_words_can_name() -> None:
    assert shown(coming("0 18 L * *", BERLIN, utc("2026-02-01 00:00"), 2)) == ["28 18:00+0100", "31 18:00+0200"]
    assert shown(coming("0 9 * * 1#1", BERLIN, utc("2026-11-16 00:00"), 2)) == ["07 09:00+0100", "04 09:00+0100"]
    assert shown(coming("0 17 * * 5L", BERLIN, utc("2026-11-16 00:00"), 1)) == ["27 17:00+0100"]


def test_the_times_that_have_come_are_counted_and_very_many_are_not() -> None:
    first = utc("2026-11-16 08:00")
    assert due("0 * * * *", "UTC", first, first) == [first]
    assert len(due("0 * * * *", "UTC", first, first + timedelta(hours=3, minutes=59))) == 4
    assert len(due("* * * * *", "UTC", first, first + timedelta(days=365))) == MOST_COUNTED


def test_a_line_that_is_wrong_or_never_comes_and_a_zone_nobody_knows_are_refused() -> None:
    for cron in ("61 * * * *", "0 25 * * *", "0 9 * * 9", "0 9 31 2 *", "0 0 9 * * *", "0 9 * *", "a"):
        with pytest.raises(BadInput) as refused:
            following(cron, BERLIN, utc("2026-01-01 00:00"))
        assert "cron" in refused.value.hint, cron
    with pytest.raises(BadInput, match="no time zone"):
        following("0 9 * * *", "Mars/Base", utc("2026-01-01 00:00"))
