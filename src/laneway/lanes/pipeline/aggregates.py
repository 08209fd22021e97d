"""Many cells made one: sum, mean, median and so on, each with its rule for nulls and types."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.step import Surroundings, Table
from laneway.lanes.pipeline.values import KINDS, NULL, NUMBERS, identity, kind, shown

NAMES: Final = ("sum", "mean", "min", "max", "count", "count_distinct", "median")
SPELLINGS: Final = {"avg": "mean", "average": "mean", "total": "sum", "n": "count", "distinct": "count_distinct"}
WORDS: Final = {"sum": "the sum of", "mean": "the average", "min": "the lowest", "max": "the highest",
                "count_distinct": "how many different", "median": "the median"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate over one column; `count` needs none and counts rows then."""

    do: str
    column: str | None = None

    def document(self) -> dict[str, str]:
        """As a plan has it."""
        return {"do": self.do} | ({"column": self.column} if self.column is not None else {})

    def phrase(self) -> str:
        """In plain words."""
        if self.do == "count":
            return "the number of rows" if self.column is None else f"how many {self.column}"
        return f"{WORDS[self.do]} {self.column}"


def read(fields: Fields, given: Any) -> Aggregate:
    """The aggregate as a plan has it."""
    example = '{"do": "mean", "column": "price"}'
    if not isinstance(given, Mapping) or set(given) - {"do", "column"}:
        raise fields.wrong("an aggregate must be an object of `do` and `column`.", f"Write, for example, {example}.")
    do = given.get("do")
    do = SPELLINGS.get(do, do) if isinstance(do, str) else do
    if do not in NAMES:
        raise fields.wrong(f"there is no aggregate {do!r:.60}.", f"Use one of: {', '.join(NAMES)}.")
    column = given.get("column")
    if column is None and do != "count":
        raise fields.wrong(f"`{do}` needs a column.", f"Write, for example, {example}.")
    return Aggregate(do, None if column is None else fields.name("column", column))


def checked(one: Aggregate, table: Table, around: Surroundings) -> tuple[list[Any], set[type]]:
    """The cells to work on, and the types among them, if this aggregate is defined for such cells."""
    cells = table.cells(one.column or "")
    every = set(map(type, cells))
    types = every - {NULL}
    if one.do in ("sum", "mean", "median") and not types <= NUMBERS:
        stranger = next(cell for cell in cells if cell is not None and type(cell) not in NUMBERS)
        raise around.wrong(
            f"{one.do} needs numbers, and {one.column} holds a {kind(stranger)} too, such as {shown(stranger)}.",
            f"Filter such rows out first, or compute number({one.column}).",
        )
    if one.do in ("min", "max") and (len({KINDS[of] for of in types}) > 1 or types & {list, dict}):
        kinds = " and ".join(sorted({KINDS[of] for of in types}))
        raise around.wrong(
            f"{one.do} is not defined for {one.column}, which holds {kinds}.", "Filter to one type first."
        )
    return cells, every


def worked_out(one: Aggregate, cells: Sequence[Any], types: set[type], around: Surroundings) -> Any:
    """The aggregate of these cells; nulls do not count, and of no cells at all it is null, or 0 for a count.

    `types` are those that may be among the cells: whoever knows a whole column need not look at each group again.
    """
    full = [cell for cell in cells if cell is not None] if NULL in types else cells
    try:
        return FUNCTIONS[one.do](full, types - {NULL})
    except OverflowError as error:
        raise around.wrong(f"{one.do} of {one.column} is too large a number.", "Filter or scale it first.") from error


def _sum(cells: Sequence[Any], types: set[type]) -> Any:
    if not cells:
        return None
    if len(types) > 1:
        types = set(map(type, cells))
    return math.fsum(cells) if float in types else sum(cells)


def _mean(cells: Sequence[Any], types: set[type]) -> float | None:
    return float(_sum(cells, types) / len(cells)) if cells else None


def _median(cells: Sequence[Any], types: set[type]) -> Any:
    if not cells:
        return None
    ordered, middle = sorted(cells), len(cells) // 2
    if len(cells) % 2:
        return ordered[middle]
    return _mean(ordered[middle - 1 : middle + 1], types)


def _count_distinct(cells: Sequence[Any], types: set[type]) -> int:
    return len(set(cells) if types <= NUMBERS or types <= {str} else {identity(cell) for cell in cells})


FUNCTIONS: Final[dict[str, Callable[[Sequence[Any], set[type]], Any]]] = {
    "sum": _sum,
    "mean": _mean,
    "median": _median,
    "min": lambda cells, _: min(cells, default=None),
    "max": lambda cells, _: max(cells, default=None),
    "count": lambda cells, _: len(cells),
    "count_distinct": _count_distinct,
}
