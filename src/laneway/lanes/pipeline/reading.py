"""Files as rows: JSON, lines of JSON, CSV and Parquet. What a cell becomes is decided here and nowhere else."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from laneway.domain.long_numbers import has_long_number
from laneway.errors import BadInput
from laneway.lanes.pipeline.checking import DEEPEST
from laneway.lanes.pipeline.lines import loads
from laneway.lanes.pipeline.values import Row

FORMATS: Final = ("json", "ndjson", "csv", "parquet")
TRUTH: Final = {"true": True, "false": False}
INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_LONGEST_CELL = 10 * 1024 * 1024


def format_of(name: str, mime: str = "", head: bytes = b"") -> str:
    """The format of a file by its name, its type, or its first bytes."""
    known = {"ndjson": "ndjson", "jsonl": "ndjson", "json": "json", "csv": "csv", "tsv": "csv", "parquet": "parquet",
             "application/json": "json", "application/x-ndjson": "ndjson", "text/csv": "csv",
             "application/vnd.apache.parquet": "parquet"}  # fmt: skip
    for said in (name.rpartition(".")[2].lower(), mime.partition(";")[0].strip().lower()):
        if said in known:
            return known[said]
    start = head.lstrip()[:4]
    if start == b"PAR1":
        return "parquet"
    return "json" if start[:1] == b"[" else "ndjson" if start[:1] == b"{" else "csv"


def rows_of(content: bytes, format: str, name: str = "the table") -> list[Row]:
    """The rows of a file."""
    read: dict[str, Callable[[bytes, str], list[Row]]] = {
        "json": _json, "ndjson": _ndjson, "csv": _csv, "parquet": _parquet}  # fmt: skip
    if format not in read:
        raise BadInput(f"{name} has the format {format!r:.40}.", hint=f"These can be read: {', '.join(FORMATS)}.")
    return read[format](content, name)


def intact(name: str, path: Path, sha256: str) -> bytes:
    """The content of a file, which is what its hash says where there is one."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(f"The table {name} cannot be read: {error.strerror}.", hint="Name it again.") from error
    if sha256 and hashlib.sha256(content).hexdigest() != sha256:
        raise BadInput(f"The stored copy of the table {name} is damaged.", hint="Bring it back from a backup.")
    return content


def _json(content: bytes, name: str) -> list[Row]:
    try:
        rows = loads(content)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name} is no JSON: {str(error)[:200]}.", hint="Send a list of objects.") from error
    return _objects(rows if isinstance(rows, list) else None, content, name)


def _ndjson(content: bytes, name: str) -> list[Row]:
    read: Callable[[bytes], Any] = loads if has_long_number(content) else orjson.loads
    rows: list[Any] = []
    try:
        # Grown in place, so that its length says which line cannot be read.
        rows.extend(read(line) for line in content.splitlines() if line.strip())
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"Row {len(rows) + 1:,} of {name} is no JSON: {str(error)[:200]}.", hint="Write one object on each line."
        ) from error
    return _objects(rows, content, name)


def _objects(rows: list[Any] | None, content: bytes, name: str) -> list[Row]:
    if rows is None or not set(map(type, rows)) <= {dict}:
        raise BadInput(f"{name} is not a list of rows.", hint='A row is written {"column": value, …}.')
    if content.count(b"{") + content.count(b"[") > len(rows) + 1 and any(map(_deep, rows)):
        raise BadInput(f"{name} is nested more than {DEEPEST} deep.", hint="Send a flatter table.")
    return rows


def _deep(row: Row) -> bool:
    level: Sequence[Any] = list(row.values())
    for _ in range(DEEPEST + 1):
        level = [part for value in level if type(value) in (list, dict)
                 for part in (value.values() if type(value) is dict else value)]  # fmt: skip
        if not level:
            return False
    return True


def _csv(content: bytes, name: str) -> list[Row]:
    header, records = csv_records(content, name)
    columns = [typed(cells) for cells in zip(*records, strict=True)] if records else []
    return side_by_side(header, columns) if columns else []


def side_by_side(names: Sequence[str], columns: Sequence[Iterable[Any]]) -> list[Row]:
    """Columns as rows."""
    # Written out for a few columns: that takes half the time of the general way.
    cells = zip(*columns, strict=True)
    match names:
        case [a]:
            return [{a: one} for (one,) in cells]
        case [a, b]:
            return [{a: one, b: two} for one, two in cells]
        case [a, b, c]:
            return [{a: one, b: two, c: three} for one, two, three in cells]
    return [dict(zip(names, row, strict=True)) for row in cells]


def csv_records(content: bytes, name: str) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and every record filled up to as many cells."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8 at byte {error.start:,}.", hint="Save it as UTF-8.") from error
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        header = next(reader, [])
        records = [record for record in reader if record]
    except csv.Error as error:
        raise BadInput(f"{name}, line {reader.line_num:,}: {error}.", hint="Mend the quotes of that line.") from error
    header = [column or f"column_{place}" for place, column in enumerate(header, 1)]
    if len(set(header)) < len(header):
        twice = next(column for column in header if header.count(column) > 1)
        raise BadInput(f"{name} has two columns {twice[:60]}.", hint="Give each its own name.")
    for place, record in enumerate(records, 1):
        if len(record) > len(header):
            raise BadInput(
                f"{name}, record {place:,}: {len(record)} cells for {len(header)} columns.", hint="Quote commas."
            )
        if len(record) < len(header):
            record.extend([""] * (len(header) - len(record)))
    return header, records


def _delimiter(text: str) -> str:
    head = text.partition("\n")[0]
    return max(",;\t|", key=head.count)


def typed(cells: Sequence[str]) -> Sequence[Any]:
    """A column of CSV: numbers or true/false if every cell is one, else texts; an empty cell is null."""
    different = set(cells) - {""}
    if different and different <= TRUTH.keys():
        return [TRUTH.get(cell) for cell in cells]
    if different and all(map(DECIMAL.fullmatch, different)):
        numbers = {cell: _number(cell) for cell in different}
        if None not in numbers.values():
            return [numbers.get(cell) for cell in cells]
    return [cell or None for cell in cells]


def _number(cell: str) -> int | float | None:
    if INTEGER.fullmatch(cell):
        return int(cell) if len(cell) <= 2000 else None
    number = float(cell)
    return number if abs(number) != float("inf") else None


def _parquet(content: bytes, name: str) -> list[Row]:
    from laneway.lanes.pipeline.column_files import parquet_frame

    frame: Any = parquet_frame(io.BytesIO(content), name)
    rows: list[Row] = frame.to_dicts()
    return rows
