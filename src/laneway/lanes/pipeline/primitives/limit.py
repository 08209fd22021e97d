"""`limit`: so many rows from the start or the end, after leaving out so many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.step import Step, Surroundings, Table, counted

SIDES = ("start", "end")


@dataclass(frozen=True, slots=True)
class Limit(Step):
    """Keeps the first `count` rows after leaving out `offset`; with `from: end` the last ones, in their order."""

    DO: ClassVar[str] = "limit"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "count": {"type": "integer", "minimum": 0},
        "offset": {"type": "integer", "minimum": 0},
        "from": {"enum": list(SIDES)},
    }

    count: int
    offset: int = 0
    side: str = "start"

    @classmethod
    def read(cls, fields: Fields) -> Self:
        count = fields.number_of("count", '"count": 20', least=0)
        offset = fields.number_of("offset", '"offset": 20', least=0, default=0)
        return cls(count, offset, fields.choice("from", SIDES, "start"))

    def document(self) -> dict[str, Any]:
        return {"count": self.count, "offset": self.offset} | ({"from": "end"} if self.side == "end" else {})

    def phrase(self) -> str:
        what = f"the last {counted(self.count)}" if self.side == "end" else counted(self.count)
        return f"take {what}" + (f" after leaving out {self.offset}" if self.offset else "")

    def run(self, table: Table, around: Surroundings) -> Table:
        if self.side == "start":
            return table.of(table.rows[self.offset : self.offset + self.count])
        end = max(0, len(table.rows) - self.offset)
        return table.of(table.rows[max(0, end - self.count) : end])
