"""`top_k`: the first k rows, or the k with the highest or lowest value."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.primitives.sort import ORDERS, parted
from laneway.lanes.pipeline.step import Step, Surroundings, Table
from laneway.lanes.pipeline.values import NUMBERS, Row, rank

TIES = ("first", "all")


@dataclass(frozen=True, slots=True)
class TopK(Step):
    """Keeps k rows: the first ones, or with `by` those with the highest (desc) or lowest (asc) value."""

    DO: ClassVar[str] = "top_k"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "k": {"type": "integer", "minimum": 1},
        "by": {"type": "string"},
        "order": {"enum": list(ORDERS), "description": "desc = the highest (the default), asc = the lowest"},
        "ties": {"enum": list(TIES), "description": "all = also every row as good as the last of them"},
    }

    k: int
    by: str | None = None
    order: str = "desc"
    ties: str = "first"

    @classmethod
    def read(cls, fields: Fields) -> Self:
        by = fields.text("by", '"by": "price"') if fields.has("by") else None
        order, ties = fields.choice("order", ORDERS, "desc"), fields.choice("ties", TIES, "first")
        if ties == "all" and by is None:
            raise fields.wrong("`ties` needs a column to compare by.", 'Add "by": "price", or leave it out.')
        return cls(fields.number_of("k", '"k": 10', least=1), by, order, ties)

    def document(self) -> dict[str, Any]:
        by = {"by": self.by, "order": self.order} if self.by is not None else {}
        return {"k": self.k} | by | ({"ties": self.ties} if self.ties != "first" else {})

    def phrase(self) -> str:
        if self.by is None:
            return "take the first row" if self.k == 1 else f"take the first {self.k} rows"
        which = "highest" if self.order == "desc" else "lowest"
        if self.ties == "all" and self.k == 1:
            return f"take all rows with the {which} {self.by}"
        more = ", and those as good as the last of them" if self.ties == "all" else ""
        return f"take the {'one' if self.k == 1 else self.k} with the {which} {self.by}{more}"

    def run(self, table: Table, around: Surroundings) -> Table:
        if self.by is None:
            return table.of(table.rows[: self.k])
        around.need(table, [self.by])
        if (types := table.types(self.by)) <= NUMBERS or types == {str}:
            return table.of(self._best(table.rows, itemgetter(self.by)))
        full, empty = parted(table.rows, self.by)
        best = self._best(full, lambda row: rank(row[self.by]))
        return table.of(best + empty[: self.k - len(best)])

    def _best(self, rows: Sequence[Row], key: Any) -> list[Row]:
        if self.ties == "all":
            ranked = sorted(rows, key=key, reverse=self.order == "desc")
            last = key(ranked[self.k - 1]) if len(ranked) > self.k else None
            return ranked[: self.k] + [row for row in ranked[self.k :] if key(row) == last]
        if self.k * 10 > len(rows):
            return sorted(rows, key=key, reverse=self.order == "desc")[: self.k]
        best = heapq.nlargest if self.order == "desc" else heapq.nsmallest
        return best(self.k, rows, key=key)
