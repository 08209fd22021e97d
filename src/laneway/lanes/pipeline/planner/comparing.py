"""One comparison with a number, a text or a date, as the condition of a plan."""

from __future__ import annotations

from typing import Any

from laneway.lanes.pipeline.planner.amounts import Amount, amount
from laneway.lanes.pipeline.planner.dimensions import yearly
from laneway.lanes.pipeline.planner.lexicon import SCALES
from laneway.lanes.pipeline.planner.moments import Span, moment
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column

Where = dict[str, Any]

OPERATORS = {
    "greater than or equal to": ">=",
    "less than or equal to": "<=",
    "more than or equal to": ">=",
    "no more than": "<=",
    "not more than": "<=",
    "no less than": ">=",
    "not less than": ">=",
    "no fewer than": ">=",
    "no higher than": "<=",
    "no lower than": ">=",
    "no greater than": "<=",
    "not over": "<=",
    "not under": ">=",
    "not above": "<=",
    "not below": ">=",
    "more than": ">",
    "greater than": ">",
    "higher than": ">",
    "bigger than": ">",
    "larger than": ">",
    "less than": "<",
    "fewer than": "<",
    "lower than": "<",
    "smaller than": "<",
    "cheaper than": "<",
    "at least": ">=",
    "at minimum": ">=",
    "a minimum of": ">=",
    "minimum of": ">=",
    "at most": "<=",
    "at maximum": "<=",
    "a maximum of": "<=",
    "maximum of": "<=",
    "up to": "<=",
    "equal to": "==",
    "equals": "==",
    "exactly": "==",
    "over": ">",
    "above": ">",
    "exceeding": ">",
    "exceeds": ">",
    "exceed": ">",
    "beyond": ">",
    "under": "<",
    "below": "<",
    "beneath": "<",
    ">=": ">=",
    "<=": "<=",
    "!=": "!=",
    "==": "==",
    "=": "==",
    ">": ">",
    "<": "<",
}
_SUFFIXES = {
    "or more": ">=",
    "or higher": ">=",
    "or above": ">=",
    "or greater": ">=",
    "or over": ">=",
    "or better": ">=",
    "and up": ">=",
    "and above": ">=",
    "or up": ">=",
    "and over": ">=",
    "and higher": ">=",
    "or older": ">=",
    "or longer": ">=",
    "plus": ">=",
    "+": ">=",
    "or less": "<=",
    "or lower": "<=",
    "or below": "<=",
    "or under": "<=",
    "or fewer": "<=",
    "and below": "<=",
    "and under": "<=",
    "or cheaper": "<=",
    "or younger": "<=",
    "or shorter": "<=",
    "and less": "<=",
    "and lower": "<=",
    "or smaller": "<=",
    "or worse": "<=",
    "tops": "<=",
    "max": "<=",
}
INVERSE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
DATES = {
    "on or after": "since",
    "no earlier than": "since",
    "not before": "since",
    "starting from": "since",
    "since": "since",
    "on or before": "through",
    "no later than": "through",
    "not after": "through",
    "up to and including": "through",
    "through": "through",
    "from before": "before",
    "from after": "after",
    "before": "before",
    "earlier than": "before",
    "prior to": "before",
    "after": "after",
    "later than": "after",
    "newer than": "after",
    "older than": "before",
    "during": "in",
    "within": "in",
    "in": "in",
    "on": "in",
    "more recent than": "after",
}


def compared(column: str, by: str, value: Any = None, *, ignore_case: bool = False) -> Where:
    """One comparison as a plan writes it."""
    said: Where = {"column": column, "is": by}
    if by not in ("null", "not_null"):
        said["value"] = value
    return said | ({"ignore_case": True} if ignore_case else {})


def operator(reader: Reader) -> str:
    """The comparison that comes next, now read; '' if none does."""
    found = reader.takes(*OPERATORS)
    if found:
        reader.takes("a", "an")
    return OPERATORS.get(found, "")


