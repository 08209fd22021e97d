"""Conditions on rows: read from a plan, said in words. `masks.py` finds the rows that meet them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from laneway.lanes.pipeline.dates import Moment, moment
from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.values import finite, kind, shown

DEEPEST, MOST_TESTS, MOST_VALUES = 20, 200, 10_000

ORDERING: Final = ("<", "<=", ">", ">=")
TEXTUAL: Final = ("contains", "starts_with", "ends_with")
WORDS: Final[dict[str, str]] = {
    "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least", "==": "is", "!=": "is not",
    "in": "is one of", "not_in": "is none of", "contains": "contains", "starts_with": "starts with",
    "ends_with": "ends with", "between": "is between", "null": "is empty", "not_null": "is not empty",
}  # fmt: skip
EXAMPLE: Final = '{"column": "price", "is": "<", "value": 100}'
SPELLINGS: Final = {"=": "==", "eq": "==", "ne": "!=", "<>": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">=",
                    "is_null": "null", "is_not_null": "not_null", "not in": "not_in"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Any_:  # noqa: N801 - `Any` is taken
    """One part holds at least."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold: exactly the other rows."""

    part: Condition


@dataclass(frozen=True, slots=True)
class Test:
    """One cell is compared; the value is a cell, a tuple of cells, or None."""

    column: str
    by: str
    value: Any = None
    ignore_case: bool = False

    __test__ = False


Condition = All | Any_ | Not | Test


@dataclass(frozen=True, slots=True)
class DateValue:
    """A date to compare with: a day, or an instant when a time is written."""

    text: str
    moment: Moment


@dataclass(frozen=True, slots=True)
class ColumnValue:
    """Another column of the same row to compare with."""

    name: str


def read(fields: Fields, given: Any) -> Condition:
    """The condition as a plan has it."""
    return _Reading(fields).condition(given, 0)


class _Reading:
    def __init__(self, fields: Fields) -> None:
        self._fields, self._tests = fields, 0

    def condition(self, given: Any, depth: int) -> Condition:
        if not isinstance(given, Mapping):
            raise self._fields.wrong("a condition must be an object.", f"Write, for example, {EXAMPLE}.")
        if depth > DEEPEST:
            raise self._fields.wrong(f"conditions stand more than {DEEPEST} deep in one another.", "Write it flatter.")
        for word, make in (("and", All), ("or", Any_)):
            if word in given:
                return make(self._parts(given, word, depth))
        if "not" in given:
            self._alone(given, "not")
            return Not(self.condition(given["not"], depth + 1))
        return self._test(given)

    def _alone(self, given: Mapping[str, Any], word: str) -> None:
        if len(given) != 1:
            raise self._fields.wrong(f"`{word}` must stand alone.", f'Put the rest into the list: {{"{word}": […]}}.')

    def _parts(self, given: Mapping[str, Any], word: str, depth: int) -> tuple[Condition, ...]:
        self._alone(given, word)
        return self._fields.each(word, given[word], lambda one: self.condition(one, depth + 1))

    def _test(self, given: Mapping[str, Any]) -> Test:
        self._tests += 1
        wrong = self._fields.wrong
        if self._tests > MOST_TESTS:
            raise wrong(f"there are more than {MOST_TESTS} comparisons.", "Use `in` with a list of values.")
        unknown = set(given) - {"column", "is", "value", "ignore_case"}
        if unknown or "column" not in given or "is" not in given:
            said = (
                f"a condition has no field `{min(map(str, unknown))}`." if unknown else "a condition is not complete."
            )
            raise wrong(said, f"Write, for example, {EXAMPLE}.")
        column = self._fields.name("column", given["column"])
        by = given["is"] if isinstance(given["is"], str) else repr(given["is"])
        by = SPELLINGS.get(by, by)
        if by not in WORDS:
            raise wrong(f"`is` cannot be {by:.60}.", f"Use one of: {' '.join(WORDS)}.")
        return Test(column, by, self._value(column, by, given), given.get("ignore_case") is True)

    def _value(self, column: str, by: str, given: Mapping[str, Any]) -> Any:
        wrong, value = self._fields.wrong, given.get("value")
        if by in ("null", "not_null"):
            return None
        if isinstance(value, Mapping) and set(value) == {"column"}:
            if by not in (*ORDERING, "==", "!="):
                raise wrong(
                    f"`{by}` cannot compare {column} with a column.", f"Use one of: {' '.join(ORDERING)} == !=."
                )
            return ColumnValue(self._fields.name("column", value["column"]))
        if by in ("in", "not_in"):
            if not isinstance(value, list | tuple) or not value or len(value) > MOST_VALUES:
                raise wrong(f"`{by}` needs a list of values for {column}.", f"At most {MOST_VALUES:,}.")
            return tuple(self._cell(column, one, null=True) for one in value)
        if by == "between":
            if not isinstance(value, list | tuple) or len(value) != 2:
                raise wrong(f"`between` needs two values for {column}.", 'Write "value": [low, high]; both count.')
            low, high = (self._ordered(column, by, self._cell(column, one)) for one in value)
            if kind(low) != kind(high):
                raise wrong(f"`between` has a {kind(low)} and a {kind(high)} for {column}.", "Give two of one type.")
            return (low, high)
        cell = self._cell(column, value)
        if by in TEXTUAL and (not isinstance(cell, str) and by != "contains"):
            raise wrong(f"`{by}` needs a text for {column}.", 'Write "value": "a text".')
        return self._ordered(column, by, cell) if by in ORDERING else cell

    def _ordered(self, column: str, by: str, cell: Any) -> Any:
        if isinstance(cell, bool) or not isinstance(cell, int | float | str | DateValue):
            raise self._fields.wrong(f"{column} cannot be {by} a {kind(cell)}.", "Compare with a number, text or date.")
        return cell

    def _cell(self, column: str, value: Any, *, null: bool = False) -> Any:
        wrong = self._fields.wrong
        if isinstance(value, Mapping) and set(value) == {"date"}:
            read = moment(value["date"]) if isinstance(value["date"], str) else None
            if read is None:
                raise wrong(f"{shown(value['date'])} is no date.", 'Write {"date": "2026-01-31"} or with a time.')
            return DateValue(value["date"], read)
        if value is None and not null:
            raise wrong(
                f"`value` is missing for {column}.", 'To look for empty cells write "is": "null" or "not_null".'
            )
        if isinstance(value, float) and not finite(value):
            raise wrong(f"{value} is no number that JSON has.", "Give a finite number.")
        if not isinstance(value, str | int | float | bool | None):
            raise wrong(f"{column} cannot be compared with a {kind(value)}.", 'For several values use "is": "in".')
        return value


