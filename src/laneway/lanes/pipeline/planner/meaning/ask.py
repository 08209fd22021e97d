"""One clause of a request, gathered from its parts."""

from __future__ import annotations

from dataclasses import dataclass, field

from laneway.lanes.pipeline.planner.names.nouns import Rows
from laneway.lanes.pipeline.planner.parts.pieces import (
    Best,
    Distinct,
    Figure,
    Having,
    Key,
    Made,
    Period,
    Pivot,
    Step,
    Summary,
    Test,
)
from laneway.lanes.pipeline.planner.schema import Column


@dataclass
class Ask:
    """Rows, figures or a listing; of which rows, in which groups and order, and how many."""

    joins: list[Step] = field(default_factory=list)
    rows: Rows | None = None
    things: Column | None = None
    called: bool = False
    """The noun says that names or titles are wanted."""
    plural: bool = True
    several: bool = False
    """A value in the plural stands for rows: `cheapest apartments`."""
    who: bool = False
    """The request begins with who."""
    asked: bool = False
    """Something was asked for: a verb or a noun said so."""
    before: list[Test] = field(default_factory=list)
    """Conditions that stand before the noun: they hold whatever `or` comes later."""
    tests: list[tuple[str, Test]] = field(default_factory=list)
    """Conditions and how each is tied to the one before: and, or, or by nothing."""
    figures: list[Figure] = field(default_factory=list)
    group: list[Column | Period] = field(default_factory=list)
    loose: list[Column | Period] = field(default_factory=list)
    """What stands behind a mere `by`."""
    having: list[Having] = field(default_factory=list)
    unshown: list[Figure] = field(default_factory=list)
    """Figures that only choose the groups, where others were asked for."""
    best: Best | None = None
    wanted: int | None = None
    head: str = ""
    implied: bool = False
    """One row is wanted though no number was said: then no second may be as good."""
    ties: bool = False
    percent: bool = False
    """`in percent` was said."""
    unit: str = ""
    """What the figures are to be counted in."""
    each: bool = False
    """`for each row` was said."""
    total: bool = False
    """`in total` was said."""
    once: bool = False
    """What the noun names must stand in one row each, among the rows that are left."""
    place: int | None = None
    valued: bool = False
    """The place is that of a value, and no row is asked for: `the second highest price`."""
    offset: int = 0
    keys: list[Key] = field(default_factory=list)
    columns: list[tuple[Column, str]] = field(default_factory=list)
    """What is shown, each with the name it gets."""
    shown: list[str] = field(default_factory=list)
    """The names of all that is shown, in the order in which it was said."""
    marked: bool = False
    by_name: bool = False
    """The name of what the groups are of is to be shown."""
    made: list[Made] = field(default_factory=list)
    dropped: list[Column] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    distinct: Distinct | None = None
    sample: bool = False
    places: int | None = None
    """To how many decimals figures are rounded."""
    summary: Summary | None = None
    pivot: Pivot | None = None
    excepted: bool = False
    """The last condition took rows away, and what follows may belong to it."""

    @property
    def grouped(self) -> bool:
        """Whether something is worked out of many rows."""
        return bool(self.figures)

    @property
    def limited(self) -> bool:
        """Whether rows are counted off."""
        return self.wanted is not None or bool(self.offset) or self.sample

    @property
    def empty(self) -> bool:
        """Whether nothing was said in this clause yet."""
        return self == Ask(asked=self.asked, joins=self.joins, who=self.who)