def suffix(reader: Reader) -> str:
    """`or more` and the like behind a number, now read; '' if nothing follows."""
    found = reader.takes(*_SUFFIXES)
    return _SUFFIXES[found] if found else ""


def needs_numbers(column: Column) -> None:
    """The column can be compared with a number; Refused otherwise."""
    if column.kind == "numeric text":
        raise Refused(f"{column.name} holds numbers written as text.", "Turn them into numbers first.")
    if column.kind != "number":
        raise Refused(f"{column.name} does not hold numbers.", "Compare a column of numbers.")


def against_number(column: Column, by: str, given: Amount) -> Where:
    """The column compared with the amount, in the column's own unit."""
    needs_numbers(column)
    return compared(column.name, by, given.in_unit(column.unit, column.name))


def between_numbers(reader: Reader, column: Column) -> Where | None:
    """`between 10 and 20`, both included; None if no two numbers come next."""
    read = two_amounts(reader)
    return None if read is None else _range(column, *read)


def two_amounts(reader: Reader) -> tuple[Amount, Amount] | None:
    """The two ends of a range; Refused if only the second says that it counts thousands or millions."""
    start = reader.at
    low = amount(reader)
    scaled = _scaled(reader, start)
    if low is None or not reader.takes("and", "to", "-"):
        return None
    start = reader.at
    high = amount(reader)
    if high is None:
        return None
    if _scaled(reader, start) and not scaled and low.value != 0:
        raise Refused(
            "It is not plain whether the first number counts thousands or millions too.", "Say it with both numbers."
        )
    return low, high


def _scaled(reader: Reader, start: int) -> bool:
    return any(token.text in SCALES for token in reader.tokens[start : reader.at])


def _range(column: Column, low: Amount, high: Amount) -> Where:
    needs_numbers(column)
    low = Amount(low.value, low.unit or high.unit)
    high = Amount(high.value, high.unit or low.unit)
    first, last = low.in_unit(column.unit, column.name), high.in_unit(column.unit, column.name)
    if first > last:
        raise Refused(f"Nothing is between {first} and {last}.", "Give the smaller number first.")
    return compared(column.name, "between", [first, last])


def dated(column: Column, by: str, span: Span) -> Where:
    """The column lies before, after, since, through or in the span."""
    if yearly(column) or (column.kind == "number" and _years(column)):
        return _in_years(column, by, span)
    if column.kind != "date":
        raise Refused(f"{column.name} does not hold dates I can compare.", "Write dates like 2026-03-31 in the table.")
    first, after = {"date": span.first.isoformat()}, {"date": span.after.isoformat()}
    match by:
        case "before":
            return compared(column.name, "<", first)
        case "after":
            return compared(column.name, ">=", after)
        case "since":
            return compared(column.name, ">=", first)
        case "through":
            return compared(column.name, "<", after)
    return {"and": [compared(column.name, ">=", first), compared(column.name, "<", after)]}


def _years(column: Column) -> bool:
    return isinstance(column.low, int) and isinstance(column.high, int) and column.low > 1000 and column.high < 2999


def _in_years(column: Column, by: str, span: Span) -> Where:
    whole = (span.first.month, span.first.day, span.after.month, span.after.day) == (1, 1, 1, 1)
    if not whole:
        raise Refused(f"{column.name} holds years only.", "Ask for whole years.")
    first, last = span.first.year, span.after.year - 1
    if by == "in":
        return compared(column.name, "==", first) if first == last else compared(column.name, "between", [first, last])
    return compared(
        column.name, {"before": "<", "after": ">", "since": ">=", "through": "<="}[by], last if by == "after" else first
    )


def span_between(reader: Reader) -> Span | None:
    """Two dates joined by `and` or `to`, both included; None if no two dates come next."""
    start = reader.at
    low = moment(reader)
    if low is None or not reader.takes("and", "to", "through", "-"):
        reader.at = start
        return None
    high = moment(reader)
    if high is None:
        reader.at = start
        return None
    if high.after <= low.first:
        raise Refused("The second date is before the first.", "Give the earlier date first.")
    return Span(low.first, high.after)
