"""Bytes from outside become rows: JSON, NDJSON and CSV, within bounds, and nothing is guessed.

JSON may be a list of objects, one object that holds exactly one such list, or a single object (one row). A list of
plain values becomes rows with the one column `value`. CSV cells are text; a column in which every filled cell is a
number becomes numbers, and an empty cell is null.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from laneway.errors import BadInput, TooLarge

Row = dict[str, Any]

DEEPEST, MOST_COLUMNS, LONGEST_NAME = 32, 1000, 200
MOST_BYTES = 128 * 1024 * 1024
_LONG_NUMBER = re.compile(rb"\d{18}")
_WHOLE, _BROKEN = re.compile(r"[+-]?(0|[1-9]\d{0,14})"), re.compile(r"[+-]?(0|[1-9]\d{0,14})\.\d{1,15}")
KINDS = ("auto", "json", "csv", "ndjson")


def rows_in(content: bytes, kind: str = "auto", *, mime: str = "", name: str = "", rows_at: str | None = None) -> Any:
    """The rows in these bytes, checked; a BadInput says what they are instead."""
    if len(content) > MOST_BYTES:
        raise TooLarge(f"The table has {len(content)} bytes; at most {MOST_BYTES} are read.", hint="Send less of it.")
    kind = _kind(content, mime, name) if kind == "auto" else kind
    text_or_value = _decoded(content, kind)
    if kind == "csv":
        return _from_csv(text_or_value)
    return rows_of(at(text_or_value, rows_at) if rows_at else text_or_value)


def _decoded(content: bytes, kind: str) -> Any:
    if kind == "json":
        return parsed(content)
    if kind == "ndjson":
        return [parsed(line) for line in content.splitlines() if line.strip()]
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("The CSV is not UTF-8.", hint="Save it as UTF-8.") from None


def parsed(content: bytes) -> Any:
    """The JSON value, with every number as it was written."""
    try:
        # The fast reader makes fractions of whole numbers that are very long; those are read by the other one.
        return json.loads(content) if _LONG_NUMBER.search(content) else orjson.loads(content)
    except (ValueError, RecursionError) as error:
        told = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:120]
        raise BadInput(f"That is not valid JSON: {told}.", hint="Send JSON, NDJSON or CSV.") from None


def at(value: Any, path: str) -> Any:
    """What lies at `data.items` or `0.rows` in a JSON value."""
    for part in filter(None, path.removeprefix("$").split(".")):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            found = ", ".join(list(value)[:10]) if isinstance(value, Mapping) else f"a {type(value).__name__}"
            raise BadInput(f"There is nothing at `{path[:100]}`: `{part[:50]}` is missing.", hint=f"There is {found}.")
    return value


def rows_of(value: Any) -> list[Row]:
    """The table that a JSON value is; a BadInput if it is none."""
    if isinstance(value, Mapping):
        value = _only_list(value)
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise BadInput(f"A table is a list of objects; this is {_named(value)}.", hint="Send a list of objects.")
    if value and not any(isinstance(row, Mapping | list) for row in value):
        value = [{"value": one} for one in value]
    return checked(value)


def checked(rows: Sequence[Any]) -> list[Row]:
    """The rows, each an object of bounded size and depth without anything that cannot be stored."""
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise BadInput(f"Row {number} is {_named(row)}, not an object.", hint="Send a list of objects.")
        if len(row) > MOST_COLUMNS:
            raise BadInput(f"Row {number} has {len(row)} columns; at most {MOST_COLUMNS} are taken.")
        for column, cell in row.items():
            if not isinstance(column, str) or len(column) > LONGEST_NAME:
                raise BadInput(f"Row {number} has a column whose name is too long or no text.", hint="Rename it.")
            if isinstance(cell, dict | list | tuple | float) or not isinstance(cell, str | int | bool | None):
                _check_cell(cell, number, column)
    return [row if isinstance(row, dict) else dict(row) for row in rows]


def _check_cell(cell: Any, number: int, column: str) -> None:
    where = f"Row {number}, column `{column[:60]}`"
    # By hand and not by calling itself: what holds itself would never end.
    waiting: list[tuple[Any, int]] = [(cell, 0)]
    seen = 0
    while waiting:
        value, depth = waiting.pop()
        seen += 1
        if depth > DEEPEST or seen > 100_000:
            raise BadInput(f"{where} is nested too deeply, or holds itself.", hint="Send plain values.")
        if isinstance(value, Mapping):
            waiting += [(inner, depth + 1) for inner in value.values()]
        elif isinstance(value, list | tuple):
            waiting += [(inner, depth + 1) for inner in value]
        elif isinstance(value, float) and not math.isfinite(value):
            raise BadInput(f"{where} is not a finite number.", hint="Send null instead.")
        elif not isinstance(value, str | int | float | bool | None):
            raise BadInput(f"{where} is {_named(value)}.", hint="Send text, numbers, true, false or null.")


def _only_list(value: Mapping[str, Any]) -> Any:
    lists = [name for name, inner in value.items() if isinstance(inner, list) and inner and _objects(inner)]
    if len(lists) > 1:
        told = ", ".join(f"`{name[:40]}`" for name in lists[:8])
        raise BadInput(f"It holds several lists: {told}.", hint="Say which one with `rows_at`.")
    if lists:
        return value[lists[0]]
    empty = [name for name, inner in value.items() if inner == [] and name in ("rows", "data", "items", "results")]
    return [] if empty else [value]


def _objects(values: list[Any]) -> bool:
    return all(isinstance(one, Mapping) for one in values[:50])


def _from_csv(text: str) -> list[Row]:
    try:
        separator = csv.Sniffer().sniff(text[:4096], delimiters=",;\t|").delimiter
    except csv.Error:
        separator = ","
    try:
        lines = [line for line in csv.reader(io.StringIO(text), delimiter=separator, strict=True) if line]
    except csv.Error as error:
        raise BadInput(f"The CSV cannot be read: {error}.", hint="Correct it.") from None
    if not lines:
        return []
    names = [name.strip() for name in lines[0]]
    if len(set(names)) < len(names) or "" in names or len(names) > MOST_COLUMNS:
        raise BadInput("The first line of the CSV must name each column once.", hint="Correct it.")
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(names):
            raise BadInput(f"Line {number} of the CSV has {len(line)} cells, not {len(names)}.", hint="Correct it.")
    columns = [_typed(column) for column in zip(*lines[1:], strict=True)] or [[] for _ in names]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _typed(cells: Sequence[str]) -> list[Any]:
    filled = [cell.strip() for cell in cells if cell.strip()]
    if filled and all(_WHOLE.fullmatch(cell) for cell in filled):
        return [int(cell) if cell.strip() else None for cell in cells]
    if filled and all(_WHOLE.fullmatch(cell) or _BROKEN.fullmatch(cell) for cell in filled):
        return [float(cell) if cell.strip() else None for cell in cells]
    return [cell if cell.strip() else None for cell in cells]


def _kind(content: bytes, mime: str, name: str) -> str:
    mime, ending = mime.partition(";")[0].strip().lower(), name.lower().rpartition(".")[2]
    if mime in NDJSON_MIMES or ending in ("ndjson", "jsonl"):
        return "ndjson"
    if mime == "text/csv" or ending in ("csv", "tsv"):
        return "csv"
    if mime.endswith(("/json", "+json")) or ending == "json":
        return "json"
    head = content[:2048].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:1] == b"[":
        return "json"
    if head[:1] == b"{":
        lines = list(_lines(content))
        return "ndjson" if len(lines) > 1 and all(line.startswith(b"{") for line in lines) else "json"
    if head[:1] == b"<":
        raise BadInput("That is a page, not a table.", hint="Give the address of JSON, NDJSON or CSV.")
    return "csv"


NDJSON_MIMES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"})


def _lines(content: bytes) -> Iterator[bytes]:
    return (line for line in content[:65536].splitlines()[:3] if line.strip())


def _named(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number" if isinstance(value, int | float) else f"a {type(value).__name__}")
