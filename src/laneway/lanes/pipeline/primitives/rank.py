"""`rank`: which place each row has by a column, among all rows or within its group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline import values
from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.keys import keys_of
from laneway.lanes.pipeline.primitives.sort import ORDERS
from laneway.lanes.pipeline.step import Step, Surroundings, Table


@dataclass(frozen=True, slots=True)
class Rank(Step):
    """Keeps every row and puts its place by a column beside it: 1 for the highest, or with `asc` the lowest."""

    DO: ClassVar[str] = "rank"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "by": {"type": "string"},
        "order": {"enum": list(ORDERS), "description": "desc = 1 is the highest (the default), asc = the lowest"},
        "within": {"type": "array", "items": {"type": "string"}, "description": "Each group of these counts from 1"},
        "column": {"type": "string", "description": "What the new column is called (rank)"},
    }

    by: str
    order: str = "desc"
    within: tuple[str, ...] = ()
    column: str = "rank"

    @classmethod
    def read(cls, fields: Fields) -> Self:
        by, order = fields.text("by", '"by": "price"'), fields.choice("order", ORDERS, "desc")
        within = fields.names("within", '"within": ["city"]', least=0)
        column = fields.text("column", '"column": "place"') if fields.has("column") else "rank"
        return cls(by, order, within, column)

    def document(self) -> dict[str, Any]:
        return {"by": self.by, "order": self.order, "within": list(self.within), "column": self.column}

    def phrase(self) -> str:
        within = f" within each {' and '.join(self.within)}" if self.within else ""
        first = "highest" if self.order == "desc" else "lowest"
        return f"number the rows by {self.by}{within}, {first} first, as {self.column}"

    def run(self, table: Table, around: Surroundings) -> Table:
        around.need(table, [self.by, *self.within])
        if table.knows(self.column):
            raise around.wrong(f"there is a column {self.column} already.", "Give the new one another name.")
        cells = table.cells(self.by)
        places: defaultdict[Hashable, list[int]] = defaultdict(list)
        groups = keys_of(table, self.within) if self.within else [None] * len(cells)
        for place, (group, cell) in enumerate(zip(groups, cells, strict=True)):
            if cell is not None:
                places[group].append(place)
        types = set(map(type, cells)) - {values.NULL}
        if types != {str} and not types <= values.NUMBERS:
            cells = list(map(values.rank, cells))
        ranks: list[int | None] = [None] * len(cells)
        for members in places.values():
            members.sort(key=cells.__getitem__, reverse=self.order == "desc")
            for count, place in enumerate(members, 1):
                if count == 1 or cells[place] != cells[members[count - 2]]:
                    rank = count
                ranks[place] = rank
        rows = [{**row, self.column: one} for row, one in zip(table.rows, ranks, strict=True)]
        return table.of(rows, more=[self.column])
