"""Gaps between the highest and the lowest: `gap between best and worst score`, `price range`."""

from __future__ import annotations

from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Rules
from laneway.lanes.pipeline.planner.parts.degrees import directed
from laneway.lanes.pipeline.planner.parts.pieces import Degree, Figure
from laneway.lanes.pipeline.planner.parts.suited import sure
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column

RULES = Rules()


@RULES.rule(
    "figure",
    "(gap|difference|spread|range) between <extreme> [<_measure>] and <extreme> <measure> ;"
    " <measure> (gap|spread|range) ;"
    " (range|spread) of <measure> ; (max|maximum|highest) minus (min|minimum|lowest) <measure> ;"
    " (gap|difference|spread) between (max|maximum|most expensive) and (min|minimum|cheapest) <measure>",
)
def gap(chart: Chart, *said: Any) -> Figure:
    """`gap between best and worst score`."""
    column, ends = said[-1], [{"max": 1, "min": -1}.get(one, one) for one in said[:-1]]
    if len(ends) == 2 and len(set(ends)) == 1:
        raise Unfit
    parts = (Figure("max", sure(chart, "max", column)), Figure("min", sure(chart, "min", column)))
    return Figure("formula", parts=parts, formula="{0} - {1}", name=f"{column.name}_range")


@RULES.rule(
    "figure",
    "[<measure>] (gap|difference|spread) between (<extreme>|<degree>) and <degree> [<_rows>|one|<_things>] ;"
    " <measure> (gap|difference|spread) between <extreme> and <extreme> [<_rows>|one|<_things>]",
)
def gap_between(chart: Chart, *said: Any) -> Figure:
    """`salary gap between the best and worst paid person`: of the column that the adjective is about."""
    degree = next((one for one in said if isinstance(one, Degree)), None)
    named = next((one for one in said if isinstance(one, Column)), None)
    column = named if degree is None else directed(said[-1], chart.schema)[0]
    if column is None or (named is not None and named.name != column.name):
        raise Unfit
    return gap(
        chart, *(one.sign if isinstance(one, Degree) else one for one in said if not isinstance(one, Column)), column
    )


@RULES.rule(
    "figures",
    "<figure> <_and> <figure> <_and> (difference|gap|spread) [between] [the two|two|them|both|those two|these two]",
    cost=-0.2,
)
def with_gap(chart: Chart, one: Figure, other: Figure) -> tuple[Figure, ...]:
    """`the highest rate, the lowest rate and the difference between the two`."""
    if one.column is None or one.column is not other.column or {one.do, other.do} != {"max", "min"}:
        raise Unfit
    return one, other, gap(chart, one.column)
