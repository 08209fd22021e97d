"""Rows put together by equal keys, in the order in which the keys first appear."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from laneway.lanes.pipeline.aggregates import Aggregate, checked, worked_out
from laneway.lanes.pipeline.keys import cell_keys, combined
from laneway.lanes.pipeline.step import Surroundings, Table
from laneway.lanes.pipeline.values import NULL


class Groups:
    """The groups of a table by some columns; by none, the whole table is the one group."""

    def __init__(self, table: Table, by: Sequence[str]) -> None:
        self._table = table
        cells = [table.cells(column) for column in by]
        self.keys = combined([cell_keys(column) for column in cells]) if by else [()] * len(table.rows)
        self._parts: dict[str, dict[Hashable, list[Any]]] = {}
        first: dict[Hashable, tuple[Any, ...]] = {} if by else {(): ()}
        if by:
            deque(map(first.setdefault, self.keys, zip(*cells, strict=True)), maxlen=0)
        self.first = first
        """For each group its key as the first of its rows has it."""

    def each(self, one: Aggregate, around: Surroundings) -> Mapping[Hashable, Any]:
        """The aggregate of each group."""
        if one.column is None:
            return {**dict.fromkeys(self.first, 0), **Counter(self.keys)}
        cells = checked(one, self._table, around)
        if one.do == "count" and NULL not in set(map(type, cells)):
            return {**dict.fromkeys(self.first, 0), **Counter(self.keys)}
        parts = self._split(one.column, cells)
        return {key: worked_out(one, parts.get(key, ()), around) for key in self.first}

    def _split(self, column: str, cells: list[Any]) -> dict[Hashable, list[Any]]:
        if column not in self._parts:
            parts: defaultdict[Hashable, list[Any]] = defaultdict(list)
            # Without a line of Python for each row: the look-up and the append both run in C.
            deque(map(list.append, map(parts.__getitem__, self.keys), cells), maxlen=0)
            self._parts[column] = parts
        return self._parts[column]
