"""Files read a column at a time by polars: in exactly the cells the reference would see, or not at all."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from itertools import chain, repeat
from operator import contains
from pathlib import Path
from typing import Any, Final

from laneway.errors import BadInput, Unavailable
from laneway.lanes.pipeline.lines import SAMPLE, Lines, loads
from laneway.lanes.pipeline.reading import side_by_side, typed
from laneway.lanes.pipeline.values import Row

_ODD_NAME = re.compile(rb"""\\[^"\n]*"\s*:|"\s+:""")
"""A name with an escape in it, or with a blank behind it."""

_NUMBER: Final = rb"-?(?:0|[1-9][0-9]*)"
_SPELLINGS: Final = {
    "Int64": rb"-?(?:0|[1-9][0-9]{0,17})\s*[,}]",
    "Float64": _NUMBER + rb"(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)\s*[,}]",
    "String": rb'"',
    "Boolean": rb"(?:true|false)\s*[,}]",
}
"""How a cell of each type is written; a column is of a type if every cell is, or null."""


class StepBack(Exception):
    """The reference must read this file itself."""


def opened(path: Path, format: str, name: str) -> ColumnFile:
    """The file, to be read by columns."""
    if find_spec("polars") is None or format not in ("ndjson", "csv", "parquet"):
        raise StepBack
    if format == "parquet":
        return _Parquet(path, name)
    return _Ndjson(path.read_bytes()) if format == "ndjson" else _Csv(path.read_bytes())


class ColumnFile(ABC):
    """A table in a file."""

    count: int
    """How many rows it has."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Every column that some row has."""

    @abstractmethod
    def cells(self, columns: Sequence[str]) -> list[Sequence[Any]]:
        """Each column from top to bottom; where a row lacks it, null."""

    @abstractmethod
    def rows(self, places: Sequence[int]) -> list[Row]:
        """The rows at these places, whole."""

    def last_rows(self, places: Sequence[int]) -> Sequence[Row]:
        """The same, when nothing more is done with them."""
        return self.rows(places)


def _odd(content: bytes) -> bool:
    """Whether polars and the reference might read a line of JSON differently."""
    escapes = b"\\" in content
    if b"\r" in content or (escapes and (b"\\ud" in content or b"\\uD" in content)):
        return True
    suspicious = escapes or b'" :' in content or b'"\t:' in content or b'"  ' in content
    return suspicious and _ODD_NAME.search(content) is not None


class _Ndjson(ColumnFile):
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._lines = [line for line in content.splitlines() if line.strip()]
        self.count = len(self._lines)
        if _odd(content) or not self._lines:
            raise StepBack
        # Braces enough for a row nested deeper than is allowed: let the reference look.
        if content.count(b"{") + content.count(b"[") > self.count and any(
            line.count(b"{") + line.count(b"[") > 64 for line in self._lines
        ):
            raise StepBack

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(chain.from_iterable(map(loads, self._lines))))

    def cells(self, columns: Sequence[str]) -> list[Sequence[Any]]:
        import polars as pl

        names = [self._name(column) for column in columns]
        schema = {column: getattr(pl, self._type(name)) for column, name in zip(columns, names, strict=True)}
        try:
            frame = pl.read_ndjson(io.BytesIO(self._content), schema=schema)
        except pl.exceptions.PolarsError as error:
            raise StepBack from error
        if frame.height != self.count:
            raise StepBack
        for column, name in zip(columns, names, strict=True):
            # Of a name that a line has twice the reference takes the last, polars the first.
            everywhere = frame[column].null_count() == 0 and self._content.count(name) == self.count
            if not everywhere and max(map(bytes.count, self._lines, repeat(name))) > 1:
                raise StepBack
        return [frame[column].to_list() for column in columns]

    def _name(self, column: str) -> bytes:
        """The column as a line spells it."""
        name = f'"{column}":'.encode()
        if not column.isprintable() or '"' in column or "\\" in column or name not in self._content:
            raise StepBack
        return name

    def _type(self, name: bytes) -> str:
        for one, spelling in _SPELLINGS.items():
            if not re.search(re.escape(name) + rb"\s*(?!" + spelling + rb"|null\s*[,}])[^\s]", self._content):
                return one
        raise StepBack

    def rows(self, places: Sequence[int]) -> list[Row]:
        rows: list[Row] = [loads(self._lines[place]) for place in places]
        return rows

    def last_rows(self, places: Sequence[int]) -> Sequence[Row]:
        content = b"".join(chain.from_iterable(zip(map(self._lines.__getitem__, places), repeat(b"\n"), strict=False)))
        return Lines(content, len(places), self.rows(places[:SAMPLE]))


