"""`sample`: some rows by chance; the same seed gives the same rows."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.step import Step, Surroundings, Table, counted


@dataclass(frozen=True, slots=True)
class Sample(Step):
    """Keeps `count` rows by chance, in the order they stand; the same seed chooses the same."""

    DO: ClassVar[str] = "sample"
    SCHEMA: ClassVar[dict[str, Any]] = {"count": {"type": "integer", "minimum": 0}, "seed": {"type": "integer"}}

    count: int
    seed: int = 0

    @classmethod
    def read(cls, fields: Fields) -> Self:
        count = fields.number_of("count", '"count": 100', least=0)
        return cls(count, fields.number_of("seed", '"seed": 7', least=0, default=0))

    def document(self) -> dict[str, Any]:
        return {"count": self.count, "seed": self.seed}

    def phrase(self) -> str:
        return f"take {counted(self.count)} by chance (seed {self.seed})"

    def run(self, table: Table, around: Surroundings) -> Table:
        return table.of([table.rows[place] for place in places(self.count, self.seed, len(table.rows))])


def places(count: int, seed: int, rows: int) -> list[int]:
    """Which rows are chosen of so many."""
    chosen = random.Random(seed).sample(range(rows), min(count, rows))  # noqa: S311 - no secret depends on it
    return sorted(chosen)
