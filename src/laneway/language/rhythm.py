"""How often, in plain words or as a cron line: "weekdays 09:00", "every 15 minutes", "first of the month 06:00"."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import time

from laneway.errors import BadInput
from laneway.language.times import MONTHS, TIME, WEEKDAYS, normalised, time_of_day

EXAMPLES = (
    "Say it like `weekdays 09:00`, `every day at 9`, `every 15 minutes`, `mondays and thursdays at 18:30`, "
    "`first of the month 06:00`, `last friday of the month 17:00`, `hourly`, or as cron: `0 9 * * 1-5`."
)
LONGEST = 200

_CRON = re.compile(r"[\d*][\d*/,#L-]*( [\w*/,#-]+){4}", re.IGNORECASE)
_MACROS = {
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}  # fmt: skip
_TIMES = rf"(?P<times>{TIME}(?: and (?:at )?{TIME})*)"
_TIME_LAST = re.compile(rf"(?P<days>.+?)(?: and)? (?:at )?{_TIMES}")
_TIME_FIRST = re.compile(rf"(?:at )?{_TIMES} (?P<days>.+)")
_INTERVAL = re.compile(
    r"every (?:(?P<number>\d+|other|second|two|three|four|five|six|ten|twelve|fifteen|twenty|thirty) )?"
    r"(?P<unit>minute|hour)s?(?: (?:on )?(?P<days>.+))?"
)
_NUMBERS = {"other": 2, "second": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10, "twelve": 12,
            "fifteen": 15, "twenty": 20, "thirty": 30}  # fmt: skip
_ALIKE = {"hourly": "every hour", "every half hour": "every 30 minutes", "every half an hour": "every 30 minutes",
          "every quarter of an hour": "every 15 minutes"}  # fmt: skip
_PAST_THE_HOUR = re.compile(r"(?:hourly|every hour) at (?::|minute )(?P<minute>\d{1,2})")

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
_NTH = rf"(?:\d{{1,2}}|{'|'.join(_ORDINALS)})"
_OF_MONTH = re.compile(
    rf"(?P<before>{_NTH}(?: and {_NTH})*)(?: day)? of (?:the|every) month"
    rf"|(?:month|monthly)(?: on)?(?: the)? (?P<after>{_NTH}(?: and {_NTH})*)(?: day)?"
)
_LAST_DAY = re.compile(r"last(?: day)? of (?:the|every) month|(?:month|monthly)(?: on)?(?: the)? last day")
_NTH_WEEKDAY = re.compile(
    rf"(?P<nth>first|second|third|fourth|last) (?P<day>{'|'.join(WEEKDAYS)}) (?:of|in) (?:the|every) month"
)
_IN_YEAR = re.compile(
    rf"(?:year(?: on)?(?: the)? |yearly(?: on)?(?: the)? )?(?:(?P<d1>\d{{1,2}})(?: of)? (?P<m1>{'|'.join(MONTHS)})"
    rf"|(?P<m2>{'|'.join(MONTHS)}) (?P<d2>\d{{1,2}}))"
)
_WEEK = {**{name: str((n + 1) % 7) for n, name in enumerate(WEEKDAYS)}, "weekdays": "1-5", "weekday": "1-5",
         "weekends": "6,0"}  # fmt: skip
_RANGE = re.compile(rf"(?P<first>{'|'.join(WEEKDAYS)}) to (?P<last>{'|'.join(WEEKDAYS)})")


def cron_of(text: str) -> str:
    """The cron line of five fields that means what the words say; BadInput if they are not understood."""
    if len(text) > LONGEST:
        raise BadInput("That is too long for a time.", hint=EXAMPLES)
    said = " ".join(text.split())
    if said.lower() in _MACROS:
        return _MACROS[said.lower()]
    if _CRON.fullmatch(said):
        return said.upper()
    said = normalised(said)
    for read in (_interval, _at_times):
        cron = read(said)
        if cron is not None:
            return cron
    raise _refused(text, said)


def _interval(said: str) -> str | None:
    past = _PAST_THE_HOUR.fullmatch(said)
    if past and int(past["minute"]) < 60:
        return f"{int(past['minute'])} * * * *"
    said = _ALIKE.get(said, said)
    found = _INTERVAL.fullmatch(said)
    if found is None:
        return None
    number = _NUMBERS.get(found["number"] or "1") or int(found["number"] or 1)
    days = _day_fields(found["days"]) if found["days"] else ("*", "*", "*")
    if days is None:
        return None
    whole = 60 if found["unit"] == "minute" else 24
    if number == 0 or number >= whole or whole % number:
        fitting = ", ".join(str(n) for n in range(1, whole) if whole % n == 0)
        what = "an hour" if whole == 60 else "a day"
        raise BadInput(
            f"Every {number} {found['unit']}s does not fit evenly into {what}.",
            hint=f"Every {fitting} {found['unit']}s does.",
        )
    step = "*" if number == 1 else f"*/{number}"
    return " ".join([step, "*", *days] if whole == 60 else ["0", step, *days])


def _at_times(said: str) -> str | None:
    for order in (_TIME_LAST, _TIME_FIRST):
        found = order.fullmatch(said)
        days = _day_fields(found["days"]) if found else None
        if found is not None and days is not None:
            return " ".join([*_clock_fields(found["times"]), *days])
    return None


def _clock_fields(said: str) -> tuple[str, str]:
    """The minute and hour fields of one or more times of day."""
    words = [word.removeprefix("at ") for word in said.split(" and ")]
    times = [time_of_day(word) for word in words]
    wrong = [word for word, found in zip(words, times, strict=True) if found is None]
    if wrong:
        raise BadInput(f"`{wrong[0]}` is not a time of day.", hint="Write it like 9, 9:30, 18:00 or 6 pm.")
    known = sorted({found for found in times if isinstance(found, time)})
    if len({one.minute for one in known}) > 1:
        raise BadInput("Several times must share their minute.", hint="Make one schedule for each time.")
    return str(known[0].minute), ",".join(str(one.hour) for one in known)


Fields = tuple[str, str, str]


def _day_fields(said: str) -> Fields | None:
    """The fields for day of month, month and day of week; None if the words name no days."""
    said = re.sub(r"^(?:on |the |every (?!month$))+", "", said).removesuffix(" on")
    if said in ("day", "daily", "days"):
        return "*", "*", "*"
    readers: tuple[Callable[[str], Fields | None], ...] = (_of_week, _of_month, _of_year)
    return next((fields for read in readers if (fields := read(said)) is not None), None)


def _of_week(said: str) -> Fields | None:
    days: list[str] = []
    for part in said.split(" and "):
        part = re.sub(r"^(?:on |every )+", "", part)
        span = _RANGE.fullmatch(part)
        if span:
            days += _span(WEEKDAYS.index(span["first"]), WEEKDAYS.index(span["last"]))
        elif part in _WEEK:
            days.append(_WEEK[part])
        else:
            return None
    return "*", "*", ",".join(dict.fromkeys(days))


def _span(first: int, last: int) -> list[str]:
    """Cron's numbers of the days from one to another, over the end of the week if need be."""
    return [str((first + n) % 7 + 1) if (first + n) % 7 < 6 else "0" for n in range((last - first) % 7 + 1)]


