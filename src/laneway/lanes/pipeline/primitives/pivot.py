"""`pivot`: a row for each index, a column for each value of another column."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline import aggregates
from laneway.lanes.pipeline.aggregates import Aggregate
from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.grouping import Groups
from laneway.lanes.pipeline.step import Step, Surroundings, Table
from laneway.lanes.pipeline.values import Row, identity, shown

MOST_COLUMNS = 1000


@dataclass(frozen=True, slots=True)
class Pivot(Step):
    """Makes one row for each `index`, with a column for each value of `columns` that holds the aggregate `values`."""

    DO: ClassVar[str] = "pivot"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "index": {"type": "array", "items": {"type": "string"}},
        "columns": {"type": "string"},
        "values": {
            "type": "object",
            "properties": {"do": {"enum": list(aggregates.NAMES)}, "column": {"type": "string"}},
            "required": ["do"],
        },
    }

    index: tuple[str, ...]
    columns: str
    values: Aggregate

    @classmethod
    def read(cls, fields: Fields) -> Self:
        index = fields.names("index", '"index": ["city"]')
        columns = fields.text("columns", '"columns": "month"')
        values = fields.need("values", '"values": {"do": "sum", "column": "sales"}')
        if isinstance(values, str):
            values = {"do": "sum", "column": values}
        if columns in index:
            raise fields.wrong(f"{columns} is in `index` and in `columns`.", "It can be one of them only.")
        return cls(index, columns, aggregates.read(fields, values))

    def document(self) -> dict[str, Any]:
        return {"index": list(self.index), "columns": self.columns, "values": self.values.document()}

    def phrase(self) -> str:
        rows, what = " and ".join(self.index), self.values.phrase()
        return f"show {what} in a row for each {rows} and a column for each {self.columns}"

    def run(self, table: Table, around: Surroundings) -> Table:
        values = [self.values.column] if self.values.column is not None else []
        around.need(table, [*self.index, self.columns, *values])
        groups = Groups(table, (*self.index, self.columns))
        names = self._names(groups, around)
        return Table(self._rows(groups, groups.each(self.values, around), names), [*self.index, *names.values()])

    def _names(self, groups: Groups, around: Surroundings) -> dict[Hashable, str]:
        """What the column for each value is called."""
        names: dict[Hashable, str] = {}
        for first in groups.first.values():
            names.setdefault(identity(first[-1]), first[-1] if isinstance(first[-1], str) else shown(first[-1], 200))
        if len(names) > MOST_COLUMNS:
            raise around.wrong(f"{self.columns} has {len(names):,} values.", f"At most {MOST_COLUMNS:,} make columns.")
        taken = [*self.index, *names.values()]
        for name in names.values():
            if taken.count(name) > 1:
                raise around.wrong(f"two columns would be called {name}.", f"Rename or compute {self.columns} first.")
        return names

    def _rows(self, groups: Groups, cells: Mapping[Hashable, Any], names: Mapping[Hashable, str]) -> list[Row]:
        blank = dict.fromkeys(names.values(), 0 if self.values.do in ("count", "count_distinct") else None)
        rows: dict[Hashable, Row] = {}
        for key, (*index, column) in groups.first.items():
            row = rows.get(place := tuple(map(identity, index)))
            if row is None:
                row = rows[place] = {**dict(zip(self.index, index, strict=True)), **blank}
            row[names[identity(column)]] = cells[key]
        return list(rows.values())
