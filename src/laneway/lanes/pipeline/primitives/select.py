"""`select`: some columns, in the order they are named."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.step import Step, Surroundings, Table
from laneway.lanes.pipeline.values import Row


@dataclass(frozen=True, slots=True)
class Select(Step):
    """Keeps the named columns only, in that order; a cell that is missing becomes null."""

    DO: ClassVar[str] = "select"
    SCHEMA: ClassVar[dict[str, Any]] = {"columns": {"type": "array", "items": {"type": "string"}}}

    columns: tuple[str, ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.names("columns", '"columns": ["name", "price"]'))

    def document(self) -> dict[str, Any]:
        return {"columns": list(self.columns)}

    def phrase(self) -> str:
        return f"show {', '.join(self.columns)}"

    def run(self, table: Table, around: Surroundings) -> Table:
        around.need(table, self.columns)
        return Table(_chosen(table, self.columns), columns=self.columns)


def _chosen(table: Table, columns: tuple[str, ...]) -> list[Row]:
    try:
        if len(columns) == 1:
            [only] = columns
            return [{only: row[only]} for row in table.rows]
        take = itemgetter(*columns)
        return [dict(zip(columns, take(row), strict=True)) for row in table.rows]
    except KeyError:
        return [{column: row.get(column) for column in columns} for row in table.rows]
