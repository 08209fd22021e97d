"""`union`: the rows of other tables put below ours."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline.fields import Fields, nearest
from laneway.lanes.pipeline.step import Step, Surroundings, Table


@dataclass(frozen=True, slots=True)
class Union(Step):
    """Puts the rows of other tables below ours, column by column of the same name; `distinct` takes out repetitions."""

    DO: ClassVar[str] = "union"
    SCHEMA: ClassVar[dict[str, Any]] = {"tables": {"type": "array", "items": {"type": "string"}}}

    tables: tuple[str, ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.names("tables", '"tables": ["flights_2025"]'))

    def document(self) -> dict[str, Any]:
        return {"tables": list(self.tables)}

    def phrase(self) -> str:
        return f"put the rows of {' and '.join(self.tables)} below"

    def run(self, table: Table, around: Surroundings) -> Table:
        for name in self.tables:
            if name not in around.tables:
                raise around.wrong(f"there is no table {name}.", nearest(name, around.tables))
        others = [around.tables[name] for name in self.tables]
        around.room(sum(len(one.rows) for one in (table, *others)))
        more = dict.fromkeys(column for one in others for column in one.columns if not table.knows(column))
        return table.of(list(chain(table.rows, *(one.rows for one in others))), more=more)
