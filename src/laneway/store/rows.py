"""Turns rows into the frozen dataclasses of `domain`, enums included."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import Any, Generic, LiteralString, TypeVar, cast, get_type_hints

from psycopg import AsyncConnection, AsyncCursor
from psycopg.abc import Params
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


class Rows(Generic[T]):
    """What statements give, as objects of one kind."""

    def __init__(self, tx: AsyncConnection[Any], kind: type[T]) -> None:
        self._tx, self._kind = tx, kind

    async def fetch_all(self, query: LiteralString | bytes, values: Params | None = None) -> list[T]:
        async with self._tx.cursor(row_factory=row_of(self._kind)) as cursor:
            await cursor.execute(query, values)
            return await cursor.fetchall()

    async def fetch_one(self, query: LiteralString | bytes, values: Params | None = None) -> T | None:
        async with self._tx.cursor(row_factory=row_of(self._kind)) as cursor:
            await cursor.execute(query, values)
            return await cursor.fetchone()


def columns(kind: type[Any], prefix: str = "") -> str:
    """The column list that makes one `kind`."""
    return ", ".join(f"{prefix}{f.name}" for f in fields(kind))


@cache
def _enums(kind: Any) -> dict[str, type[Enum]]:
    hints = get_type_hints(kind)
    return {f.name: hints[f.name] for f in fields(kind) if _is_enum(hints[f.name])}


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Enum)
