"""Keys that rows are grouped, joined and told apart by: equal for equal cells only, and as cheap as the types allow."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from laneway.lanes.pipeline.step import Table
from laneway.lanes.pipeline.values import identity, mixes_truth


def keys_of(table: Table, columns: Sequence[str]) -> Sequence[Hashable]:
    """A key for each row: the cell itself for one column, else a tuple of them."""
    return combined([cell_keys(table.cells(column)) for column in columns])


def combined(columns: Sequence[Sequence[Hashable]]) -> Sequence[Hashable]:
    """The keys of several columns side by side."""
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def cell_keys(cells: Sequence[Any], more: Iterable[type] = ()) -> Sequence[Hashable]:
    """The cells, if Python tells them apart as we do; else what does. `more`: types they are looked up among."""
    types = {*map(type, cells), *more}
    if mixes_truth(types) or list in types or dict in types:
        return list(map(identity, cells))
    return cells
