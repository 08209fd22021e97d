"""Rows as lines of JSON: what goes to a worker process and comes back, and what a large result is stored as."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NoReturn, overload

import orjson

from laneway.domain.long_numbers import has_long_number
from laneway.lanes.pipeline.values import Row

SAMPLE = 200
"""Rows that are at hand at once, for whoever shows a few."""

_MOST_BITS = 63
"""What orjson writes whatever the sign."""

_AT_ONCE = 500
"""Rows written between two chances for other threads."""


def written(rows: Sequence[Row]) -> Iterator[bytes]:
    """The rows as lines of JSON, a few hundred at a time."""
    if isinstance(rows, Lines):
        yield rows.content
        return
    for start in range(0, len(rows), _AT_ONCE):
        yield b"".join(map(line, rows[start : start + _AT_ONCE]))


def line(row: Row) -> bytes:
    """One row as a line of JSON."""
    try:
        return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return dumps(row) + b"\n"


def dumps(value: Any, default: Callable[[Any], Any] | None = None) -> bytes:
    """The value as JSON; whole numbers have all their digits, however many. TypeError if JSON has no words for it."""
    try:
        return orjson.dumps(value, default)
    except TypeError:
        # orjson has no whole numbers beyond 64 bits, but takes what is written already.
        return orjson.dumps(_spelled(value), default)


def _spelled(value: Any) -> Any:
    """The same value, with its long whole numbers as they are written."""
    if type(value) is int and value.bit_length() > _MOST_BITS:
        return orjson.Fragment(str(value).encode())
    if isinstance(value, dict):
        return {name: _spelled(part) for name, part in value.items()}
    return [_spelled(part) for part in value] if isinstance(value, list | tuple) else value


def loads(text: bytes) -> Any:
    """One JSON value; whole numbers stay whole however long they are. ValueError if it is none."""
    if not has_long_number(text):
        return orjson.loads(text)
    # Decoded first: of bytes, json takes other encodings and halves of characters, too.
    value = json.loads(text.decode(), parse_constant=_refused, parse_float=_finite)
    if b"\\ud" in text or b"\\uD" in text:
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text
    return value


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number that JSON has")


def _finite(text: str) -> float:
    number = float(text)
    return number if abs(number) != float("inf") else _refused(text[:20])


class Lines(Sequence[Row]):
    """Rows that are kept as bytes; each becomes a dict when somebody looks at it."""

    def __init__(self, content: bytes, count: int, sample: Iterable[Row]) -> None:
        self.content, self._count, self._sample = content, count, list(sample)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return map(loads, io.BytesIO(self.content))

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        if isinstance(place, int):
            at = range(self._count)[place]
            return self[at : at + 1][0]
        start, stop, step = place.indices(self._count)
        if stop <= len(self._sample):
            return self._sample[start:stop:step]
        return list(islice(self, start, stop, step)) if step > 0 else list(self)[place]
