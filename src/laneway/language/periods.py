"""Days and spans of days in words: `2026-01-31`, `March 2026`, `5 March 2026`, `Q1 2026`, `last month`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from laneway.language.numbers import read_number
from laneway.language.refusal import NotUnderstood
from laneway.language.times import MONTHS
from laneway.language.tokens import Token

_MONTHS: Final = {name: n for n, name in enumerate(MONTHS, 1)} | {name[:3]: n for n, name in enumerate(MONTHS, 1)}
_DAYS: Final = {"yesterday": -1, "today": 0, "tomorrow": 1}
_UNITS: Final = {"day": 1, "days": 1, "week": 7, "weeks": 7}


@dataclass(frozen=True, slots=True)
class Period:
    """From the first day up to, and without, the day after the last; `used` counts its tokens."""

    start: date
    end: date
    used: int
    year: int | None = None
    """The year, where the words are nothing but a year: it may be a number as well."""


def read_period(tokens: Sequence[Token], at: int, today: date | None) -> Period | None:
    """The span of days that begins at this token; None if none does."""
    token = tokens[at] if at < len(tokens) else None
    if token is None:
        return None
    words = [one.word for one in tokens[at : at + 4]] + [""] * 4
    try:
        if token.kind == "date":
            return _day(date.fromisoformat(token.word[:10]), 1)
        if token.word in _DAYS or token.word in ("this", "last", "past", "current", "previous"):
            return _relative(tokens, at, words, today)
        if token.kind == "word" and words[0][:1] == "q" and words[0][1:] in ("1", "2", "3", "4") and _year(words[1]):
            first = int(words[0][1:]) * 3 - 2
            return _months(int(words[1]), first, 3, 2)
        if token.word in _MONTHS:
            return _month_first(words)
        if words[0].rstrip("stndrh").isdigit() and words[1] in _MONTHS and _year(words[2]):
            return _day(date(int(words[2]), _MONTHS[words[1]], int(words[0].rstrip("stndrh"))), 3)
    except ValueError:
        raise NotUnderstood(
            f"`{' '.join(words).strip()}` is no day of the calendar.", "Write it like 2026-01-31."
        ) from None
    if token.kind == "number" and not token.unit and _year(words[0]):
        return Period(date(int(words[0]), 1, 1), date(int(words[0]) + 1, 1, 1), 1, int(words[0]))
    return None


def _year(word: str) -> bool:
    return len(word) == 4 and word.isascii() and word.isdigit() and 1500 <= int(word) <= 2200


def _day(day: date, used: int) -> Period:
    return Period(day, day + timedelta(days=1), used)


def _months(year: int, first: int, count: int, used: int) -> Period:
    year, first = year + (first - 1) // 12, (first - 1) % 12 + 1
    last = first + count - 1
    return Period(date(year, first, 1), date(year + last // 12, last % 12 + 1, 1), used)


def _month_first(words: list[str]) -> Period | None:
    """`March 2026` and `March 5, 2026`; a month without its year may be of any."""
    month = _MONTHS[words[0]]
    if _year(words[1]):
        return _months(int(words[1]), month, 1, 2)
    number = words[1].rstrip("stndrh")
    if number.isdigit() and len(number) <= 2:
        comma = words[2] == ","
        year = words[3] if comma else words[2]
        if _year(year):
            return _day(date(int(year), month, int(number)), 4 if comma else 3)
    if words[0] in ("may", "mar", "dec", "sat", "jan"):
        # A verb or a name as often as a month.
        return None
    raise NotUnderstood(f"`{words[0]}` of which year?", f"Write it like {words[0]} 2026.")


def _relative(tokens: Sequence[Token], at: int, words: list[str], today: date | None) -> Period | None:
    found = _span(tokens, at, words, today or date(2000, 1, 1))
    if found is not None and today is None:
        raise NotUnderstood(f"What day `{words[0]}` counts from is not known here.", "Write dates like 2026-01-31.")
    return found


def _span(tokens: Sequence[Token], at: int, words: list[str], today: date) -> Period | None:
    if words[0] in _DAYS:
        return _day(today + timedelta(days=_DAYS[words[0]]), 1)
    back = 0 if words[0] in ("this", "current") else 1
    if words[1] == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return Period(monday, monday + timedelta(days=7), 2)
    if words[1] == "month":
        return _months(today.year, today.month - back, 1, 2)
    if words[1] == "year":
        return Period(date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1), 2)
    number = read_number(tokens, at + 1) if back else None
    if number is None or not 0 < number.value <= 10_000 or not isinstance(number.value, int):
        return None
    unit = tokens[at + 1 + number.used].word if at + 1 + number.used < len(tokens) else ""
    used = 2 + number.used
    end = today + timedelta(days=1)
    if unit in _UNITS:
        return Period(end - timedelta(days=number.value * _UNITS[unit]), end, used)
    if unit in ("month", "months"):
        months = today.year * 12 + today.month - 1 - number.value
        if months >= 12 * 1500:
            return Period(date(months // 12, months % 12 + 1, min(today.day, 28)), end, used)
    return None
