"""`rename`: other names for columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.step import Step, Surroundings, Table


@dataclass(frozen=True, slots=True)
class Rename(Step):
    """Gives columns other names; all others stay."""

    DO: ClassVar[str] = "rename"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "columns": {"type": "object", "additionalProperties": {"type": "string"}, "description": "old name → new name"}
    }

    columns: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        given = fields.mapping("columns", '"columns": {"old": "new"}')
        pairs = tuple((fields.name("columns", old), fields.name("columns", new)) for old, new in given.items())
        if len({new for _, new in pairs}) < len(pairs):
            raise fields.wrong("two columns would get the same name.", "Give each its own.")
        return cls(pairs)

    def document(self) -> dict[str, Any]:
        return {"columns": dict(self.columns)}

    def phrase(self) -> str:
        return f"rename {', '.join(f'{old} to {new}' for old, new in self.columns)}"

    def run(self, table: Table, around: Surroundings) -> Table:
        names = dict(self.columns)
        around.need(table, names)
        taken = set(names.values()) & (set(table.columns) - set(names))
        if taken:
            raise around.wrong(f"there is a column {min(taken)} already.", "Rename that one too, or drop it first.")
        rows = [{names.get(column, column): cell for column, cell in row.items()} for row in table.rows]
        return Table(rows, columns=[names.get(column, column) for column in table.columns])
