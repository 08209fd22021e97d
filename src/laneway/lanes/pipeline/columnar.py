"""The columnar path for stored tables: polars reads the few columns a plan looks at, the reference does the rest.

Only reading differs, so an answer can differ only where a column would be read differently; `column_files.py` reads a
column in exactly the cells the reference would see, or says that it cannot, and then the reference reads the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from laneway.lanes.pipeline import where
from laneway.lanes.pipeline.column_files import ColumnFile, StepBack, opened
from laneway.lanes.pipeline.plan import Plan
from laneway.lanes.pipeline.primitives.distinct import Distinct
from laneway.lanes.pipeline.primitives.filter import Filter
from laneway.lanes.pipeline.primitives.group_by import GroupBy
from laneway.lanes.pipeline.primitives.limit import Limit
from laneway.lanes.pipeline.primitives.pivot import Pivot
from laneway.lanes.pipeline.primitives.sample import Sample
from laneway.lanes.pipeline.primitives.select import Select
from laneway.lanes.pipeline.primitives.sort import Sort
from laneway.lanes.pipeline.primitives.summarize import Summarize
from laneway.lanes.pipeline.primitives.top_k import TopK
from laneway.lanes.pipeline.reading import rows_of, side_by_side
from laneway.lanes.pipeline.step import Step, Surroundings, Table
from laneway.lanes.pipeline.tables import Count, Outcome, source_of
from laneway.lanes.pipeline.values import Row

_PLACE = "\0place"
"""The column in which a slim row remembers which row it stands for; no table of ours has such a name."""


def run(plan: Plan, files: Mapping[str, tuple[Path, str]], most_rows: int) -> Outcome | None:
    """What the reference would give, or None where it must be asked itself."""
    name = source_of(plan, files)
    slim, needed = _slim_steps(plan)
    if not needed:
        return None
    try:
        source = opened(*files[name], f"The table {name}")
        cells = source.cells(needed)
    except StepBack:
        return None
    others = {other: Table(_rows(other, *file)) for other, file in files.items() if other != name}
    around = Surroundings({name: Table(range(source.count), columns=()), **others}, most_rows)  # type: ignore[arg-type]
    for known in files:
        around.do = f"table {known}"
        around.room(len(around.tables[known].rows))
    return _Work(plan, source, around, name).outcome(slim, needed, cells)


def _rows(name: str, path: Path, format: str) -> list[Row]:
    return rows_of(path.read_bytes(), format, f"The table {name}")


class _Work:
    def __init__(self, plan: Plan, source: ColumnFile, around: Surroundings, name: str) -> None:
        self._plan, self._source, self._around = plan, source, around
        self._counts = [Count(name, source.count)]

    def outcome(self, slim: int, needed: Sequence[str], cells: Sequence[Sequence[Any]]) -> Outcome | None:
        names = (_PLACE, *needed)
        table = Table(side_by_side(names, [range(self._source.count), *cells]), columns=names)
        for number, step in enumerate(self._plan.steps, 1):
            if number == slim + 1 and not _changes(self._plan.steps[slim - 1]):
                table = self._whole(table)
            table = self._done(number, step, table)
        if slim == len(self._plan.steps) and not _changes(self._plan.steps[-1]):
            table = Table(self._source.last_rows(_places(table)))
        return Outcome(table.rows, tuple(self._counts), tuple(self._around.notes), "columnar")

    def _done(self, number: int, step: Step, table: Table) -> Table:
        self._around.number, self._around.do = number, step.DO
        table = step.run(table, self._around)
        self._around.room(len(table.rows))
        self._counts.append(Count(step.DO, len(table.rows)))
        return table

    def _whole(self, table: Table) -> Table:
        """The rows that the slim ones stand for."""
        whole = _Late(self._source.rows(_places(table)))
        whole.source = self._source
        return whole


def _places(table: Table) -> list[int]:
    return [row[_PLACE] for row in table.rows]


class _Late(Table):
    """Rows of a file; which columns the other rows of the file have is looked up when somebody asks."""

    source: ColumnFile

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Every column of the file."""
        return self.source.columns

    def knows(self, column: str) -> bool:
        """Whether a row of the file has a cell in it."""
        return bool(self.rows and column in self.rows[0]) or column in self.columns


def _changes(step: Step) -> bool:
    """Whether the rows after it are new ones, made of the columns it looked at."""
    return isinstance(step, GroupBy | Pivot | Summarize | Select)


def _slim_steps(plan: Plan) -> tuple[int, tuple[str, ...]]:
    """How many steps can be taken with the columns they look at alone, and which columns those are."""
    needed: dict[str, None] = {}
    for number, step in enumerate(plan.steps):
        looked_at = _looked_at(step)
        if looked_at is None:
            return number, tuple(needed)
        needed.update(dict.fromkeys(looked_at))
        if _changes(step):
            return number + 1, tuple(needed)
    return len(plan.steps), tuple(needed)


def _looked_at(step: Step) -> Sequence[str] | None:
    """The columns a step looks at; None if it may look at any."""
    match step:
        case Filter(condition):
            return sorted(where.columns(condition))
        case Sort(by):
            return [key.column for key in by]
        case TopK(_, by):
            return [] if by is None else [by]
        case Limit() | Sample():
            return []
        case Distinct(columns) | Summarize(columns):
            return columns or None
        case Select(columns):
            return columns
        case GroupBy():
            return step.needed
        case Pivot(index, column, values):
            return [*index, column, *([] if values.column is None else [values.column])]
    return None
