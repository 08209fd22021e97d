"""Rows against the average: `cost more than the average fare`, `above-average rating`, `than their team's average`."""

from __future__ import annotations

from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Rules
from laneway.lanes.pipeline.planner.names.nouns import Rows
from laneway.lanes.pipeline.planner.parts.degrees import directed
from laneway.lanes.pipeline.planner.parts.pieces import Degree, Step, Test, compared
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema

RULES = Rules()
RULES.words("middle", {"average": "mean", "mean": "mean", "median": "median", "avg": "mean", "overall average": "mean",
                       "general average": "mean", "total average": "mean"})  # fmt: skip


@RULES.rule(
    "whole",
    "(of|for|over|across|among) [all] <_rows> ; (overall|of all|of them all|of everything|in total|of the whole table)",
)
def whole(chart: Chart) -> tuple[str, ...]:
    """Of all rows."""
    return ()


@RULES.rule(
    "whole",
    "(of|for|in|within) (their|its|his|her|the|that) [own|same|respective] <category> ; (of|for|in|within) (the same|"
    "each|every) <category>",
    cost=-0.1,
)
def own(chart: Chart, column: Column) -> tuple[str, ...]:
    """Of the rows that share something with it."""
    return (column.name,)


@RULES.rule(
    "norm",
    "<middle> [<measure>] [<whole>] ; <middle> <measure> [<whole>] ; <category> <middle> ; "
    "<category> 's <middle> [<measure>]",
)
def norm(chart: Chart, *said: Any) -> tuple[str, Column | None, tuple[str, ...] | None]:
    """What rows are compared with: how it is worked out, of which column, and of which rows, if that is said."""
    do = next(one for one in said if isinstance(one, str))
    by = next((one for one in said if isinstance(one, tuple)), None)
    columns = [one for one in said if isinstance(one, Column)]
    if isinstance(said[0], Column) and not said[0].measure:
        return do, next((one for one in columns[1:]), None), (said[0].name,)
    return do, columns[0] if columns else None, by


@RULES.rule("test", "<number> [<_copula>] <than> <norm> ; <number> [<_copula>] <than> that of <norm>")
def above(chart: Chart, column: Column, than: tuple[str, str], norm: Any) -> Test:
    """`fare above the average`."""
    return _against(chart.schema, column, than[0], norm)


@RULES.rule("test", "<meter> <than> <norm> ; <meter> <than> <norm> <_rows>")
def measured(chart: Chart, column: Column, than: tuple[str, str], norm: Any) -> Test:
    """`earns more than the average salary of their own department`."""
    return _against(chart.schema, column, than[0], norm)


@RULES.rule("test", "<comparative> than <norm> [<rows>]")
def compared_by(chart: Chart, degree: Degree, norm: Any, *_: Rows) -> Test:
    """`more expensive than average`."""
    column, sign = directed(degree, chart.schema)
    return _against(chart.schema, norm[1] or column, ">" if sign > 0 else "<", norm)


@RULES.rule("test", "(above|over|higher than|greater than|more than) <norm> <measure> ; above <norm> in <measure>")
def above_average(chart: Chart, norm: Any, column: Column) -> Test:
    """`with an above-average rating`."""
    return _against(chart.schema, column, ">", norm)


@RULES.rule("test", "(below|under|lower than|less than) <norm> <measure> ; below <norm> in <measure>")
def below_average(chart: Chart, norm: Any, column: Column) -> Test:
    return _against(chart.schema, column, "<", norm)


@RULES.rule("test", "<comparing> <measure> than <norm>")
def fewer_than_average(chart: Chart, by: str, column: Column, norm: Any) -> Test:
    """`fewer reviews than average`."""
    return _against(chart.schema, column, by, norm)


@RULES.rule("test", "<than> <norm>", cost=0.3)
def than_average(chart: Chart, than: tuple[str, str], norm: Any) -> Test:
    """`more than the average fee`: the column is named with the average."""
    if norm[1] is None:
        raise Unfit
    return _against(chart.schema, norm[1], than[0], norm)


def _against(schema: Schema, column: Column, by: str, norm: tuple[str, Column | None, tuple[str, ...] | None]) -> Test:
    do, named, groups = norm
    if not column.measure or by not in ("<", "<=", ">", ">=") or (named is not None and named.name != column.name):
        raise Unfit
    name = f"{'average' if do == 'mean' else do}_{column.name}"
    while schema.column(name) is not None:
        name = f"{name}_of_all"
    step: Step = {"do": "beside", "by": list(groups or ()), "values": {name: {"do": do, "column": column.name}}}
    return Test(compared(column.name, by, {"column": name}), (step,), whole=groups is not None)
