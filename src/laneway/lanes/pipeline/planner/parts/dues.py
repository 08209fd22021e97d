"""What was due and what came of it: `delivered late`, `paid on time`, `late orders`."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.grammar import Chart, Rules
from laneway.lanes.pipeline.planner.parts.pieces import Test, compared
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column

RULES = Rules()
DUE = words("due deadline promised planned expected scheduled target estimated required promise committed")

DONE = words("paid returned return delivered completed closed actual finished arrived")


def named(chart: Chart, said: frozenset[str]) -> list[Column]:
    """The columns of dates that bear one of the words."""
    return [one for one in chart.schema.columns if one.kind == "date" and not said.isdisjoint(one.words)]


@RULES.rule("test", "<event> late ; <event> too late ; <event> after deadline")
def late(chart: Chart, column: Column) -> Test:
    """`delivered late`: after the one date that it was due or promised."""
    return _due(chart, column, ">")


@RULES.rule("test", "late ; <_be> late", cost=0.2)
def late_ones(chart: Chart) -> Test:
    """`late orders`: done after they were due, where there is one column of each."""
    done = named(chart, DONE)
    if len(done) != 1:
        raise Unfit
    return _due(chart, done[0], ">")


@RULES.rule("test", "<event> (on time|in time|punctually|by deadline)")
def on_time(chart: Chart, column: Column) -> Test:
    return _due(chart, column, "<=")


@RULES.rule("test", "<event> (early|ahead of time|ahead of schedule)")
def early(chart: Chart, column: Column) -> Test:
    return _due(chart, column, "<")


def _due(chart: Chart, column: Column, by: str) -> Test:
    dates = named(chart, DUE)
    if len(dates) != 1 or dates[0] is column or column.kind != "date":
        raise Unfit
    return Test(compared(column.name, by, {"column": dates[0].name}))