def document(condition: Condition) -> dict[str, Any]:
    """The condition as a plan has it."""
    match condition:
        case All(parts):
            return {"and": [document(part) for part in parts]}
        case Any_(parts):
            return {"or": [document(part) for part in parts]}
        case Not(part):
            return {"not": document(part)}
        case Test(column, by, value, ignore_case):
            said: dict[str, Any] = {"column": column, "is": by}
            if by not in ("null", "not_null"):
                said["value"] = [_written(one) for one in value] if isinstance(value, tuple) else _written(value)
            return said | ({"ignore_case": True} if ignore_case else {})


def _written(value: Any) -> Any:
    if isinstance(value, ColumnValue):
        return {"column": value.name}
    return {"date": value.text} if isinstance(value, DateValue) else value


def phrase(condition: Condition, inner: bool = False) -> str:
    """The condition in plain words."""
    match condition:
        case All(parts) | Any_(parts):
            text = (" and " if isinstance(condition, All) else " or ").join(phrase(part, True) for part in parts)
            return f"({text})" if inner and len(parts) > 1 else text
        case Not(part):
            return f"not ({phrase(part)})"
        case Test(column, by, value, _):
            return f"{column} {WORDS[by]}{_said(by, value)}"


def _said(by: str, value: Any) -> str:
    if by in ("null", "not_null"):
        return ""
    if by == "between":
        return f" {_quoted(value[0])} and {_quoted(value[1])}"
    if isinstance(value, tuple):
        listed = ", ".join(map(_quoted, value[:5]))
        return f" {listed}" + (f" and {len(value) - 5} more" if len(value) > 5 else "")
    return f" {_quoted(value)}"


def _quoted(value: Any) -> str:
    if isinstance(value, ColumnValue):
        return value.name
    return value.text if isinstance(value, DateValue) else shown(value)


def columns(condition: Condition) -> set[str]:
    """Every column the condition looks at."""
    match condition:
        case All(parts) | Any_(parts):
            return set().union(*map(columns, parts))
        case Not(part):
            return columns(part)
        case Test(column, _, ColumnValue(other), _):
            return {column, other}
        case Test(column, _, _, _):
            return {column}
