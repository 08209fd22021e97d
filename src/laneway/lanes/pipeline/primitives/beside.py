"""`beside`: each row keeps what it is and gets what its group comes to beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from laneway.lanes.pipeline.grouping import Figures, Groups
from laneway.lanes.pipeline.step import Surroundings, Table


@dataclass(frozen=True, slots=True)
class Beside(Figures):
    """Keeps every row and puts the figures of its group beside it, such as the average price of its city."""

    DO: ClassVar[str] = "beside"

    def phrase(self) -> str:
        what = " and ".join(one.phrase() for _, one in self.values)
        whose = f"its {' and '.join(self.by)}" if self.by else "all rows"
        return f"put {what} of {whose} beside each row"

    def run(self, table: Table, around: Surroundings) -> Table:
        around.need(table, self.needed)
        taken = next((name for name, _ in self.values if table.knows(name)), None)
        if taken is not None:
            raise around.wrong(f"there is a column {taken} already.", "Give the new one another name.")
        groups = Groups(table, self.by)
        columns = [(name, groups.each(one, around)) for name, one in self.values]
        rows = [
            {**row, **{name: of[key] for name, of in columns}} for row, key in zip(table.rows, groups.keys, strict=True)
        ]
        return table.of(rows, more=[name for name, _ in columns])
