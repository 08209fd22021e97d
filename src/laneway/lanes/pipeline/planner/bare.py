"""Conditions that name no column: `under 200`, `at least 4 stars`, `before 2020`, `older than 30`."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.amounts import Amount, amount
from laneway.lanes.pipeline.planner.columns import candidates, column_at, listed, only
from laneway.lanes.pipeline.planner.comparing import (
    DATES,
    Where,
    against_number,
    compared,
    dated,
    operator,
    span_between,
    suffix,
    two_amounts,
)
from laneway.lanes.pipeline.planner.dimensions import COMPARATIVES, direction, looks_dated, yearly
from laneway.lanes.pipeline.planner.lexicon import CURRENCIES
from laneway.lanes.pipeline.planner.moments import Span, moment
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema

_USUAL = ("price", "age", "population")
"""What people mean by a bare number: `under 200` is money, `over 30` an age."""


_RATES = (("nightly", "rate"), ("daily", "rate"), ("room", "rate"))


def comparative(reader: Reader, schema: Schema, possess: bool) -> Where | None:
    """`cheaper than 200`, `older than 30`, `longer than 2 hours`."""
    said = next((phrase for phrase in COMPARATIVES if reader.sees(f"{phrase} than")), "")
    if not said:
        return None
    mark = reader.at
    reader.takes(f"{said} than")
    given = amount(reader)
    if given is None:
        reader.at = mark
        return None
    dimension, sign = COMPARATIVES[said]
    _refuse_years(said, given, reader)
    found = direction(said, dimension, sign, schema)
    if found.column.kind != "number" or yearly(found.column):
        raise Refused(f"`{said} than {given.value}` does not fit {found.column.name}.", "Name a date instead.")
    if dimension == "age":
        reader.takes("years old", "years")
    return against_number(found.column, ">" if found.sign > 0 else "<", given)


def _refuse_years(said: str, given: Amount, reader: Reader) -> None:
    if reader.word() in ("year", "years", "month", "months", "week", "weeks") and said not in ("older", "younger"):
        raise Refused(
            f"`{said} than {given.value} {reader.word()}` depends on a unit I do not know.", "Name the column."
        )


def bare_number(reader: Reader, schema: Schema, possess: bool) -> Where | None:
    """`under 200`, `between 10 and 20`, `at least 4 stars`, `4 stars or more`, `more than 2 stops`."""
    if reader.takes("between"):
        return _bare_between(reader, schema)
    by = operator(reader)
    words = frozenset(word for column in schema.columns for word in (*column.words, *(f"{w}s" for w in column.words)))
    given = amount(reader, words)
    if given is None:
        return None
    after = suffix(reader) if not by else ""
    column = _column_behind(reader, schema)
    if column is None and not (by or after):
        return None
    after = after or (suffix(reader) if not by and column is not None else "")
    if column is None:
        column = usual(schema, given)
    return against_number(column, by or after or "==", given)


def _bare_between(reader: Reader, schema: Schema) -> Where | None:
    read = two_amounts(reader)
    if read is None:
        return None
    low, high = read
    column = _column_behind(reader, schema)
    if column is None:
        column = usual(schema, high)
        if usual(schema, low) != column:
            raise Refused("The two numbers may be about different columns.", "Name the column.")
    values = [Amount(one.value, one.unit or high.unit).in_unit(column.unit, column.name) for one in (low, high)]
    if values[0] > values[1]:
        raise Refused(f"Nothing is between {values[0]} and {values[1]}.", "Give the smaller number first.")
    return compared(column.name, "between", values)


def _column_behind(reader: Reader, schema: Schema) -> Column | None:
    """The column named behind a number: `4 stars`, `200 in price`."""
    mark = reader.at
    reader.takes("in", "of")
    found, size = column_at(reader, schema)
    if not found or not any(column.kind in ("number", "numeric text") for column in found):
        reader.at = mark
        return None
    column = only(found, reader.rest(size))
    reader.at += size
    return column


def usual(schema: Schema, given: Amount) -> Column:
    """The one column a bare number is about; Refused if that is not plain."""
    if given.unit in CURRENCIES.values():
        return _one(
            [column for word in ("price", "amount") for column in candidates((word,), schema) if column.measure][:2],
            schema,
        )
    if given.unit:
        found = [column for column in schema.columns if column.measure and _fits_unit(given, column)]
        return _one(found, schema)
    measures = [column for column in schema.columns if column.measure and not yearly(column)]
    likely = [c for word in _USUAL for c in candidates((word,), schema) if c in measures]
    likely = likely or [c for word in _RATES for c in candidates(word, schema) if c in measures]
    amounts = [c for word in ("amount", "total") for c in candidates((word,), schema) if c in measures]
    column = _one(likely or amounts or measures, schema)
    dates = [other for other in schema.columns if other.kind == "date" or yearly(other)]
    if dates and isinstance(given.value, int) and 1900 <= given.value <= 2100:
        raise Refused(f"{given.value} may be a year or a number of {column.name}.", "Name the column.")
    others = [other for other in measures if other != column and other.spans(given.value)]
    if others and not column.spans(given.value):
        raise Refused(f"{given.value} may be about {column.name} or {others[0].name}.", "Name the column.")
    return column


def _fits_unit(given: Amount, column: Column) -> bool:
    if not column.unit:
        return False
    try:
        given.in_unit(column.unit, column.name)
    except Refused:
        return False
    return True


def _one(found: list[Column], schema: Schema) -> Column:
    if len(found) != 1:
        raise Refused("It is not said which column the number is about.", f"Name one of: {listed(schema.columns)}.")
    return found[0]


def bare_date(reader: Reader, schema: Schema, possess: bool) -> Where | None:
    """`in 2025`, `before March 2026`, `between 2026-01-01 and 2026-03-31`, `since 2020`."""
    mark = reader.at
    if reader.takes("between", "from"):
        span = _two_dates(reader, schema, mark)
        return None if span is None else dated(_dates_of(schema), "in", span)
    said = reader.takes(*DATES)
    if not said:
        return None
    span = moment(reader)
    if span is None:
        reader.at = mark
        return None
    if reader.word() in ("day", "days", "month", "months", "year", "years"):
        reader.at = mark
        return None
    return dated(_dates_of(schema), DATES[said], span)


def _two_dates(reader: Reader, schema: Schema, mark: int) -> Span | None:
    """Two dates, or `from 2024`, the year; numbers that may be other things are left."""
    token = reader.token()
    only_year = token is not None and token.kind == "number"
    between = reader.tokens[mark].text == "between"
    span = span_between(reader)
    if span is not None and not (only_year and between and _measured(schema, span.first.year)):
        return span
    if span is None and only_year and not between:
        year = moment(reader)
        if year is not None and not reader.takes("to", "until", "on", "onwards", "onward"):
            return year
    return None


def _measured(schema: Schema, number: int) -> bool:
    """Whether the number may as well be one of a column that measures something."""
    return any(column.spans(number) for column in schema.columns if column.measure and not yearly(column))


def _dates_of(schema: Schema) -> Column:
    found = [column for column in schema.columns if column.kind == "date" or yearly(column) or looks_dated(column)]
    if len(found) != 1:
        said = f"The date may be about {listed(found, ' or ')}." if found else "No column holds dates."
        raise Refused(said, f"Name a column: {listed(schema.columns)}.")
    return found[0]
