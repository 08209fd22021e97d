"""`group_by`: one row for each group, with what its rows come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline import aggregates
from laneway.lanes.pipeline.aggregates import Aggregate
from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.grouping import Groups
from laneway.lanes.pipeline.step import Step, Surroundings, Table

EXAMPLE = '"values": {"average_price": {"do": "mean", "column": "price"}}'


@dataclass(frozen=True, slots=True)
class GroupBy(Step):
    """Makes one row for each group: the columns it is grouped `by`, and a column for each of `values`."""

    DO: ClassVar[str] = "group_by"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "by": {"type": "array", "items": {"type": "string"}, "description": "None = the whole table is one group"},
        "values": {
            "type": "object",
            "description": "name of the new column → what it holds",
            "additionalProperties": {
                "type": "object",
                "properties": {"do": {"enum": list(aggregates.NAMES)}, "column": {"type": "string"}},
                "required": ["do"],
            },
        },
    }

    by: tuple[str, ...]
    values: tuple[tuple[str, Aggregate], ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        by = fields.names("by", '"by": ["city"]', least=0)
        given = fields.mapping("values", EXAMPLE)
        values = tuple((fields.name("values", name), aggregates.read(fields, one)) for name, one in given.items())
        clash = {name for name, _ in values} & set(by)
        if clash:
            raise fields.wrong(f"`values` has a column {min(clash)}, which it groups by.", "Give it another name.")
        return cls(by, values)

    def document(self) -> dict[str, Any]:
        return {"by": list(self.by), "values": {name: one.document() for name, one in self.values}}

    def phrase(self) -> str:
        what = " and ".join(one.phrase() for _, one in self.values)
        return f"work out {what}" + (f" for each {' and '.join(self.by)}" if self.by else "")

    def run(self, table: Table, around: Surroundings) -> Table:
        needed = [*self.by, *(one.column for _, one in self.values if one.column is not None)]
        around.need(table, needed)
        groups = Groups(table, self.by)
        around.room(len(groups.first))
        columns = [groups.each(one, around) for _, one in self.values]
        names = [name for name, _ in self.values]
        rows = [
            {
                **dict(zip(self.by, first, strict=True)),
                **{name: of[key] for name, of in zip(names, columns, strict=True)},
            }
            for key, first in groups.first.items()
        ]
        return Table(rows, columns=[*self.by, *names])
