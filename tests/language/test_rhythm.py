"""Plain words become the cron line a person would have written, and what is not understood is refused."""

from __future__ import annotations

import pytest

from laneway.errors import BadInput
from laneway.language.rhythm import cron_of

UNDERSTOOD = {
    "weekdays 09:00": "0 9 * * 1-5",
    "every day at 9": "0 9 * * *",
    "every 15 minutes": "*/15 * * * *",
    "mondays at 8:30": "30 8 * * 1",
    "every monday and thursday 18:00": "0 18 * * 1,4",
    "first of the month 06:00": "0 6 1 * *",
    "hourly": "0 * * * *",
    "Daily at 9 pm": "0 21 * * *",
    "daily at 12 am": "0 0 * * *",
    "daily at noon": "0 12 * * *",
    "9:00 every weekday": "0 9 * * 1-5",
    "at 7.45 on sundays": "45 7 * * 0",
    "every minute": "* * * * *",
    "every hour": "0 * * * *",
    "every 2 hours": "0 */2 * * *",
    "every other hour": "0 */2 * * *",
    "every half hour": "*/30 * * * *",
    "every 30 min": "*/30 * * * *",
    "every 15 minutes on weekdays": "*/15 * * * 1-5",
    "hourly at :15": "15 * * * *",
    "mon-fri 17:30": "30 17 * * 1,2,3,4,5",
    "friday to monday at 8": "0 8 * * 5,6,0,1",
    "Mon, Wed and Fri at 9:15am": "15 9 * * 1,3,5",
    "weekends at 10": "0 10 * * 6,0",
    "weekdays and saturdays 8:00": "0 8 * * 1-5,6",
    "every day at 9 and 18": "0 9,18 * * *",
    "weekdays, 9:00": "0 9 * * 1-5",
    "on the 1st and 15th of the month at 6:30": "30 6 1,15 * *",
    "every month on the 15th at 8:00": "0 8 15 * *",
    "monthly on the 3rd 07:00": "0 7 3 * *",
    "last day of the month 18:00": "0 18 L * *",
    "first monday of the month 9:00": "0 9 * * 1#1",
    "last friday of the month at 17:00": "0 17 * * 5L",
    "every year on 24 december at 18:00": "0 18 24 12 *",
    "every december 24th at 18:00": "0 18 24 12 *",
    "0 9 * * 1-5": "0 9 * * 1-5",
    "  */5   8-18 * * mon-fri ": "*/5 8-18 * * MON-FRI",
    "30 6 * * 1#1": "30 6 * * 1#1",
    "@daily": "0 0 * * *",
}


@pytest.mark.parametrize(("words", "cron"), UNDERSTOOD.items())
def test_words_become_a_cron_line(words: str, cron: str) -> None:
    assert cron_of(words) == cron


REFUSED = {
    "": "not understood",
    "every day": "does not say at what time",
    "mondays": "does not say at what time",
    "at 9": "does not say on which days",
    "09:00": "does not say on which days",
    "tomorrow at 9": "is one moment, not a rhythm",
    "in 20 minutes": "is one moment, not a rhythm",
    "next friday 14:00": "is one moment, not a rhythm",
    "every day at 25:00": "`25:00` is not a time of day",
    "every day at 9:60": "`9:60` is not a time of day",
    "every day at 13 pm": "`13 pm` is not a time of day",
    "every 7 minutes": "does not fit evenly into an hour",
    "every 90 minutes": "does not fit evenly into an hour",
    "every 0 minutes": "does not fit evenly into an hour",
    "every 5 hours": "does not fit evenly into a day",
    "every 2 days at 9": "a rhythm over several days",
    "every other week on monday at 9": "a rhythm over several days",
    "31st of the month 9:00": "Not every month has a day 31",
    "40th of the month 9:00": "the days 1 to 31",
    "every day at 9:00 and 18:30": "must share their minute",
    "whenever you like": "not understood",
    "often": "not understood",
    "rm -rf / at 9": "not understood",
    "0 9 * *": "not understood",
    "0 0 9 * * 1-5": "not understood",
    "x" * 300: "too long",
}


@pytest.mark.parametrize(("words", "why"), REFUSED.items(), ids=lambda text: text[:30])
def test_what_is_not_understood_is_refused_and_says_how_to_say_it(words: str, why: str) -> None:
    with pytest.raises(BadInput, match=why) as refused:
        cron_of(words)
    assert refused.value.hint
