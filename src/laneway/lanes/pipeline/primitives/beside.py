"""`beside`: each row keeps what it is and gets what its group comes to beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline import aggregates
from laneway.lanes.pipeline.aggregates import Aggregate
from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.grouping import Groups
from laneway.lanes.pipeline.primitives.group_by import GroupBy
from laneway.lanes.pipeline.step import Step, Surroundings, Table

EXAMPLE = '"values": {"average_price": {"do": "mean", "column": "price"}}'


@dataclass(frozen=True, slots=True)
class Beside(Step):
    """Keeps every row and puts the figures of its group beside it, such as the average price of its city."""

    DO: ClassVar[str] = "beside"
    SCHEMA: ClassVar[dict[str, Any]] = GroupBy.SCHEMA

    by: tuple[str, ...]
    values: tuple[tuple[str, Aggregate], ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        by = fields.names("by", '"by": ["city"]', least=0)
        given = fields.mapping("values", EXAMPLE)
        return cls(
            by, tuple((fields.name("values", name), aggregates.read(fields, one)) for name, one in given.items())
        )

    def document(self) -> dict[str, Any]:
        return {"by": list(self.by), "values": {name: one.document() for name, one in self.values}}

    def phrase(self) -> str:
        what = " and ".join(one.phrase() for _, one in self.values)
        whose = f"its {' and '.join(self.by)}" if self.by else "all rows"
        return f"put {what} of {whose} beside each row"

    def run(self, table: Table, around: Surroundings) -> Table:
        needed = [*self.by, *(one.column for _, one in self.values if one.column is not None)]
        around.need(table, needed)
        taken = next((name for name, _ in self.values if table.knows(name)), None)
        if taken is not None:
            raise around.wrong(f"there is a column {taken} already.", "Give the new one another name.")
        groups = Groups(table, self.by)
        columns = [groups.each(one, around) for _, one in self.values]
        names = [name for name, _ in self.values]
        rows = [
            {**row, **{name: of[key] for name, of in zip(names, columns, strict=True)}}
            for row, key in zip(table.rows, groups.keys, strict=True)
        ]
        return table.of(rows, more=names)