def _of_month(said: str) -> Fields | None:
    if _LAST_DAY.fullmatch(said):
        return "L", "*", "*"
    weekday = _NTH_WEEKDAY.fullmatch(said)
    if weekday:
        day = _WEEK[weekday["day"]]
        return "*", "*", f"{day}L" if weekday["nth"] == "last" else f"{day}#{_ORDINALS[weekday['nth']]}"
    found = _OF_MONTH.fullmatch(said)
    if found is None:
        return None
    days = [_ORDINALS.get(word) or int(word) for word in (found["before"] or found["after"]).split(" and ")]
    if not all(1 <= day <= 31 for day in days):
        raise BadInput("A month has the days 1 to 31.", hint=EXAMPLES)
    if max(days) > 28:
        raise BadInput(
            f"Not every month has a day {max(days)}.", hint="Say `last day of the month`, or choose a day up to 28."
        )
    return ",".join(map(str, days)), "*", "*"


def _of_year(said: str) -> Fields | None:
    found = _IN_YEAR.fullmatch(said)
    if found is None:
        return None
    return str(int(found["d1"] or found["d2"])), str(MONTHS.index(found["m1"] or found["m2"]) + 1), "*"


def _refused(text: str, said: str) -> BadInput:
    """What is wrong with words that name no rhythm, as far as it can be told."""
    shown = f"`{' '.join(text.split())[:60]}`"
    if re.match(r"(?:today|tomorrow|tonight|next|this|in|day after)\b", said):
        return BadInput(f"{shown} is one moment, not a rhythm.", hint="Ask for a reminder instead. " + EXAMPLES)
    if re.search(r"\b(?:week|weeks|days|months|fortnight)\b", said) and re.search(r"\d|other|second|two", said):
        return BadInput(f"{shown}: a rhythm over several days, weeks or months is not known.", hint=EXAMPLES)
    if _day_fields(said) is not None:
        return BadInput(f"{shown} does not say at what time.", hint=EXAMPLES)
    if re.fullmatch(rf"(?:at )?{_TIMES}", said):
        return BadInput(f"{shown} does not say on which days.", hint=EXAMPLES)
    return BadInput(f"{shown} is not understood as a time.", hint=EXAMPLES)
