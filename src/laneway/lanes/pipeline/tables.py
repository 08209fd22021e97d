"""The reference engine: rows in, rows out, in this process. docs/pipelines.md says what each case means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laneway.errors import BadInput
from laneway.lanes.pipeline.fields import nearest
from laneway.lanes.pipeline.plan import Plan
from laneway.lanes.pipeline.step import Surroundings, Table
from laneway.lanes.pipeline.values import Row

MOST_ROWS = 2_000_000


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows there were after a step."""

    step: str
    rows: int

    def document(self) -> dict[str, Any]:
        """As an answer carries it."""
        return {"step": self.step, "rows": self.rows}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The rows, how many there were on the way, and what the reader should know of them."""

    rows: Sequence[Row]
    counts: tuple[Count, ...]
    """First the source by its name, unless a step fetches it; then each step by its primitive."""
    notes: tuple[str, ...] = ()
    how: str = "here"
    """Who did it: here, worker (another process, row by row) or columnar (another process, column by column)."""


def run(
    plan: Plan, tables: Mapping[str, Sequence[Row]], most_rows: int = MOST_ROWS, most_here: int | None = None
) -> Outcome:
    """The plan is carried out; the tables that were given stay as they are."""
    name = source_of(plan, tables)
    around = Surroundings({known: Table(rows) for known, rows in tables.items()}, most_rows, most_here)
    table = around.tables[name]
    for known, one in around.tables.items():
        around.do = f"table {known}"
        around.room(len(one.rows))
    counts, fetched = [] if name in plan.fetches else [Count(name, len(table.rows))], iter(plan.fetches)
    for number, step in enumerate(plan.steps, 1):
        around.number, around.do = number, step.DO
        table = step.run(table, around)
        around.room(len(table.rows))
        brought = around.tables.get(next(fetched, ""), table)
        counts.append(Count(step.DO, len(brought.rows)))
    return Outcome(table.rows, tuple(counts), tuple(around.notes))


def source_of(plan: Plan, tables: Mapping[str, Any]) -> str:
    """The name of the table the plan starts from."""
    if plan.source is not None:
        if plan.source not in tables:
            raise BadInput(f"There is no table {plan.source}.", hint=nearest(plan.source, tables))
        return plan.source
    if (fetched := next(iter(plan.fetches), "")) in tables:
        return fetched
    if len(tables) == 1:
        return next(iter(tables))
    if not tables:
        raise BadInput("There is no table to work on.", hint="Give rows, an artifact, or start with http_request.")
    raise BadInput("The plan does not say which table it starts from.", hint=f"Set `from`: {', '.join(tables)}.")
