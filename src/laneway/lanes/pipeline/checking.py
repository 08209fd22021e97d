"""Rows from outside are looked at before anything is done with them: JSON only, no cycles, bounded size and depth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import orjson

from laneway.errors import BadInput, TooLarge
from laneway.lanes.pipeline.values import PLAIN, Row

MOST_BYTES = 10 * 1024 * 1024
DEEPEST = 64
MOST_BITS = 8192
MOST_CELLS = 50_000
_AT_ONCE = 500
"""Rows that are written out to be measured before others get their turn."""


def checked(name: str, rows: Any, most_bytes: int = MOST_BYTES) -> list[Row]:
    """The rows, if they are a table: a list of objects of JSON values, not too large and not too deep."""
    if not isinstance(rows, list | tuple):
        raise BadInput(f"The table {name} is not a list of rows.", hint='Write [{"column": value, …}, …].')
    size = 0
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        for place, row in enumerate(part, start + 1):
            _row(name, place, row)
        size += _size(part)
        if size > most_bytes:
            raise TooLarge(
                f"The table {name} is larger than {most_bytes / 1024 / 1024:g} MB.",
                hint="Send it as a file, and name it by its artifact://… reference.",
            )
    return list(rows)


def _row(name: str, place: int, row: Any) -> None:
    if type(row) is not dict:
        raise BadInput(f"Row {place:,} of {name} is no object.", hint='A row is written {"column": value, …}.')
    if len(row) > MOST_CELLS:
        raise TooLarge(
            f"Row {place:,} of {name} has {len(row):,} cells; at most {MOST_CELLS:,} are taken.",
            hint="Send a longer table with fewer columns.",
        )
    for column, cell in row.items():
        of = type(cell)
        if type(column) is str and of in PLAIN and of is not float and of is not int:
            continue
        fault = "its name is no text" if type(column) is not str else _fault(cell)
        if fault:
            raise BadInput(
                f"Row {place:,} of {name}, column {str(column)[:60]}: {fault}.", hint="Send JSON values only."
            )


def _fault(cell: Any) -> str | None:
    """What is wrong with a cell; parts of it are looked at without recursion, so that no depth can hurt."""
    waiting: list[tuple[Any, tuple[int, ...]]] = [(cell, ())]
    while waiting:
        value, above = waiting.pop()
        of = type(value)
        if of is float and not math.isfinite(value):
            return f"{value} is no number that JSON has"
        if of is int and value.bit_length() > MOST_BITS:
            return "the number has too many digits"
        if of in PLAIN:
            continue
        if of not in (list, dict):
            return f"{of.__name__} is no type that JSON has"
        if id(value) in above:
            return "it contains itself"
        if len(above) >= DEEPEST:
            return f"it is nested more than {DEEPEST} deep"
        if of is dict and any(type(key) is not str for key in value):
            return "a name inside it is no text"
        inside = value.values() if of is dict else value
        waiting.extend((part, (*above, id(value))) for part in inside)
    return None


def _size(rows: Sequence[Row]) -> int:
    try:
        return len(orjson.dumps(rows))
    except TypeError:  # numbers beyond 64 bits, or texts that are no Unicode
        return sum(len(repr(row)) for row in rows)
