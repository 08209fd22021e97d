"""What a primitive is: one file that reads its fields, says itself in words, and works on a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, repeat
from operator import contains, itemgetter
from typing import Any, ClassVar, Self

from laneway.errors import BadInput, TooLarge
from laneway.lanes.pipeline.fields import Fields, nearest
from laneway.lanes.pipeline.values import Row


def counted(count: int, what: str = "row") -> str:
    """So many of something, as a sentence says it."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


class Table:
    """Rows, and the columns they are known to have, whether or not one of these rows has a cell there."""

    def __init__(
        self,
        rows: Sequence[Row],
        columns: Iterable[str] | None = None,
        like: Table | None = None,
        more: Iterable[str] = (),
    ) -> None:
        self.rows, self._columns, self._like, self._more = rows, columns, like, tuple(more)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Every column, in the order in which the rows bring them; a look at every row, so ask only if you must."""
        if self._columns is not None:
            return tuple(self._columns)
        if self._like is not None:
            return (*self._like.columns, *self._more)
        return tuple(dict.fromkeys(chain.from_iterable(self.rows)))

    def of(self, rows: Sequence[Row], more: Iterable[str] = ()) -> Table:
        """Other rows of the same columns, and of some more."""
        return Table(rows, like=self, more=more)

    def has(self, column: str) -> bool:
        """Whether it is a column of this table; a table that never had a row may have any."""
        return self.knows(column) or not self.columns

    def knows(self, column: str) -> bool:
        """Whether a row has, or may have had, a cell in it."""
        if (self.rows and column in self.rows[0]) or column in self._more:
            return True
        if self._columns is not None or "columns" in self.__dict__:
            return column in self.columns
        return self._like.knows(column) if self._like is not None else any(map(contains, self.rows, repeat(column)))

    def cells(self, column: str) -> list[Any]:
        """The column from top to bottom; where a row lacks it, null."""
        try:
            return list(map(itemgetter(column), self.rows))
        except KeyError:
            return [row.get(column) for row in self.rows]

    def types(self, column: str) -> set[type]:
        """The types of the column's cells; where a row lacks it, that of null."""
        try:
            return set(map(type, map(itemgetter(column), self.rows)))
        except KeyError:
            return {type(row.get(column)) for row in self.rows}


class Outgrown(Exception):
    """There are more rows on the way than this process should work on while it serves others."""


@dataclass
class Surroundings:
    """What a step has besides its rows: the other tables, its limits, and a place for remarks."""

    tables: Mapping[str, Table]
    most_rows: int
    most_here: int | None = None
    """From how many rows on another process should do the work."""
    number: int = 0
    do: str = ""
    notes: list[str] = field(default_factory=list)

    def wrong(self, what: str, repair: str) -> BadInput:
        """The fault, to be raised by who found it."""
        return BadInput(f"Step {self.number} ({self.do}): {what}", hint=repair)

    def note(self, what: str) -> None:
        """The reader of the answer is told."""
        self.notes.append(f"Step {self.number} ({self.do}): {what}")

    def need(self, table: Table, columns: Iterable[str], whose: str = "the table") -> None:
        """Each column is one of the table's."""
        for column in columns:
            if not table.has(column):
                raise self.wrong(f"{whose} has no column {column}.", nearest(column, table.columns))

    def room(self, rows: int) -> None:
        """So many rows are allowed."""
        if rows > self.most_rows:
            raise TooLarge(
                f"Step {self.number} ({self.do}): its result would pass {self.most_rows:,} rows.",
                hint="Filter first, or have the owner raise LANEWAY_PIPELINE_ROWS.",
            )
        if self.most_here is not None and rows > self.most_here:
            raise Outgrown


class Step(ABC):
    """One step of a plan; a subclass is one primitive, and its fields are that primitive's."""

    DO: ClassVar[str]
    """What the primitive is called in a plan."""
    SCHEMA: ClassVar[dict[str, Any]]
    """Its fields as JSON Schema properties: what a model is told."""

    @classmethod
    @abstractmethod
    def read(cls, fields: Fields) -> Self:
        """The step as the plan has it."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """The step's fields as a plan has them, without `do`."""

    @abstractmethod
    def phrase(self) -> str:
        """What it does, in a few plain words."""

    @abstractmethod
    def run(self, table: Table, around: Surroundings) -> Table:
        """The rows after it; the rows before it are left as they were."""
