"""`filter`: the rows that meet a condition."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline import where
from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.masks import mask
from laneway.lanes.pipeline.step import Step, Surroundings, Table


@dataclass(frozen=True, slots=True)
class Filter(Step):
    """Keeps the rows that meet a condition."""

    DO: ClassVar[str] = "filter"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "where": {
            "type": "object",
            "description": 'Either {"and": […]}, {"or": […]}, {"not": {…}}, or one comparison '
            '{"column", "is", "value", "ignore_case"?}. A date is compared as {"value": {"date": "2026-01-31"}}, '
            'another column of the row as {"value": {"column": "cost"}}.',
            "properties": {
                "column": {"type": "string"},
                "is": {"enum": list(where.WORDS)},
                "value": {},
                "ignore_case": {"type": "boolean"},
                "and": {"type": "array"},
                "or": {"type": "array"},
                "not": {"type": "object"},
            },
        }
    }

    where: where.Condition

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(where.read(fields, fields.need("where", f'"where": {where.EXAMPLE}')))

    def document(self) -> dict[str, Any]:
        return {"where": where.document(self.where)}

    def phrase(self) -> str:
        return f"keep the rows where {where.phrase(self.where)}"

    def run(self, table: Table, around: Surroundings) -> Table:
        around.need(table, sorted(where.columns(self.where)))
        if not table.rows:
            return table
        return table.of(list(compress(table.rows, mask(self.where, table, around))))
