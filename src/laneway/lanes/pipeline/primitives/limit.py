"""`limit`: so many rows, after leaving out so many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.step import Step, Surroundings, Table, counted


@dataclass(frozen=True, slots=True)
class Limit(Step):
    """Keeps `count` rows, after leaving out the first `offset`."""

    DO: ClassVar[str] = "limit"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "count": {"type": "integer", "minimum": 0},
        "offset": {"type": "integer", "minimum": 0},
    }

    count: int
    offset: int = 0

    @classmethod
    def read(cls, fields: Fields) -> Self:
        count = fields.number_of("count", '"count": 20', least=0)
        return cls(count, fields.number_of("offset", '"offset": 20', least=0, default=0))

    def document(self) -> dict[str, Any]:
        return {"count": self.count, "offset": self.offset}

    def phrase(self) -> str:
        return f"take {counted(self.count)}" + (f" after leaving out {self.offset}" if self.offset else "")

    def run(self, table: Table, around: Surroundings) -> Table:
        return table.of(table.rows[self.offset : self.offset + self.count])