class _Csv(ColumnFile):
    def __init__(self, content: bytes) -> None:
        import polars as pl

        content = content.removeprefix(b"\xef\xbb\xbf")
        lines = content.splitlines()
        head = lines[0] if lines else b""
        delimiter = max(b",;\t|", key=lambda one: head.count(bytes([one])))
        width = head.count(bytes([delimiter]))
        # Plain files only: no quotes, no odd line ends, no empty lines, every record as wide as the first.
        if b'"' in content or b"\r" in content or b"\0" in content or width == 0 or len(lines) < 2:
            raise StepBack
        if set(map(bytes.count, lines, repeat(bytes([delimiter])))) != {width}:
            raise StepBack
        if any(map(contains, (b"\v", b"\f", b"\x1c", b"\x1d", b"\x1e"), repeat(content))):
            raise StepBack
        try:
            frame = pl.read_csv(io.BytesIO(content), separator=chr(delimiter), infer_schema=False, quote_char=None,
                                has_header=True)  # fmt: skip
        except pl.exceptions.PolarsError as error:
            raise StepBack from error
        names = head.decode().split(chr(delimiter))
        if len(set(names)) < len(names) or "" in names or frame.columns != names or frame.height != len(lines) - 1:
            raise StepBack
        self._frame, self.count = frame, frame.height
        self._typed: dict[str, Sequence[Any]] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._frame.columns)

    def cells(self, columns: Sequence[str]) -> list[Sequence[Any]]:
        if not set(columns) <= set(self._frame.columns):
            raise StepBack
        for column in set(columns) - self._typed.keys():
            self._typed[column] = typed(self._frame[column].fill_null("").to_list())
        return [self._typed[column] for column in columns]

    def rows(self, places: Sequence[int]) -> list[Row]:
        cells = [[column[place] for place in places] for column in self.cells(self.columns)]
        return side_by_side(self.columns, cells)


class _Parquet(ColumnFile):
    def __init__(self, path: Path, name: str) -> None:
        self._frame = parquet_frame(path, name)
        self.count = self._frame.height

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._frame.columns) if self.count else ()

    def cells(self, columns: Sequence[str]) -> list[Sequence[Any]]:
        if not set(columns) <= set(self._frame.columns):
            raise StepBack
        return [self._frame[column].to_list() for column in columns]

    def rows(self, places: Sequence[int]) -> list[Row]:
        rows: list[Row] = self._frame[list(places)].to_dicts() if places else []
        return rows


def parquet_frame(file: Path | io.BytesIO, name: str) -> Any:
    """A Parquet file as a polars frame of JSON values: dates are ISO texts, and what is no number is null."""
    if find_spec("polars") is None:
        raise Unavailable(f"{name} is Parquet, which needs polars.", hint="Install laneway[columnar], or send NDJSON.")
    import polars as pl

    try:
        frame = pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadInput(f"{name} is no Parquet file: {str(error)[:200]}.", hint="Write it again.") from error
    return frame.select([_plain(name, column, kind) for column, kind in frame.schema.items()])


def _plain(name: str, column: str, kind: Any) -> Any:
    import polars as pl

    of = pl.col(column)
    if kind.is_float():
        wide = of.cast(pl.Float64)
        return pl.when(wide.is_finite()).then(wide).otherwise(None).alias(column)
    if kind.is_integer() or kind in (pl.String, pl.Boolean):
        return of
    if isinstance(kind, pl.Categorical | pl.Enum):
        return of.cast(pl.String)
    if kind == pl.Date:
        return of.dt.strftime("%Y-%m-%d")
    if isinstance(kind, pl.Datetime):
        zone = "Z" if kind.time_zone else ""
        in_utc = of.dt.convert_time_zone("UTC") if kind.time_zone else of
        return in_utc.dt.cast_time_unit("us").dt.strftime(f"%Y-%m-%dT%H:%M:%S%.f{zone}")
    if kind == pl.Null:
        return of.cast(pl.String)
    raise BadInput(
        f"{name} has a column {column} of type {kind}.", hint="Numbers, texts, true/false, dates and times can be read."
    )
