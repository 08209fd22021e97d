"""`select`: some columns, in the order they are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
        return Table(_chosen(table.rows, self.columns), columns=self.columns)


def _chosen(rows: Sequence[Row], columns: tuple[str, ...]) -> list[Row]:
    try:
        # Written out for the usual numbers of columns: that takes half the time of the general way.
        match columns:
            case (a,):
                return [{a: row[a]} for row in rows]
            case (a, b):
                return [{a: row[a], b: row[b]} for row in rows]
            case (a, b, c):
                return [{a: row[a], b: row[b], c: row[c]} for row in rows]
            case (a, b, c, d):
                return [{a: row[a], b: row[b], c: row[c], d: row[d]} for row in rows]
        return [{column: row[column] for column in columns} for row in rows]
    except KeyError:
        return [{column: row.get(column) for column in columns} for row in rows]
