"""The words people use for days and times of day, English and German, brought into one spelling."""

from __future__ import annotations

import re
from datetime import time

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip

TIME = r"(?:noon|midday|midnight|\d{1,2}(?:[:.]\d{2})?(?: ?[ap]m)?)"
"""One time of day, after `normalised`."""

_CLOCK = re.compile(r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?(?: ?(?P<half>[ap])m)?")
_NAMED = {"noon": time(12), "midday": time(12), "midnight": time(0)}

_GERMAN_DAYS = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")
_GERMAN_MONTHS = ("januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober",
                  "november", "dezember")  # fmt: skip
_SHORT_DAYS = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6}

_WORDS: dict[str, str] = {
    "täglich": "daily", "taeglich": "daily", "stündlich": "hourly", "stuendlich": "hourly", "jeden": "every",
    "jede": "every", "jedes": "every", "jeder": "every", "alle": "every", "tag": "day", "tage": "days",
    "tagen": "days", "tags": "day", "werktags": "weekdays", "wochentags": "weekdays", "werktag": "weekday",
    "wochenende": "weekends", "wochenenden": "weekends", "sonnabend": "saturday", "und": "and", "um": "at",
    "bis": "to", "heute": "today", "morgen": "tomorrow", "übermorgen": "day after tomorrow", "nächsten": "next",
    "nächste": "next", "nächster": "next", "kommenden": "next", "diesen": "this", "minuten": "minutes",
    "stunde": "hour", "stunden": "hours", "sekunden": "seconds", "woche": "week", "wochen": "weeks", "einer": "a",
    "einem": "a", "halben": "half", "monat": "month", "monats": "month", "des": "of the", "ersten": "first",
    "letzten": "last", "jahr": "year", "mittags": "noon", "mins": "minutes", "min": "minutes", "hrs": "hours",
    "hr": "hour", "secs": "seconds", "each": "every", "workday": "weekday", "workdays": "weekdays",
    "weekend": "weekends", "&": "and",
}  # fmt: skip
for _number, _name in enumerate(_GERMAN_DAYS):
    _WORDS |= {_name: WEEKDAYS[_number], f"{_name}s": WEEKDAYS[_number]}
for _name in WEEKDAYS:
    _WORDS[f"{_name}s"] = _name
for _name, _number in _SHORT_DAYS.items():
    _WORDS[_name] = WEEKDAYS[_number]
for _number, _name in enumerate(_GERMAN_MONTHS):
    _WORDS.setdefault(_name, MONTHS[_number])
for _name in MONTHS:
    _WORDS.setdefault(_name[:3], _name)
_WORDS["sept"] = "september"

# German "am" before a day is "on"; after a number it is the English half of the day.
_ON = re.compile(rf"\bam (?=(?:{'|'.join(_GERMAN_DAYS)}|sonnabend|ersten|letzten|wochenende|\d{{1,2}}\.))")


def normalised(text: str) -> str:
    """The text in lower case and one spelling: English words, full names of days and months, single spaces."""
    said = " ".join(text.casefold().replace("’", "'").split())
    said = _ON.sub("on ", said)
    said = re.sub(r"\b([ap])\.m\.", r"\1m", said)
    said = re.sub(r"\b(\d{1,2}) ?uhr (\d{2})\b", r"\1:\2", said)
    said = re.sub(r"(?<=\d) ?(?:uhr|o'clock)\b", "", said)
    said = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", said)
    said = re.sub(r"(?<=[a-zäöü])(?:-|–)(?=[a-zäöü])", " to ", said)
    said = re.sub(r"(?<!\d),|,(?!\d)", " and ", said)
    said = re.sub(r"(?<=[\wäöü])\.(?=\s|$)", "", said)
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
