"""What a file from outside is as a table; where there is doubt, it is said and not guessed.

What a JSON value is stands in `tabular.py`, and how a file is read in `reading.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from laneway.errors import BadInput, TooLarge
from laneway.lanes.pipeline import reading
from laneway.lanes.pipeline.lines import loads
from laneway.lanes.pipeline.process import BYTES_HERE, Held, Stored
from laneway.lanes.pipeline.tabular import rows_of
from laneway.lanes.pipeline.values import Row

__all__ = ["Row", "at", "parsed", "rows_in", "rows_of", "sample"]

MOST_BYTES = 128 * 1024 * 1024
HEAD_BYTES = 64 * 1024
"""So much of a file tells what it is."""
SAMPLED_BYTES, SAMPLED_ROWS = 512 * 1024, 5000


def rows_in(
    content: bytes, kind: str = "auto", *, mime: str = "", name: str = "", rows_at: str | None = None
) -> list[Row]:
    """The rows in these bytes, checked; a BadInput says what they are instead."""
    kind = kind_of(content, mime, name) if kind == "auto" else kind
    if kind != "json":
        return reading.rows_of(content, kind)
    value = parsed(content)
    return rows_of(at(value, rows_at) if rows_at else value)


def kind_of(content: bytes, mime: str = "", name: str = "") -> str:
    """The format of these bytes; a page for people is none."""
    if len(content) > MOST_BYTES:
        raise TooLarge(f"The table has {len(content)} bytes; at most {MOST_BYTES} are read.", hint="Send less of it.")
    head = content[:2048].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:1] == b"<":
        raise BadInput("That is a page, not a table.", hint="Give the address of JSON, NDJSON or CSV.")
    kind = reading.format_of(name, mime, head)
    if b"\n" not in head and kind == reading.format_of(name, mime):
        # The first line is longer than what we look at; whoever named the kind knew it.
        return kind
    return _by_first_line(kind, head)


def _by_first_line(kind: str, head: bytes) -> str:
    """One object over several lines is JSON, whatever its first byte promises."""
    first = head.partition(b"\n")[0].rstrip()
    return "json" if kind == "ndjson" and not first.endswith(b"}") else kind


def left_on_disk(found: Stored) -> Stored | None:
    """The file as a worker process reads it itself; None if it is small, or must be looked through here first."""
    size, head = _beginning(found, HEAD_BYTES)
    if size <= BYTES_HERE:
        return None
    if size > MOST_BYTES:
        raise TooLarge(f"The table has {size} bytes; at most {MOST_BYTES} are read.", hint="Send less of it.")
    head = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:1] == b"<":
        raise BadInput("That is a page, not a table.", hint="Give a file with JSON, NDJSON, CSV or Parquet.")
    kind = _by_first_line(found.format, head) if b"\n" in head else found.format
    return None if kind == "json" and head[:1] != b"[" else replace(found, format=kind)


def _beginning(found: Stored, most: int) -> tuple[int, bytes]:
    """How long the file is, and so many of its first bytes."""
    try:
        with found.path.open("rb", buffering=0) as file:
            return found.path.stat().st_size, file.read(most) or b""
    except OSError as error:
        raise BadInput(f"A stored table cannot be read: {error.strerror}.", hint="Name it again.") from error


def parsed(content: bytes) -> Any:
    """The JSON value, with every number as it was written."""
    try:
        return loads(content)
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


def sample(table: Sequence[Row] | Held | Stored) -> Sequence[Row]:
    """Enough of a table to plan with: all of a small one, the beginning of one that is kept as bytes or in a file."""
    if isinstance(table, Stored):
        size, head = _beginning(table, SAMPLED_BYTES)
    elif isinstance(table, Held):
        size, head = len(table.content), table.content[:SAMPLED_BYTES]
    else:
        return table
    if table.format == "parquet":
        content = table.content if isinstance(table, Held) else table.path.read_bytes()
        return reading.rows_of(content, table.format)[:SAMPLED_ROWS]
    if size <= SAMPLED_BYTES:
        return reading.rows_of(head, table.format)
    if table.format == "json":
        return _first_objects(head.decode("utf-8", "ignore"))
    return reading.rows_of(head[: head.rfind(b"\n") + 1], table.format)


def _first_objects(text: str) -> list[Row]:
    """The first rows of a list whose end is cut off."""
    found: list[Row] = []
    decoder, place = json.JSONDecoder(), text.find("[") + 1
    while len(found) < SAMPLED_ROWS:
        while place < len(text) and text[place] in " \t\r\n,":
            place += 1
        try:
            row, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return found
        found.append(row)
    return found
