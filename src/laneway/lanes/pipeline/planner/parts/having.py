"""Conditions on groups: `with more than 3 orders`, `whose average score is under 60`, `over 500 pages in total`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Rules
from laneway.lanes.pipeline.planner.names.nouns import Things
from laneway.lanes.pipeline.planner.parts.bounds import Bound
from laneway.lanes.pipeline.planner.parts.comparing import usual
from laneway.lanes.pipeline.planner.parts.pieces import Figure, Having, That
from laneway.lanes.pipeline.planner.parts.suited import checked
from laneway.lanes.pipeline.planner.phrasing import phrases, words
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column

RULES = Rules()
_DID = phrases(
    "made | placed | wrote | handled | got | received | rented | booked | attended | taught | took | used | spent |"
    " scored |"
    " sold | ordered | bought | earned | worked | drove | gave"
)
RULES.words("owning", (*_DID, *(f"{who} {verb}" for verb in _DID for who in ("who", "that"))))
RULES.words(
    "owning",
    phrases(
        "where there are | holding | owning | in | written | teaching | that teach | running | flying | operating |"
        " take | takes"
    ),
)
RULES.words(
    "owning",
    phrases("booked into | booked in | been booked into | have been booked into | been in | been to | active in |"
            " present in |"
            " working in | spread over | across | holding land in | land in | seen at | seen in | found in |"
            " found at | observed at |"
            " recorded at | sold in | used in | available in | available at | present at | played for | worked for"),
    cost=0.1,
)  # fmt: skip


@RULES.rule("owner", "<_have> ; <_owning>")
def owner(chart: Chart) -> str:
    """`with`, `who made`: what follows is had by the things that are listed."""
    return "owner"


@RULES.rule("part", "[<_owner>] <than> <count> <counted> ; [<_owner>] <count> <suffix> <counted>", cost=0.2)
def so_many(chart: Chart, *said: Any) -> Having:
    """`with more than 3 orders`, `in at least two counties`, `10 or more orders`."""
    number = next(one for one in said if isinstance(one, int))
    by = next(one[0] if isinstance(one, tuple) else one for one in said if isinstance(one, tuple | str))
    return Having(said[-1], by, number)


@RULES.rule("part", "[<_owner>] (more than once|multiple times|several times|repeatedly|at least twice)")
def repeated(chart: Chart) -> Having:
    """`who rented more than once`."""
    return Having(Figure("count"), ">", 1)


@RULES.rule("part", "(only once|just once|exactly once)")
def once(chart: Chart) -> Having:
    return Having(Figure("count"), "==", 1)


@RULES.rule(
    "part",
    "[<_owner>|whose|where|of which] <figure> [<_copula>] <bound> ;"
    " [<_owner>|whose|where] <figure> [over|across|for|of|in] [all] <_rows> (is|are|was|were|of) <bound>",
)
def figure_bound(chart: Chart, figure: Figure, bound: Bound) -> Having:
    """`with an average salary over 50000`, `whose average score over all their exams is under 60`."""
    return _having(figure, bound)


@RULES.rule(
    "part",
    "[<_owner>] <bound> [of|in] <measure> <_total> ; [<_owner>] <bound> <_total> [of|in] <measure> ;"
    " [<_owner>] (a total of|in total|altogether) <bound> <measure>",
)
def sum_bound(chart: Chart, bound: Bound, column: Column) -> Having:
    """`with more than 500 pages in total`."""
    return _having(Figure("sum", checked("sum", column)), bound)


@RULES.rule(
    "part",
    "[whose|where|with|that] [<_rows>] (add up to|adding up to|sum up to|total|totalling|come to|amount to) <bound>"
    " [of|in] <measure> ;"
    " [whose|where|with] <measure> (adds up to|add up to|adding up to|sums up to|totals|totalling|amounts to|comes"
    " to) <bound>",
    cost=-0.1,
)
def adding_up(chart: Chart, *said: Any) -> Having:
    """`industries whose leads add up to more than 100,000 in value`."""
    column = next(one for one in said if isinstance(one, Column))
    return _having(Figure("sum", checked("sum", column)), next(one for one in said if isinstance(one, Bound)))


@RULES.rule("part", "[<_owner>] [<_rows>] <meter> <bound> <_total>", cost=-0.1)
def verb_bound(chart: Chart, column: Column, bound: Bound) -> Having:
    """`artists with works worth more than 50000 in total`."""
    return _having(Figure("sum", checked("sum", column)), bound)


@RULES.rule("part", "[<_owner>] <bound> <_total>", cost=0.2)
def unit_bound(chart: Chart, bound: Bound) -> Having:
    """`with more than 60 ha altogether`: the unit tells the column."""
    if not bound.last.unit:
        raise Unfit
    return _having(Figure("sum", checked("sum", usual(chart.schema, bound.last))), bound)


@RULES.rule(
    "part",
    "[<_who>] (average|averages|averaging|averaged) <bound> [<measure>] [a|per|each|for each] [<_rows>]",
    cost=0.1,
)
def averaging(chart: Chart, bound: Bound, *named: Column) -> Having:
    """`assignees who average more than 3 hours a ticket`."""
    column = named[0] if named else usual(chart.schema, bound.last)
    return _having(Figure("mean", checked("mean", column)), bound)


@RULES.rule("part", "<_keeping> (<things>|those|ones) (averaging|that average|who average) <bound>", cost=0.2)
def averaging_things(chart: Chart, *said: Any) -> Having:
    """`average humidity per site, only sites averaging above 40`: the average that was worked out."""
    return replace(those_bound(chart, *said), figure=That("average"))


@RULES.rule("part", "[over|with|across] (at least|minimum of|no fewer than) <count> <counted>", cost=0.1)
def at_least(chart: Chart, number: int, figure: Figure) -> Having:
    return Having(figure, ">=", number)


RULES.words(
    "keeping",
    phrases("only | just | keep | keep only | only keep | keep just | show only | only show | show just | leave only"),
)


@RULES.rule(
    "part",
    "(only|only those|just those|those|only ones|only show those|keep only those|show only those|ones|keep those)"
    " [that are|with|where it is|that have] <bound> ;"
    " <_keeping> <things> [that are|with|where it is|that have] <bound>",
    cost=0.3,
)
def those_bound(chart: Chart, *said: Any) -> Having:
    """`…, only those over 1000`, `…, keep sites above 14000 kWh`: of whatever was worked out for each group."""
    bound = said[-1]
    things = said[0].column if isinstance(said[0], Things) else None
    return Having(That("those"), bound.by, bound, things)


@RULES.rule(
    "part",
    "(only|keep|only keep|keep only) (those|ones) whose total is <bound> ; <_keeping> <things> whose total is <bound> ;"
    " whose total is <bound>",
    cost=0.3,
)
def total_bound(chart: Chart, *said: Any) -> Having:
    """`…, only those whose total is over 1000`."""
    return replace(those_bound(chart, *said), figure=That("total"))


@RULES.rule(
    "part",
    "[<_keeping>] <things> (with|having|that have|who have) <bound> [of|in] <measure> ;"
    " <_keeping> <things> <bound> [of|in] <measure>",
    cost=0.3,
)
def things_bound(chart: Chart, things: Things, bound: Bound, measure: Column) -> Having:
    """`total goals per team, keep teams with more than 50 goals`: the total that was worked out."""
    return Having(That("total"), bound.by, bound, things.column, measure)


@RULES.rule(
    "part",
    "(only|just|keep only|show only|only show|keeping only|with|where the|whose) [those with|ones with] [the|a]"
    " <worked> [<_copula>] <bound>",
    cost=0.2,
)
def worked_bound(chart: Chart, said: str, bound: Bound) -> Having:
    """`…, only totals above 3`: of the one figure of that kind."""
    return Having(That(said), bound.by, bound)


RULES.words("worked", words("total totals sum sums average averages mean count counts median medians"))


def _having(figure: Figure, bound: Bound) -> Having:
    plain = figure.share or figure.said == "rate"
    return Having(figure, bound.by, bound.value(None if plain else figure.column))
