"""One moment in words: "in 20 minutes", "tomorrow at 9", "next friday 14:00", "2026-11-20T09:00"."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from laneway.errors import BadInput

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip

TIME = r"(?:noon|midday|midnight|\d{1,2}(?:[:.]\d{2})?(?: ?[ap]m)?)"
"""One time of day, after `normalised`."""

_CLOCK = re.compile(r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?(?: ?(?P<half>[ap])m)?")
_NAMED = {"noon": time(12), "midday": time(12), "midnight": time(0)}

_SHORT_DAYS = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6}

_WORDS: dict[str, str] = {
    "mins": "minutes", "min": "minutes", "hrs": "hours", "hr": "hour", "secs": "seconds", "each": "every",
    "workday": "weekday", "workdays": "weekdays", "weekend": "weekends", "&": "and",
}  # fmt: skip
for _name in WEEKDAYS:
    _WORDS[f"{_name}s"] = _name
for _name, _number in _SHORT_DAYS.items():
    _WORDS[_name] = WEEKDAYS[_number]
for _name in MONTHS:
    _WORDS.setdefault(_name[:3], _name)
_WORDS["sept"] = "september"

EXAMPLES = "Say it like `in 20 minutes`, `tomorrow at 9`, `next friday 14:00` or `2026-11-20T09:00`."
FURTHEST = timedelta(days=5 * 366)
LONGEST = 100

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].+)?", re.IGNORECASE)
_PIECE = r"(?:\d+(?:[.,]\d+)?|an?|one|half an?|half|two|three|four|five|six|ten|fifteen|twenty|thirty)"
_UNIT = r"(?:second|minute|hour|day|week)s?"
_IN = re.compile(rf"in (?P<parts>{_PIECE} {_UNIT}(?:(?: and)? {_PIECE} {_UNIT})*)")
_PART = re.compile(rf"(?P<number>{_PIECE}) (?P<unit>{_UNIT})")
_NUMBERS = {"a": 1.0, "an": 1.0, "one": 1.0, "half": 0.5, "half a": 0.5, "half an": 0.5, "two": 2.0, "three": 3.0,
            "four": 4.0, "five": 5.0, "six": 6.0, "ten": 10.0, "fifteen": 15.0, "twenty": 20.0,
            "thirty": 30.0}  # fmt: skip
_TIME_LAST = re.compile(rf"(?:(?P<day>(?!at ).+?) )?(?:at )?(?P<time>{TIME})")
_TIME_FIRST = re.compile(rf"(?:at )?(?P<time>{TIME}) (?P<day>.+)")
_WEEKDAY = re.compile(rf"(?:on )?(?:(?P<which>this|next|coming) )?(?P<name>{'|'.join(WEEKDAYS)})")
_DATE = re.compile(
    rf"(?:on )?(?:the )?(?:(?P<d1>\d{{1,2}})(?: of)? (?P<m1>{'|'.join(MONTHS)})"
    rf"|(?P<m2>{'|'.join(MONTHS)}) (?P<d2>\d{{1,2}})"
    r"|(?P<d3>\d{1,2})\.(?P<m3>\d{1,2})\.?)(?:(?<=\.)| )?(?P<year>\d{4})?"
)
_SLASHED = re.compile(r".*\b\d{1,2}/\d{1,2}\b.*")


class NotATime(BadInput):
    """Raised for words that are no time at all, unlike one that is past, doubtful or incomplete."""


def normalised(text: str) -> str:
    """The text in lower case and one spelling: English words, full names of days and months, single spaces."""
    said = " ".join(text.casefold().replace("’", "'").split())
    said = re.sub(r"\b([ap])\.m\.", r"\1m", said)
    said = re.sub(r"(?<=\d) ?o'clock\b", "", said)
    said = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", said)
    said = re.sub(r"(?<=[a-z])(?:-|–)(?=[a-z])", " to ", said)
    said = re.sub(r"(?<!\d),|,(?!\d)", " and ", said)
    said = re.sub(r"(?<=\w)\.(?=\s|$)", "", said)
    words = [_WORDS.get(word, word) for word in said.split()]
    return re.sub(r"\b(?:and )+and\b", "and", " ".join(words))


def time_of_day(text: str) -> time | None:
    """The time a word such as `9`, `9:30`, `9 pm` or `noon` names; None if it names none."""
    if text in _NAMED:
        return _NAMED[text]
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"] == "p" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


def zone_named(name: str) -> ZoneInfo:
    """The time zone of this name, or BadInput."""
    try:
        if not re.fullmatch(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*", name):
            raise ValueError(name)
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        told = f"There is no time zone `{name[:60]}`."
        raise BadInput(told, hint="Use a name like Europe/Berlin, America/New_York or UTC.") from None


def is_time(text: str) -> bool:
    """True for the words of a moment, even of one that `moment_of` refuses as past, doubtful or incomplete."""
    try:
        moment_of(text, datetime(2026, 1, 1, tzinfo=UTC), ZoneInfo("UTC"))
    except NotATime:
        return False
    except BadInput:
        return True
    return True


def moment_of(text: str, now: datetime, zone: ZoneInfo) -> datetime:
    """The moment, in UTC, that the words name; BadInput if it is past, ambiguous or not understood."""
    if len(text) > LONGEST:
        raise BadInput("That is too long for a time.", hint=EXAMPLES)
    here = now.astimezone(zone)
    given = " ".join(text.split())
    moment = _iso(given, zone) if _ISO.fullmatch(given) else _worded(given, here, zone)
    if moment <= now:
        raise BadInput(f"`{given}` is in the past: it is {here:%Y-%m-%d %H:%M} in {zone.key} now.", hint=EXAMPLES)
    if moment - now > FURTHEST:
        raise BadInput(f"`{given}` is more than five years away.", hint="Choose an earlier time.")
    return moment


def shown(moment: datetime, zone: ZoneInfo) -> str:
    """The moment as people of the zone read it."""
    return f"{moment.astimezone(zone):%a %Y-%m-%d %H:%M} ({zone.key})"


def _iso(given: str, zone: ZoneInfo) -> datetime:
    try:
        found = datetime.fromisoformat(given.upper().replace(" ", "T", 1))
    except ValueError:
        raise BadInput(f"`{given}` is not a date and time.", hint=EXAMPLES) from None
    if len(given) == len("2026-11-20"):
        raise BadInput(f"`{given}` does not say at what time.", hint=f"Say `{given} 09:00`, for example.")
    return found.astimezone(UTC) if found.tzinfo else on_the_clock(found, zone)


def on_the_clock(naive: datetime, zone: ZoneInfo) -> datetime:
    """The one moment, in UTC, when clocks of the zone show this; BadInput if they never do, or twice."""
    first, second = naive.replace(tzinfo=zone, fold=0), naive.replace(tzinfo=zone, fold=1)
    if first.utcoffset() == second.utcoffset():
        return first.astimezone(UTC)
    said = f"{naive:%H:%M} on {naive:%Y-%m-%d}"
    if first.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != naive:
        raise BadInput(f"There is no {said} in {zone.key}: the clocks go forward then.", hint="Choose another time.")
    raise BadInput(
        f"{said} comes twice in {zone.key}: the clocks go back then.",
        hint=f"Say which: {first.isoformat()} or {second.isoformat()}.",
    )


def _worded(given: str, here: datetime, zone: ZoneInfo) -> datetime:
    if _SLASHED.fullmatch(given):
        raise BadInput(f"`{given}` can be read in two ways.", hint="Write the date like 2026-11-20.")
    said = normalised(given)
    span = _IN.fullmatch(said)
    if span:
        return _after(span["parts"], here, zone)
    for order in (_TIME_LAST, _TIME_FIRST):
        found = order.fullmatch(said)
        if found is None:
            continue
        clock = _clock(found["time"], found["day"])
        day = _day(found["day"], clock, here)
        if day is not None:
            return on_the_clock(datetime.combine(day, clock), zone)
    if _day(said, time(12), here) is not None:
        raise BadInput(f"`{given}` does not say at what time.", hint=f"Say `{given} at 9`, for example.")
    raise NotATime(f"`{given}` is not understood as a time.", hint=EXAMPLES)


def _after(parts: str, here: datetime, zone: ZoneInfo) -> datetime:
    """Days and weeks keep the time on the clock; hours, minutes and seconds are as long as they are."""
    days, seconds = 0.0, 0.0
    for part in _PART.finditer(parts):
        number = _NUMBERS.get(part["number"]) or float(part["number"].replace(",", "."))
        unit = part["unit"].removesuffix("s")
        if unit in ("day", "week"):
            days += number * (7 if unit == "week" else 1)
        else:
            seconds += number * {"second": 1, "minute": 60, "hour": 3600}[unit]
    if days > FURTHEST.days or seconds > FURTHEST.total_seconds():
        raise BadInput("That is more than five years away.", hint="Choose an earlier time.")
    if days != int(days):
        raise BadInput("Half a day is not said exactly enough.", hint="Say it in hours.")
    start = here.astimezone(UTC)
    if days:
        start = on_the_clock(here.replace(tzinfo=None) + timedelta(days=days), zone)
    return start + timedelta(seconds=seconds)


def _clock(said: str, day: str | None) -> time:
    found = time_of_day(said)
    if found is None:
        raise BadInput(f"`{said}` is not a time of day.", hint="Write it like 9, 9:30, 18:00 or 6 pm.")
    if said == "midnight" and day is not None:
        raise BadInput("Midnight of which night?", hint="Say 00:00 of the day you mean, or 23:59.")
    if day == "tonight" and 1 <= found.hour < 12 and not said.endswith("am"):
        return found.replace(hour=found.hour + 12)
    return found


def _day(said: str | None, clock: time, here: datetime) -> date | None:
    """The day the words name; None if they name none."""
    today = here.date()
    if said is None:
        if clock <= here.time():
            told = f"{clock:%H:%M} has passed today."
            raise BadInput(told, hint=f"Say `tomorrow at {clock:%H:%M}` if you mean that.")
        return today
    named = {"today": 0, "tonight": 0, "tomorrow": 1, "day after tomorrow": 2, "the day after tomorrow": 2}
    if said in named:
        return today + timedelta(days=named[said])
    weekday = _WEEKDAY.fullmatch(said)
    if weekday:
        return _on_weekday(weekday["name"], weekday["which"], clock, here)
    found = _DATE.fullmatch(said)
    return _on_date(found, said, today) if found else None


def _on_weekday(name: str, which: str | None, clock: time, here: datetime) -> date:
    ahead = (WEEKDAYS.index(name) - here.weekday()) % 7
    if ahead == 0 and which is None and clock > here.time():
        told = f"Today is {name.capitalize()}: is it today, or in a week?"
        raise BadInput(told, hint=f"Say `today at {clock:%H:%M}` or `next {name} {clock:%H:%M}`.")
    if ahead == 0 and which != "this":
        ahead = 7
    return here.date() + timedelta(days=ahead)


def _on_date(found: re.Match[str], said: str, today: date) -> date:
    month = int(found["m3"]) if found["m3"] else MONTHS.index(found["m1"] or found["m2"]) + 1
    number = int(found["d1"] or found["d2"] or found["d3"])
    try:
        day = date(int(found["year"] or today.year), month, number)
        if found["year"] is None and day < today:
            day = day.replace(year=today.year + 1)
    except ValueError:
        raise BadInput(f"There is no {said}.", hint=EXAMPLES) from None
    if found["year"] is None and (day - today).days > 183 and day.year > today.year:
        raise BadInput(f"`{said}` has passed this year.", hint="Write the year if you mean the next one.")
    return day
