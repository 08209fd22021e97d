"""`distinct`: of rows that are the same, the first."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.keys import keys_of
from laneway.lanes.pipeline.step import Step, Surroundings, Table
from laneway.lanes.pipeline.values import Row


@dataclass(frozen=True, slots=True)
class Distinct(Step):
    """Keeps the first of rows that are the same in the named columns, or in all of them."""

    DO: ClassVar[str] = "distinct"
    SCHEMA: ClassVar[dict[str, Any]] = {"columns": {"type": "array", "items": {"type": "string"}}}

    columns: tuple[str, ...] = ()

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.names("columns", '"columns": ["city"]', least=0))

    def document(self) -> dict[str, Any]:
        return {"columns": list(self.columns)} if self.columns else {}

    def phrase(self) -> str:
        return f"keep one row for each {' and '.join(self.columns) or 'different row'}"

    def run(self, table: Table, around: Surroundings) -> Table:
        around.need(table, self.columns)
        columns = self.columns or table.columns
        if not columns:
            return table.of(table.rows[:1])
        first: dict[Hashable, Row] = {}
        deque(map(first.setdefault, keys_of(table, columns), table.rows), maxlen=0)
        return table.of(list(first.values()))
