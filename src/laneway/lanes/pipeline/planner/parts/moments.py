"""Dates as people write them: days, months, quarters and years, each a span of days."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Doubt, Refused
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.words.small import MONTHS

RULES = Rules()
_RELATIVE = words("today yesterday tomorrow tonight")
_SPANS = words("week weeks month months year years day days quarter weekend hour hours")
_ANY_YEAR = 1904
"""A leap year that no table is about: where the year is left open."""
_QUARTERS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 4}


@dataclass(frozen=True)
class Span:
    """From the first day to the day after the last one; `open` if it is not said of which year."""

    first: date
    after: date
    open: bool = False

    def of(self, column: Column) -> Span:
        """The span in the year that all dates of the column are of; Refused if they are of several."""
        if not self.open:
            return self
        years = {str(column.low)[:4], str(column.high)[:4]}
        if column.kind != "date" or len(years) > 1:
            raise Refused("A month without its year could be any year's.", "Add the year, like March 2026.")
        more = int(years.pop()) - _ANY_YEAR
        try:
            first = self.first.replace(year=self.first.year + more)
            return replace(self, first=first, after=self.after.replace(year=self.after.year + more), open=False)
        except ValueError:
            raise Refused("There is no such day in that year.", "Write dates like 2026-03-31.") from None


@RULES.finder("span")
def span(chart: Chart, at: int) -> Iterator[Edge]:
    """A date that comes next; in doubt if only a clock could tell it."""
    reader = Reader(chart.tokens, at)
    try:
        found = moment(reader)
    except Refused as refused:
        yield Edge(min(at + 2, chart.size), Doubt(refused.refusal), 0.5)
        return
    if found is not None:
        yield Edge(reader.at, found)


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
    return _edge(reader) or _quarter(reader) or _half(reader) or _written(reader) or _year(reader)


def _refuse_relative(reader: Reader) -> None:
    word, after = reader.word(), reader.word(1)
    if word in _RELATIVE or (word in ("last", "this", "next", "past", "previous") and after in _SPANS):
        if word == "last" and after == "quarter" and reader.word(2) == "of":
            return
        raise Refused(
            f"`{word} {after}`".replace(" `", "`") + " depends on today's date.", "Name the date, like 2026-03-01."
        )


def _edge(reader: Reader) -> Span | None:
    """`the start of 2021`, `the end of March 2025`: the first or the last day of it."""
    mark = reader.at
    reader.takes("the")
    said = reader.takes("start of", "beginning of", "end of", "first day of", "last day of")
    whole = moment(reader) if said else None
    if whole is None:
        reader.at = mark
        return None
    if said.startswith(("end", "last")):
        return replace(whole, first=whole.after - timedelta(days=1))
    return replace(whole, after=whole.first + timedelta(days=1))


def _year(reader: Reader) -> Span | None:
    mark = reader.at
    reader.takes("the year", "year")
    year = _year_at(reader, 0)
    if year is None:
        reader.at = mark
        return None
    reader.at += 1
    if reader.word() == "s" and (glued := reader.token()) is not None and glued.glued and year % 10 == 0:
        reader.at += 1
        return Span(date(year, 1, 1), date(year + 10, 1, 1))
    return Span(date(year, 1, 1), date(year + 1, 1, 1))


def _year_at(reader: Reader, ahead: int) -> int | None:
    token = reader.token(ahead)
    if token is None or token.kind != "number" or len(token.text) != 4 or not token.text.isdigit():
        return None
    return int(token.text) if "1000" < token.text < "2999" else None


def _quarter(reader: Reader) -> Span | None:
    mark = reader.at
    reader.takes("the")
    word, number = reader.word(), 0
    if len(word) == 2 and word[0] == "q" and word[1] in "1234":
        number = int(word[1])
        reader.at += 1
    elif word in _QUARTERS and reader.word(1) == "quarter":
        number = _QUARTERS[word]
        reader.at += 2
    reader.takes("of", ",")
    year = _year_at(reader, 0) if number else None
    if year is None:
        reader.at = mark
        return None
    reader.at += 1
    return Span(_month(year, 3 * number - 2).first, _month(year, 3 * number).after)


def _half(reader: Reader) -> Span | None:
    mark = reader.at
    said = reader.takes("the first half of", "the second half of", "first half of", "second half of")
    year = _year_at(reader, 0) if said else None
    if year is None:
        reader.at = mark
        return None
    reader.at += 1
    first = 1 if "first" in said else 7
    return Span(_month(year, first).first, _month(year, first + 5).after)


def _written(reader: Reader) -> Span | None:
    """`March 2026`, `March 5, 2026`, `5 March 2026`, `5th of March 2026`, `March`."""
    start = reader.at
    reader.takes("the") if _digits(reader, 1) else ""
    day = _day_number(reader)
    if day is not None:
        reader.takes("of")
    month = MONTHS.get(reader.word())
    if month is None:
        reader.at = start
        return None
    reader.at += 1
    if day is None and _year_at(reader, 0) is None:
        day = _day_number(reader)
    if _year_at(reader, 1) is not None:
        reader.takes(",", "of")
    year = _year_at(reader, 0)
    reader.at += year is not None
    if day is None:
        return replace(_month(year or _ANY_YEAR, month), open=year is None)
    return replace(_day(str(year or _ANY_YEAR), str(month), str(day)), open=year is None)


def _digits(reader: Reader, ahead: int) -> bool:
    token = reader.token(ahead)
    return token is not None and token.kind == "number" and token.text.isdigit()


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
