"""`summarize`: what is in each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline.aggregates import Aggregate, worked_out
from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.step import Step, Surroundings, Table
from laneway.lanes.pipeline.values import KINDS, NULL, NUMBERS, Row

COLUMNS = ("column", "kind", "rows", "nulls", "distinct", "min", "max", "mean", "median")


@dataclass(frozen=True, slots=True)
class Summarize(Step):
    """Makes one row for each column: its kind, its rows, nulls and different values, lowest, highest, mean, median."""

    DO: ClassVar[str] = "summarize"
    SCHEMA: ClassVar[dict[str, Any]] = {"columns": {"type": "array", "items": {"type": "string"}}}

    columns: tuple[str, ...] = ()

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.names("columns", '"columns": ["price"]', least=0))

    def document(self) -> dict[str, Any]:
        return {"columns": list(self.columns)} if self.columns else {}

    def phrase(self) -> str:
        return f"summarize {', '.join(self.columns) or 'every column'}"

    def run(self, table: Table, around: Surroundings) -> Table:
        around.need(table, self.columns)
        return Table([_summary(table, column, around) for column in self.columns or table.columns], columns=COLUMNS)


def _summary(table: Table, column: str, around: Surroundings) -> Row:
    cells = [cell for cell in table.cells(column) if cell is not None]
    types = set(map(type, cells)) - {NULL}
    numbers, one_kind = bool(types) and types <= NUMBERS, types <= NUMBERS or types in ({str}, {bool})

    def of(do: str, defined: bool) -> Any:
        return worked_out(Aggregate(do, column), cells, types, around) if defined else None

    return {
        "column": column,
        "kind": " and ".join(sorted({KINDS[one] for one in types})) or "null",
        "rows": len(table.rows),
        "nulls": len(table.rows) - len(cells),
        "distinct": of("count_distinct", True),
        "min": of("min", one_kind),
        "max": of("max", one_kind),
        "mean": of("mean", numbers),
        "median": of("median", numbers),
    }
