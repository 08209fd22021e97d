"""Remarks that change nothing where they are true: `in minutes`, `in the customers table`, `how does … look`."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.parts.pieces import Filler, Opener
from laneway.lanes.pipeline.planner.words.naming import UNITS

RULES = Rules()


@RULES.rule("part", "[,] in <unit_said> [,]", cost=-0.5)
def in_unit(chart: Chart, unit: str) -> Filler:
    """`…, in minutes`: what is asked for is counted in them anyway, which is looked at in the end."""
    return Filler(f"{IN_UNIT}{unit}")


IN_UNIT = "in unit "
"""What such a remark begins with."""


@RULES.finder("unit_said")
def unit_said(chart: Chart, at: int) -> Iterator[Edge]:
    """A unit of measure as a word."""
    unit = UNITS.get(chart.text(at), "")
    if unit and len(chart.text(at)) > 2 and not chart.edges("value", at):
        yield Edge(at + 1, unit)


@RULES.rule("part", "<_own_table>", cost=-0.6)
def in_own_table(chart: Chart) -> Filler:
    """`customers in the customers table`."""
    return Filler("closer")


@RULES.finder("own_table")
def own_table(chart: Chart, at: int) -> Iterator[Edge]:
    """`in` or `from` and the name of the table that the rows are of."""
    if chart.text(at) not in ("in", "from"):
        return
    end = at + 1 + (chart.text(at + 1) == "the")
    token = chart.token(end)
    if token is not None and token.text == chart.schema.name.lower() and token.text not in chart.schema.vocabulary:
        yield Edge(end + 1 + (chart.text(end + 1) in ("table", "list", "data", "sheet")), token.text)


@RULES.rule("part", "how (does|do|did)", cost=-0.4)
def how_it_looks(chart: Chart) -> Opener | None:
    """`how does the average score look for each class`."""
    return Opener("look") if "look" in chart.texts else None


RULES.says("part", "look [like]", Filler("look"), -0.6)
