"""Figures of what was done: `average hours worked`, `highest bonus paid`, `how many goals were scored`."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import best
from laneway.lanes.pipeline.planner.parts.figures import extreme, refuse_other_deeds
from laneway.lanes.pipeline.planner.parts.pieces import Degree, Figure
from laneway.lanes.pipeline.planner.parts.suited import checked
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import participle, stem

RULES = Rules()


@RULES.rule("figure", "<figure_of> <deed>", cost=0.1)
def figure_done(chart: Chart, figure: Figure, verb: str) -> Figure:
    """`total minutes spent`, `average hours worked`."""
    assert figure.column is not None
    refuse_other_deeds(chart, verb, figure.column)
    return figure


@RULES.rule("figure", "<superlative> [number of|amount of] <ordered> <deed>", cost=0.2)
def extreme_done(chart: Chart, degree: Degree, column: Column, verb: str) -> Figure:
    """`highest bonus paid`, `longest distance driven`."""
    refuse_other_deeds(chart, verb, column)
    return extreme(chart, degree, column)


@RULES.rule("figure", "(how many|how much) <measure_done> [<_total>]", cost=-0.1)
def how_many_done(chart: Chart, column: Column) -> Figure:
    """`how many goals were scored`, of goals_scored."""
    return Figure("sum", checked("sum", column))


@RULES.rule("figure", "how many (people|persons) (are|were|have|have been|are being) <deed> [<_total>]")
def how_many_people(chart: Chart, verb: str) -> Figure:
    """`how many people are enrolled`, of a column that counts just that."""
    found = [column for column in chart.schema.columns if column.words == (verb,)]
    if len(found) != 1 or not found[0].measure:
        raise Unfit
    return Figure("sum", checked("sum", found[0]))


@RULES.finder("measure_done")
def measure_done(chart: Chart, at: int) -> Iterator[Edge]:
    """A noun and what was done, where one measure is called by both: `units were sold` of units_sold."""
    noun, verb = stem(chart.text(at)), chart.text(at + 2)
    if chart.text(at + 1) not in ("was", "were") or not participle(verb):
        return
    found = best((noun, verb), chart.schema, lambda column: column.measure)
    rows = any(edge.value.told for edge in chart.edges("rows", at))
    if len(found) == 1 and noun in found[0][1].words and not rows:
        # How many orders were shipped is no sum of their shipping.
        yield Edge(at + 3, found[0][1], found[0][0] * 0.5)
