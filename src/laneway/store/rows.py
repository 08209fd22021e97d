"""Turns rows into the frozen dataclasses of `domain`, enums included."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast, get_type_hints

from psycopg import AsyncCursor
from psycopg.rows import AsyncRowFactory

T = TypeVar("T")


def row_of(kind: type[T]) -> AsyncRowFactory[T]:
    """A row factory: columns named like the fields of `kind` become one `kind`."""
    enums = _enums(cast(Hashable, kind))

    def factory(cursor: AsyncCursor[Any]) -> Callable[[Sequence[Any]], T]:
        names = [column.name for column in cursor.description or ()]

        def make(values: Sequence[Any]) -> T:
            row = dict(zip(names, values, strict=True))
            for name, enum in enums.items():
                row[name] = enum(row[name])
            return kind(**row)

        return make

    return factory


def columns(kind: type[Any], prefix: str = "") -> str:
    """The column list that makes one `kind`."""
    return ", ".join(f"{prefix}{f.name}" for f in fields(kind))


@cache
def _enums(kind: Any) -> dict[str, type[Enum]]:
    hints = get_type_hints(kind)
    return {f.name: hints[f.name] for f in fields(kind) if _is_enum(hints[f.name])}


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Enum)
