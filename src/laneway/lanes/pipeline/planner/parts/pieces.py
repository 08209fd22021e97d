"""What a request is made of: each part of it as it was read, before anybody knows what the whole comes to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from laneway.lanes.pipeline.planner.schema import Column

Where = dict[str, Any]
Step = dict[str, Any]

NAMES = {"mean": "average", "sum": "total", "count_distinct": "distinct"}


@dataclass(frozen=True)
class Filler:
    """Words that change nothing."""

    said: str


@dataclass(frozen=True)
class Tie:
    """What joins two parts: and, or, a comma, the end of a sentence, then."""

    word: str


@dataclass(frozen=True)
class Opener:
    """A verb that begins a clause and only says show, count or work out."""

    verb: str


@dataclass(frozen=True)
class Wanted:
    """How many rows; `head` is the word it was said with: top, first, bottom, limit, or none."""

    number: int
    head: str = ""


@dataclass(frozen=True)
class Place:
    """`second`, `third`: which one in an order."""

    number: int


@dataclass(frozen=True)
class Test:
    """A condition on rows; `first` are steps that work out what it compares with.

    `bare` if it names no column, `texts` if it compares values, `negated` if it says what rows are not.
    """

    where: Where
    first: tuple[Step, ...] = ()
    bare: bool = False
    texts: bool = False
    negated: bool = False
    excepts: bool = False
    deed: str = ""
    """What was done, where a verb was said with a place."""
    done: bool = False
    """A verb says that it happened at all."""
    present: bool = False
    """It only says that a column holds something."""
    whole: bool = True
    """What it compares with is worked out of rows that are named."""

    __test__ = False


@dataclass(frozen=True)
class Figure:
    """Something worked out of many rows, with or without groups.

    `expression` is worked out of each row first and stands in the column's place. A figure with `parts` is worked out
    of them by `formula`; `share` is its part of the whole.
    """

    do: str
    column: Column | None = None
    expression: str = ""
    parts: tuple[Figure, ...] = ()
    formula: str = ""
    share: bool = False
    only: Test | None = None
    name: str = ""
    said: str = ""

    def called(self) -> str:
        """The name of its column in the answer."""
        if self.name:
            return self.name
        if self.column is None and not self.expression:
            return "count" if self.do == "count" else self.do
        of = self.column.name if self.column is not None else "value"
        return f"{NAMES.get(self.do, self.do)}_{of}"

    def renamed(self, name: str) -> Figure:
        """The same under another name."""
        return replace(self, name=name)


@dataclass(frozen=True)
class Made:
    """A column worked out of others of the same row."""

    name: str
    expression: str
    added: bool = True
    """Beside the other columns, rather than named in a list of what is shown."""
    given: bool = True
    """The request gives it a name, and may speak of it by that."""
    hidden: bool = False
    """It only decides, and is not shown."""


@dataclass(frozen=True)
class That:
    """`that average`, `the count`, `it`: what was worked out before."""

    word: str = ""


@dataclass(frozen=True)
class Renamed:
    """A column under another name."""

    column: Column
    name: str


Item = Column | Figure | Made | That | Renamed


@dataclass(frozen=True)
class Listing:
    """What is to be shown, in order; `marked` if words like `only show` say so."""

    items: tuple[Item, ...]
    marked: bool = False
    plural: bool = False


@dataclass(frozen=True)
class Period:
    """The month, quarter or year of a date, to group by."""

    unit: str
    column: Column | None = None


@dataclass(frozen=True)
class Group:
    """What one row of the answer stands for; `loose` if only `by` says so."""

    keys: tuple[Column | Period, ...]
    loose: bool = False


@dataclass(frozen=True)
class Degree:
    """`cheapest`, `longest`, `best`: what is compared, and whether more (1) or less (-1) of it is more of the word."""

    said: str
    dimension: str
    sign: int


@dataclass(frozen=True)
class Best:
    """Which rows or groups come first: by a column, a figure, or an adjective; `linked` by with or has."""

    by: Column | Figure | Degree | That
    sign: int
    linked: bool = False
    said: str = ""
    plural: bool = False
    unnamed: bool = False
    """A degree and a column, and no rows: `highest price` alone is a figure."""


@dataclass(frozen=True)
class Key:
    """One key of an order: of a column, a figure, an adjective, or of whatever was worked out."""

    by: Column | Figure | Degree | That | Period
    order: str
    said: str = ""


@dataclass(frozen=True)
class Order:
    """In which order the rows come."""

    keys: tuple[Key, ...]


@dataclass(frozen=True)
class Having:
    """A condition on groups; where it is on what was worked out before, of which things and measure that was said."""

    figure: Figure | That
    by: str
    value: Any
    things: Column | None = None
    measure: Column | None = None


@dataclass(frozen=True)
class Dropped:
    """Columns to leave out."""

    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Renames:
    """Columns under other names, all others as they are."""

    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Distinct:
    """Different values of columns, or different rows; `whole` for the first row of each value."""

    columns: tuple[Column, ...] = ()
    whole: bool = False


@dataclass(frozen=True)
class Skip:
    """So many rows are left out at the beginning, and maybe so many taken then."""

    offset: int
    count: int | None = None


@dataclass(frozen=True)
class Sample:
    """Rows by chance."""


@dataclass(frozen=True)
class Summary:
    """What columns hold, one row each."""

    columns: tuple[Column, ...] = ()


@dataclass(frozen=True)
class Pivot:
    """A row for each of one column, a column for each of another, and a figure in the cells."""

    rows: Column
    columns: Column
    cell: Figure


@dataclass(frozen=True)
class Rounded:
    """To how many decimals figures are rounded."""

    places: int


def compared(column: str, by: str, value: Any = None, *, ignore_case: bool = False) -> Where:
    """One comparison as a plan writes it."""
    said: Where = {"column": column, "is": by}
    if by not in ("null", "not_null"):
        said["value"] = value
    return said | ({"ignore_case": True} if ignore_case else {})
