"""Dates as people write them: days, months, quarters and years, each a span of days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from laneway.lanes.pipeline.planner.lexicon import MONTHS
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused

_RELATIVE = frozenset(["today", "yesterday", "tomorrow", "tonight"])
_SPANS = words(
    """
    week weeks month months year years day days quarter weekend hour hours
    """
)


@dataclass(frozen=True)
class Span:
    """From the first day to the day after the last one."""

    first: date
    after: date


def moment(reader: Reader) -> Span | None:
    """The date that comes next, now read; Refused if it is one only a clock or a calendar of mine could tell."""
    token = reader.token()
    if token is None:
        return None
    _refuse_relative(reader)
    if token.kind == "date":
        reader.at += 1
        if len(token.text) > 10:
            raise Refused("A date with a time of day is too fine for me.", "Give the day alone.")
        return _day(token.text[:4], token.text[5:7], token.text[8:10])
    if token.kind == "month":
        reader.at += 1
        return _month(int(token.text[:4]), int(token.text[5:7]))
    return _quarter(reader) or _written(reader) or _year(reader)


def _refuse_relative(reader: Reader) -> None:
    word, after = reader.word(), reader.word(1)
    if word in _RELATIVE or (word in ("last", "this", "next", "past", "previous") and after in _SPANS):
        raise Refused(f"`{reader.rest(2)}` depends on today's date.", "Name the date, like 2026-03-01.")


def _year(reader: Reader) -> Span | None:
    year = _year_at(reader, 0)
    if year is None:
        return None
    reader.at += 1
    return Span(date(year, 1, 1), date(year + 1, 1, 1))


def _year_at(reader: Reader, ahead: int) -> int | None:
    token = reader.token(ahead)
    if (
        token
        and token.kind == "number"
        and len(token.text) == 4
        and token.text.isdigit()
        and "1000" < token.text < "2999"
    ):
        return int(token.text)
    return None


def _quarter(reader: Reader) -> Span | None:
    word = reader.word()
    if len(word) == 2 and word[0] == "q" and word[1] in "1234":
        ahead = 2 if reader.word(1) in ("of", ",") else 1
        year = _year_at(reader, ahead)
        if year is not None:
            reader.at += ahead + 1
            first = 3 * int(word[1]) - 2
            return Span(_month(year, first).first, _month(year, first + 2).after)
    return None


def _written(reader: Reader) -> Span | None:
    """`March 2026`, `March 5, 2026`, `5 March 2026`, `5th of March 2026`."""
    start = reader.at
    day = _day_number(reader)
    if day is not None:
        reader.takes("of")
    month = MONTHS.get(reader.word())
    if month is None or (reader.word() == "may" and day is None and _year_at(reader, 1) is None):
        reader.at = start
        return None
    reader.at += 1
    if day is None and _year_at(reader, 0) is None:
        day = _day_number(reader)
    reader.takes(",") if _year_at(reader, 1) is not None else ""
    year = _year_at(reader, 0)
    if year is None:
        raise Refused("A month without its year could be any year's.", "Add the year, like March 2026.")
    reader.at += 1
    return _month(year, month) if day is None else _day(str(year), str(month), str(day))


def _day_number(reader: Reader) -> int | None:
    token = reader.token()
    if token and token.kind == "number" and token.text.isdigit() and 1 <= int(token.text) <= 31:
        reader.at += 1
        if reader.word() in ("st", "nd", "rd", "th"):
            reader.at += 1
        return int(token.text)
    return None


def _month(year: int, month: int) -> Span:
    if not 1 <= month <= 12:
        raise Refused(f"There is no month {month}.", "Write dates like 2026-03-31.")
    return Span(date(year, month, 1), date(year + month // 12, month % 12 + 1, 1))


def _day(year: str, month: str, day: str) -> Span:
    try:
        first = date(int(year), int(month), int(day))
    except ValueError:
        raise Refused(f"{year}-{month}-{day} is no day.", "Write dates like 2026-03-31.") from None
    return Span(first, first + timedelta(days=1))
