"""Rows put together by equal keys, in the order in which the keys first appear."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline import aggregates
from laneway.lanes.pipeline.aggregates import Aggregate, checked, worked_out
from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.keys import cell_keys, combined
from laneway.lanes.pipeline.step import Step, Surroundings, Table
from laneway.lanes.pipeline.values import NULL

EXAMPLE = '"values": {"average_price": {"do": "mean", "column": "price"}}'


def _first(
    cells: Sequence[Sequence[Any]], keys: Sequence[Sequence[Hashable]], combined_keys: Sequence[Hashable]
) -> dict[Hashable, tuple[Any, ...]]:
    if all(made is given for made, given in zip(keys, cells, strict=True)):
        # The keys are the cells themselves, and a dict keeps the first of those that are equal.
        return {key: key if len(cells) > 1 else (key,) for key in dict.fromkeys(combined_keys)}  # type: ignore[misc]
    first: dict[Hashable, tuple[Any, ...]] = {}
    deque(map(first.setdefault, combined_keys, zip(*cells, strict=True)), maxlen=0)
    return first


@dataclass(frozen=True, slots=True)
class Figures(Step):
    """A step that works out figures of groups."""

    SCHEMA: ClassVar[dict[str, Any]] = {
        "by": {"type": "array", "items": {"type": "string"}, "description": "None = the whole table is one group"},
        "values": {
            "type": "object",
            "description": "name of the new column → what it holds",
            "additionalProperties": {
                "type": "object",
                "properties": {"do": {"enum": list(aggregates.NAMES)}, "column": {"type": "string"}},
                "required": ["do"],
            },
        },
    }

    by: tuple[str, ...]
    values: tuple[tuple[str, Aggregate], ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        by = fields.names("by", '"by": ["city"]', least=0)
        given = fields.mapping("values", EXAMPLE)
        values = tuple((fields.name("values", name), aggregates.read(fields, one)) for name, one in given.items())
        clash = {name for name, _ in values} & set(by)
        if clash:
            raise fields.wrong(f"`values` has a column {min(clash)}, which it groups by.", "Give it another name.")
        return cls(by, values)

    def document(self) -> dict[str, Any]:
        return {"by": list(self.by), "values": {name: one.document() for name, one in self.values}}

    @property
    def needed(self) -> list[str]:
        """The columns it looks at."""
        return [*self.by, *(one.column for _, one in self.values if one.column is not None)]


class Groups:
    """The groups of a table by some columns; by none, the whole table is the one group."""

    def __init__(self, table: Table, by: Sequence[str]) -> None:
        self._table = table
        cells = [table.cells(column) for column in by]
        keys = [cell_keys(column) for column in cells]
        self.keys = combined(keys) if by else [()] * len(table.rows)
        self._parts: dict[str, dict[Hashable, list[Any]]] = {}
        self.first = _first(cells, keys, self.keys) if by else {(): ()}
        """For each group its key as the first of its rows has it."""

    def each(self, one: Aggregate, around: Surroundings) -> Mapping[Hashable, Any]:
        """The aggregate of each group."""
        if one.column is None:
            return {**dict.fromkeys(self.first, 0), **Counter(self.keys)}
        cells, types = checked(one, self._table, around)
        if one.do == "count" and NULL not in types:
            return {**dict.fromkeys(self.first, 0), **Counter(self.keys)}
        parts = self._split(one.column, cells)
        return {key: worked_out(one, parts.get(key, ()), types, around) for key in self.first}

    def _split(self, column: str, cells: list[Any]) -> dict[Hashable, list[Any]]:
        if column not in self._parts:
            parts: defaultdict[Hashable, list[Any]] = defaultdict(list)
            # Without a line of Python for each row: the look-up and the append both run in C.
            deque(map(list.append, map(parts.__getitem__, self.keys), cells), maxlen=0)
            self._parts[column] = parts
        return self._parts[column]
