"""Which rows meet a condition: a column at a time, at the speed of C where a column holds one type only."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, Final

from laneway.lanes.pipeline.dates import moment_of
from laneway.lanes.pipeline.step import Surroundings, Table
from laneway.lanes.pipeline.values import KINDS, NULL, NUMBERS, identity, kind
from laneway.lanes.pipeline.where import ORDERING, TEXTUAL, All, Any_, ColumnValue, Condition, DateValue, Not, Test

_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "contains": operator.contains, "starts_with": str.startswith, "ends_with": str.endswith,
}  # fmt: skip


def mask(condition: Condition, table: Table, around: Surroundings) -> Sequence[bool]:
    """For each row whether it meets the condition; two-valued, so that `not` gives exactly the others."""
    match condition:
        case All(parts) | Any_(parts):
            both = operator.and_ if isinstance(condition, All) else operator.or_
            found = mask(parts[0], table, around)
            for part in parts[1:]:
                found = list(map(both, found, mask(part, table, around)))
            return found
        case Not(part):
            return _others(mask(part, table, around))
        case Test(_, by, _, _):
            if by in ("!=", "not_in", "not_null"):
                return _others(_Cells(condition, table, around).mask({"!=": "==", "not_in": "in"}.get(by, "null")))
            return _Cells(condition, table, around).mask(by)


def _others(found: Sequence[bool]) -> list[bool]:
    return list(map(operator.not_, found))


class _Cells:
    """The cells of one column, against one test."""

    def __init__(self, test: Test, table: Table, around: Surroundings) -> None:
        self._test, self._around, self._table = test, around, table
        self._cells = table.cells(test.column)
        self._types = set(map(type, self._cells))

    def mask(self, by: str) -> list[bool]:
        value = self._test.value
        if by == "null":
            return list(map(operator.is_, self._cells, repeat(None)))
        if isinstance(value, ColumnValue):
            return self._beside(by, self._table.cells(value.name))
        if by == "in":
            return self._among(value)
        if by == "between":
            low, high = self._ordered(">=", value[0]), self._ordered("<=", value[1])
            return list(map(operator.and_, low, high))
        if isinstance(value, DateValue):
            return self._dated(by, value)
        if by in TEXTUAL:
            return self._textual(by, value)
        return self._ordered(by, value) if by in ORDERING else self._equal(value)

    def _beside(self, by: str, others: Sequence[Any]) -> list[bool]:
        """Each cell against the other column's of its row; an empty one on either side never matches."""
        compare = _OPERATORS[by]
        pairs = list(zip(self._cells, others, strict=True))
        strangers = sum(not _alike(*pair) and None not in pair for pair in pairs)
        if strangers:
            self._around.note(f"{strangers:,} cells of {self._test.column} are compared with another kind of value.")
        if by == "==":
            return [one is not None and identity(one) == identity(other) for one, other in pairs]
        return [_alike(one, other) and type(one) in _ORDERED and compare(one, other) for one, other in pairs]

    def _ordered(self, by: str, value: Any) -> list[bool]:
        if isinstance(value, DateValue):
            return self._dated(by, value)
        compare, wanted = _OPERATORS[by], NUMBERS if type(value) in NUMBERS else frozenset({str})
        if self._types <= wanted:
            return list(map(compare, self._cells, repeat(value)))
        self._remark(wanted, f"a {kind(value)}")
        return [type(cell) in wanted and compare(cell, value) for cell in self._cells]

    def _equal(self, value: Any) -> list[bool]:
        if type(value) is str and self._test.ignore_case:
            return [type(cell) is str and cell.casefold() == value.casefold() for cell in self._cells]
        wanted = NUMBERS if type(value) in NUMBERS else frozenset({type(value)})
        if self._types.isdisjoint(wanted):
            self._remark(wanted, f"a {kind(value)}")
        if type(value) is bool:
            return list(map(operator.is_, self._cells, repeat(value)))
        if type(value) in NUMBERS and bool in self._types:
            return [type(cell) is not bool and cell == value for cell in self._cells]
        return list(map(operator.eq, self._cells, repeat(value)))

    def _among(self, values: Sequence[Any]) -> list[bool]:
        dates = [value for value in values if isinstance(value, DateValue)]
        plain = [value for value in values if not isinstance(value, DateValue)]
        found = self._among_plain(plain) if plain else [False] * len(self._cells)
        for date in dates:
            found = list(map(operator.or_, found, self._dated("==", date)))
        return found

    def _among_plain(self, values: Sequence[Any]) -> list[bool]:
        if self._test.ignore_case:
            folded = {identity(_folded(value)) for value in values}
            return [identity(_folded(cell)) in folded for cell in self._cells]
        wanted = {identity(value) for value in values}
        if self._types.isdisjoint({bool, list, dict}):
            return list(map(wanted.__contains__, self._cells))
        return [identity(cell) in wanted for cell in self._cells]

    def _textual(self, by: str, value: Any) -> list[bool]:
        fold, compare = self._test.ignore_case, _OPERATORS[by]
        if not fold and self._types == {str} and type(value) is str:
            return list(map(compare, self._cells, repeat(value)))
        self._remark(frozenset({str, list} if by == "contains" else {str}), "a text")
        value = _folded(value) if fold else value
        part = identity(value)

        def holds(cell: Any) -> bool:
            if type(cell) is list:
                return by == "contains" and any(identity(_folded(one) if fold else one) == part for one in cell)
            return type(cell) is str and type(value) is str and compare(cell.casefold() if fold else cell, value)

        return list(map(holds, self._cells))

    def _dated(self, by: str, value: DateValue) -> list[bool]:
        compare = _OPERATORS[by]
        moments = list(map(moment_of, self._cells))
        strangers = sum(read is None and cell is not None for read, cell in zip(moments, self._cells, strict=True))
        if strangers:
            self._around.note(f"{strangers:,} cells of {self._test.column} are no dates and do not match.")
        if value.moment.whole_day:
            return [read is not None and compare(read.day, value.moment.day) for read in moments]
        return [read is not None and compare(read.at, value.moment.at) for read in moments]

    def _remark(self, wanted: frozenset[type], with_what: str) -> None:
        strangers = self._types - wanted - {NULL}
        if strangers:
            kinds = " and ".join(sorted({KINDS[one] for one in strangers}))
            count = sum(type(cell) in strangers for cell in self._cells)
            column = self._test.column
            self._around.note(f"{count:,} cells of {column} ({kinds}) cannot be compared with {with_what}.")


_ORDERED: Final = NUMBERS | {str}


def _alike(one: Any, other: Any) -> bool:
    return type(one) is type(other) or (type(one) in NUMBERS and type(other) in NUMBERS)


def _folded(value: Any) -> Any:
    return value.casefold() if type(value) is str else value
