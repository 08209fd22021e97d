"""`group_by`: one row for each group, with what its rows come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from laneway.lanes.pipeline.grouping import Figures, Groups
from laneway.lanes.pipeline.step import Surroundings, Table


@dataclass(frozen=True, slots=True)
class GroupBy(Figures):
    """Makes one row for each group: the columns it is grouped `by`, and a column for each of `values`."""

    DO: ClassVar[str] = "group_by"

    def phrase(self) -> str:
        what = " and ".join(one.phrase() for _, one in self.values)
        return f"work out {what}" + (f" for each {' and '.join(self.by)}" if self.by else "")

    def run(self, table: Table, around: Surroundings) -> Table:
        around.need(table, self.needed)
        groups = Groups(table, self.by)
        around.room(len(groups.first))
        columns = [(name, groups.each(one, around)) for name, one in self.values]
        rows = [
            {**dict(zip(self.by, first, strict=True)), **{name: of[key] for name, of in columns}}
            for key, first in groups.first.items()
        ]
        return Table(rows, columns=[*self.by, *(name for name, _ in columns)])
