"""Limits and plans: `over budget`, `below their minimum level`, `took longer than estimated`, `80 % of the budget`."""

from __future__ import annotations

from collections.abc import Iterator

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.parts.bounds import Bound
from laneway.lanes.pipeline.planner.parts.expressions import quoted
from laneway.lanes.pipeline.planner.parts.pieces import Step, Test, compared
from laneway.lanes.pipeline.planner.phrasing import meanings, words
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema

RULES = Rules()
_LIMITS = (
    (words("budget budgeted"), words("spent spend actual cost")),
    (words("minimum maximum reorder safety min max"), words("stock quantity inventory level available")),
    (
        words("capacity maximum max seats"),
        words("enrolled registered booked occupied attendance attendee passenger guest sold"),
    ),
    (
        words("target quota goal planned plan estimated estimate expected"),
        words("actual achieved sold logged spent result done real duration"),
    ),
)
"""What limits are set by, and what they are set for."""
RULES.words("passing", meanings(
    """
    >: over | above | beyond | exceeding | more than | past | exceeds | exceed | higher than | went over | gone over
    <=: within
    <: under | below | less than | short of | lower than | beneath | has fallen below | fell below
    >=: reached | at or above | meeting
    """
))  # fmt: skip
RULES.words("planned", words("estimated planned expected budgeted scheduled foreseen intended"))
RULES.words(
    "needed", ["took", "needed", "used", "cost", "lasted", "required", "takes", "needs", "has", "had", "ran", "with"]
)
RULES.words("used_up", ["used", "spent", "consumed", "reached", "filled"])


@RULES.rule("test", "<passing> [own|respective] <limit> [level|value]")
def passing(chart: Chart, by: str, limit: Column) -> Test:
    """`over budget`, `below their minimum level`: of the one column that such a limit is set for."""
    return Test(compared(_limited(chart.schema, limit).name, by, {"column": limit.name}))


@RULES.rule(
    "test",
    "[<_needed>] (longer|more|more time) [<_unit>] than <_planned> ; [<_needed>] more <_measure> than <_planned>",
)
def more_than_planned(chart: Chart) -> Test:
    """`took longer than estimated`, `needed more hours than planned`."""
    return _planned(chart.schema, ">")


@RULES.rule("test", "[<_needed>] (shorter|less|less time|fewer|quicker|faster) [<_unit>] than <_planned>")
def less_than_planned(chart: Chart) -> Test:
    return _planned(chart.schema, "<")


def _planned(schema: Schema, by: str) -> Test:
    plans = _LIMITS[-1][0] | _LIMITS[0][0]
    found = [column for column in schema.columns if column.measure and column.words[0] in plans]
    if len(found) != 1:
        raise Unfit
    return Test(compared(_limited(schema, found[0]).name, by, {"column": found[0].name}))


@RULES.rule("test", "[have|has] [already] <_used_up> <bound> of [own] <limit>")
def used_up(chart: Chart, bound: Bound, limit: Column) -> Test:
    """`used more than 80 % of their budget`."""
    if bound.last.unit != "%":
        raise Unfit
    spent = _limited(chart.schema, limit)
    name = f"{spent.name}_percent"
    expression = f"100 * {quoted(spent.name)} / {quoted(limit.name)}"
    step: Step = {"do": "compute", "column": name, "expression": expression}
    return Test(compared(name, bound.by, bound.value(None)), (step,))


@RULES.finder("limit")
def limit(chart: Chart, at: int) -> Iterator[Edge]:
    """A column that says how much something is to be."""
    for edge in chart.edges("measure", at):
        if isinstance(edge.value, Column) and _limits(edge.value):
            yield edge


def _limits(column: Column) -> bool:
    return any(column.words[0] in limits for limits, _ in _LIMITS)


def _limited(schema: Schema, limit: Column) -> Column:
    """What is to keep to the limit; Unfit if nothing or several may be meant."""
    own = {word for limits, limited in _LIMITS if limit.words[0] in limits for word in limited}
    measures = [one for one in schema.columns if one.measure and not _limits(one) and one.unit == limit.unit]
    found = [one for one in measures if not own.isdisjoint({*one.words, *(mark.word for mark in one.marks)})]
    if len(found) != 1:
        raise Unfit
    return found[0]
