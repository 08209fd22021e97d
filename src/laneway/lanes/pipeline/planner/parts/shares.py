"""Shares and rates: `percentage of appointments that were no-shows`, `each vendor's share of the net amount`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.owners import row_nouns
from laneway.lanes.pipeline.planner.parts.expressions import as_expression
from laneway.lanes.pipeline.planner.parts.groups import Keys
from laneway.lanes.pipeline.planner.parts.pieces import Figure, Group, Listing, Made, Test
from laneway.lanes.pipeline.planner.parts.suited import checked
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import stem

RULES = Rules()
RULES.words("percents", ("percentage", "percent", "%"))
RULES.words("portion", ("share", "proportion", "fraction", "part"))
RULES.words("whole_of", ["overall", "total", "whole", "entire", "all"])
RULES.words("got", ["are", "is", "were", "was", "have", "has", "had", "got", "get", "gets", "been", "do", "did"])
RULES.words("got", ("ended up", "ended up being", "turned out", "turned out to be", "were all"))
_WORTH = words("value worth cost revenue turnover income spend total bill earning taking")
_OF_WORTH = words("the our of in goods stock sale order what is are")


@RULES.rule("percentage", "<_percents> ; <portion>")
def percentage(chart: Chart, *said: str) -> str:
    """`percentage`, or `share` where percent is said somewhere; Refused where a half may be 0.5 or 50."""
    if said and not {"percent", "percentage", "percentages", "%"} & set(chart.texts):
        raise Refused(f"A {said[0]} may be a part of 1 or of 100.", "Say it in percent.")
    return "percentage"


def rate_of(test: Test) -> Figure:
    """Which part of the rows meets the condition, in percent."""
    return Figure("mean", expression=f"100 if {as_expression(test.where)} else 0", name="percentage", said="rate")


@RULES.rule(
    "figure",
    "[what|which] <_percentage> of [all] <_rows> [<_who>] [<_got>] <test> ; <_percentage> <_who> [<_got>] <test> ;"
    " <test> (rate|percentage|share) ; <_percentage> of <test> <_rows>",
)
def rate(chart: Chart, test: Test) -> Figure:
    """`percentage of appointments that were no-shows`."""
    return rate_of(test)


@RULES.rule(
    "part",
    "(what|which) <_percentage> of <_each> <keys> ['s] [<_rows>] [<_who>] [<_got>] <test> ;"
    " <_percentage> of <test> [<_rows>] <_each> <keys> ;"
    " <_each> <keys> [,] <_percentage> of <_rows> [<_who>] [<_got>] <test> ;"
    " (what|which) <_percentage> of <_rows> [<_who>] [<_got>] <test> <_each> <keys>",
    cost=-0.3,
)
def rate_each(chart: Chart, *said: Any) -> Any:
    """`what percentage of each department works remotely`."""
    test = next(one for one in said if isinstance(one, Test))
    keys = next(one for one in said if isinstance(one, tuple))
    return Listing((rate_of(test),)), Group(keys)


@RULES.rule(
    "figure",
    "<_percentage> of [<_whole_of>] <measure> ; <measure> (share|percentage|as a percentage of total) ;"
    " <_percentage> of <figure_of>",
)
def share(chart: Chart, what: Figure | Column) -> Figure:
    """`each vendor's share of the overall net amount`."""
    column = what.column if isinstance(what, Figure) else what
    assert column is not None
    return Figure("sum", checked("sum", column), share=True, name=f"share_of_{column.name}")


@RULES.rule("figure", "<_percentage> of [<_whole_of>] [number of] <_rows>", cost=0.3)
def share_of_rows(chart: Chart) -> Figure:
    """`share of orders per channel`: how many of all rows each group has."""
    return Figure("count", share=True, name="share")


@RULES.rule(
    "part",
    "<_percentage> of <_each> <keys> (in|of|among|out of) [<_whole_of>] <figure> ;"
    " <_percentage> of <_each> <keys> (in|of|among|out of) [<_whole_of>] <measure> ;"
    " <_each> <keys> 's <_percentage> of [<_whole_of>] <_rows>",
    cost=-0.3,
)
def share_each(chart: Chart, keys: Keys, *what: Any) -> Any:
    """`share of each pay type in the number of sales`."""
    figure = what[0] if what else Figure("count")
    if isinstance(figure, Column):
        figure = Figure("sum", checked("sum", figure))
    return Listing((replace(figure, share=True, name="share"),)), Group(keys)


@RULES.rule(
    "part", "<_worth> <_each> <keys> (:|{|,|-) <sum> [}] ; <_worth> (,|{) <sum> (,|}) <_each> <keys>", cost=-0.5
)
def worth_each(chart: Chart, *said: Any) -> Any:
    """`value of the stock per region: price times cases`: words for a worth, and how it is worked out."""
    keys = next(one for one in said if not isinstance(one[0], str))
    made = next(one for one in said if isinstance(one[0], str))
    return Listing((Made("value", made[0], added=False),)), Group(keys)


@RULES.rule("part", "(total|overall|whole) <_worth> (:|{|,|-) <sum> [}]", cost=-0.3)
def worth_of_all(chart: Chart, made: Any) -> Listing:
    """`total value of the stock: on hand times unit cost`."""
    return Listing((Figure("sum", expression=made[0], name="value"),))


@RULES.finder("worth")
def worth(chart: Chart, at: int) -> Iterator[Edge]:
    """Words that only say that something is worth something: `our stock worth`, `goods value`."""
    end, told = at, False
    known = {mark.word for column in chart.schema.columns for mark in column.marks} | row_nouns(chart.schema)
    while end - at < 6 and (word := stem(chart.text(end))) and word in known | _WORTH | _OF_WORTH:
        told = told or word in _WORTH
        end += 1
    if told:
        yield Edge(end, "worth")
