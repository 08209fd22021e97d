"""Days between two dates: `days from start to end`, `closed within 2 days of opening`, `took 5 days to close`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.likeness import related
from laneway.lanes.pipeline.planner.parts.amounts import Amount
from laneway.lanes.pipeline.planner.parts.bounds import Bound
from laneway.lanes.pipeline.planner.parts.dues import DONE, DUE, named
from laneway.lanes.pipeline.planner.parts.expressions import Expression, quoted
from laneway.lanes.pipeline.planner.parts.pieces import Figure, Made, Step, Test, compared
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema

RULES = Rules()
_ENDS = words(
    "closed close resolved completed finished ended end fixed returned delivered arrival delivery discharge paid"
    " shipped"
)
RULES.words("after", ("after", "later than", "past", "from"))
RULES.words("before", ("before", "earlier than", "ahead of", "prior to"))
RULES.words("took", ["took", "take", "takes", "taking", "needed", "needs", "lasted", "waited"])
RULES.words("they", ("they", "it", "they were", "it was", "being"))
RULES.words("passed", ("passed", "it took", "elapsed", "went by", "in"))


@RULES.rule("moment", "<dated> ; <event>")
def moment(chart: Chart, column: Column) -> Column:
    """A column of days."""
    if column.kind != "date":
        raise Unfit
    return column


@RULES.rule(
    "sum", "[how many|number of|count of] days [that] [<_passed>] [between|from] <moment> (and|to|until|till) <moment>"
)
def days(chart: Chart, first: Column, second: Column) -> Expression:
    """`days between opened and closed`."""
    if first.name == second.name:
        raise Unfit
    return days_between(first, second)


@RULES.rule("sum", "(difference|gap|time) [in days] between <moment> and <moment> [in days]")
def days_apart(chart: Chart, first: Column, second: Column) -> Expression:
    return days(chart, first, second)


@RULES.rule("sum", "<moment> minus <moment> in days")
def days_less(chart: Chart, second: Column, first: Column) -> Expression:
    return days(chart, first, second)


def days_between(first: Column, second: Column, name: str = "days") -> Expression:
    """How many days lie between two columns of dates."""
    return f"days_between({quoted(first.name)}, {quoted(second.name)})", name, "d"


@RULES.rule("sum", "[how many|number of] days (late|overdue)")
def lateness(chart: Chart) -> Expression:
    """`how many days late`: from what was due to when it was done, where there is one column of each."""
    due, done = named(chart, DUE), named(chart, DONE)
    if len(due) != 1 or len(done) != 1:
        raise Unfit
    return days_between(due[0], done[0], "days_late")


@RULES.rule("sum", "[number of] days [it took] to [be] <end> ; (time|how long) [it took] to [be] <end> [in days]")
def days_to(chart: Chart, end: Column) -> Expression:
    """`average days to fix`: from the one other date."""
    return days_between(_other(chart.schema, end), end)


@RULES.rule(
    "part",
    "how (long|many days) <_does> [each|every] [<test>] <_rows> take [in days] [to be <_deed>|to get <_deed>] ;"
    " how (long|many days) <_does> it take [in days] to <_deed> [each|every] [<test>] <_rows> [in days]",
    cost=-0.3,
)
def taken(chart: Chart, *test: Test) -> Any:
    """`how long did each case take`: the days from its first to its last date, where there are just two."""
    ends = named(chart, _ENDS)
    if len(ends) != 1 or any("duration" in column.words for column in chart.schema.columns):
        raise Unfit
    return Made("days", days_between(_other(chart.schema, ends[0]), ends[0])[0]), *test


@RULES.rule(
    "figure",
    "(how long|how many days) <_does> it take on average to [be|get] <end> [<_rows>] ;"
    " (how long|how many days) <_does> it take to [be|get] <end> [<_rows>] on average ;"
    " (how long|how many days) <_does> it take on average until <_rows> <_be> <end>",
    cost=-0.3,
)
def taken_on_average(chart: Chart, end: Column) -> Figure:
    """`how long does it take on average to close a ticket`."""
    return Figure("mean", expression=days_between(_other(chart.schema, end), end)[0], name="average_days")


@RULES.finder("end")
def end(chart: Chart, at: int) -> Iterator[Edge]:
    """A verb that one date is called after: `close`, `be delivered`."""
    verb = chart.text(at)
    found = [
        column for column in chart.schema.columns if column.kind == "date" and len(verb) > 2 and related(verb, column)
    ]
    if len(found) == 1:
        yield Edge(at + 1, found[0])


def _other(schema: Schema, end: Column) -> Column:
    """The other of two dates; Unfit if there are more."""
    others = [column for column in schema.columns if column.kind == "date" and column is not end]
    if len(others) != 1:
        raise Unfit
    return others[0]


@RULES.rule("test", "<moment> <bound> <_after> [<_they>] <moment>")
def so_long_after(chart: Chart, later: Column, bound: Bound, first: Column) -> Test:
    """`reported more than 7 days after the incident`."""
    return _apart(chart.schema, first, later, bound)


@RULES.rule("test", "<moment> <bound> <_before> [<_they>] <moment>")
def so_long_before(chart: Chart, first: Column, bound: Bound, later: Column) -> Test:
    return _apart(chart.schema, first, later, bound)


@RULES.rule("test", "[<_took>] <bound> (between|from) <moment> (and|to|until) <moment>")
def so_long_between(chart: Chart, bound: Bound, first: Column, later: Column) -> Test:
    return _apart(chart.schema, first, later, bound)


@RULES.rule("test", "<moment> within <amount> (of|after) [<_they>] <moment>")
def soon_after(chart: Chart, later: Column, given: Amount, first: Column) -> Test:
    """`closed within 2 days of opening`."""
    return _apart(chart.schema, first, later, Bound("<=", given))


@RULES.rule("test", "<_took> <bound> to [be|get] <end>")
def took_so_long(chart: Chart, bound: Bound, end: Column) -> Test:
    """`took longer than 5 days to be delivered`: from the one other date."""
    return _apart(chart.schema, _other(chart.schema, end), end, bound)


def _apart(schema: Schema, first: Column, second: Column, bound: Bound) -> Test:
    if first.name == second.name or bound.high is not None or bound.low.unit not in ("day", "week"):
        raise Unfit
    name = "days_between"
    while schema.column(name) is not None:
        name = f"{name}_them"
    step: Step = {"do": "compute", "column": name, "expression": days_between(first, second)[0]}
    return Test(compared(name, bound.by, bound.low.value * (7 if bound.low.unit == "week" else 1)), (step,))
