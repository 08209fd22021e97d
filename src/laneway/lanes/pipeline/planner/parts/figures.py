"""Figures: `average price`, `lowest and highest fare`, `pages in total`, `gap between best and worst score`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Rules
from laneway.lanes.pipeline.planner.names.likeness import related
from laneway.lanes.pipeline.planner.names.nouns import Rows
from laneway.lanes.pipeline.planner.names.owners import row_nouns
from laneway.lanes.pipeline.planner.parts.degrees import agrees
from laneway.lanes.pipeline.planner.parts.expressions import Expression
from laneway.lanes.pipeline.planner.parts.pieces import NAMES, Degree, Figure
from laneway.lanes.pipeline.planner.parts.suited import FIGURES, checked, meant, sure
from laneway.lanes.pipeline.planner.phrasing import meanings, phrases, words
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import plural, root
from laneway.lanes.pipeline.planner.words.degrees import PLAIN, SUPERLATIVES
from laneway.lanes.pipeline.planner.words.naming import MEASURES, UNITS

RULES = Rules()
WORDS = meanings(
    """
    mean: average | mean | avg | averages | averaged | on average | on average ,
    sum: total | sum | combined | overall | summed | totals | sums | total sum | sum total | aggregate | total combined
    min: minimum | min
    max: maximum | max
    median: median
    """
)
RULES.words("do", WORDS)
RULES.words(
    "extreme",
    dict.fromkeys(
        ["highest", "largest", "greatest", "biggest", "best", "longest", "latest", "newest", "top", "peak"], "max"
    ),
)
RULES.words("extreme", dict.fromkeys(["lowest", "smallest", "worst", "shortest", "earliest", "oldest"], "min"))
RULES.words("and", dict.fromkeys((", and", "and", ",", "&", "+", "plus", "as well as"), "and"))
RULES.words("we", ["we", "they", "i", "you"])
RULES.words(
    "keep",
    phrases(
        """
        have | get | make | sell | own | hold | stock | carry | need | offer | collect | charge | pay |
        spend | receive | earn
        """
    ),
)
RULES.words("keep", ("take in", "bring in"))
_PLAINLY_DONE = words(
    "recorded logged registered counted reported needed used made spent worked taken driven travelled scored"
)
_TRADED = words("sold ordered bought purchased")
_TRADES = words("order sale purchase transaction")
"""What is ordered was sold and bought, too, where no column tells one from the other."""
_MONEY_DONE = words("billed charged invoiced paid spent earned")


@RULES.rule("figure", "<do> [number of|amount of] <measure>")
def worked(chart: Chart, do: str, column: Column) -> Figure:
    """`average price`, `average number of loans`."""
    return Figure(do, sure(chart, do, checked(do, column)))


@RULES.rule("figure", "<do> (of all|of|for|in) [number of|amount of] <measure>")
def worked_of(chart: Chart, do: str, column: Column) -> Figure:
    """`sum of amount`."""
    return Figure(do, meant(chart, do, checked(do, column)))


@RULES.rule("figure", "<do> [of|for] <_rows> <measure> ; <figure_behind>", cost=0.1)
def of_rows(chart: Chart, *said: Any) -> Figure:
    """`average order total`, `kWh total`."""
    return said[0] if isinstance(said[0], Figure) else Figure(said[0], checked(said[0], said[1]))


@RULES.rule("figure", "total <measure> (bill|costs|cost|expenses|spending)", cost=0.1)
def bill(chart: Chart, column: Column) -> Figure:
    """`total salary bill`."""
    if not column.money and "salary" not in column.words:
        raise Unfit
    return Figure("sum", checked("sum", column))


@RULES.rule("figure_behind", "<measure> <do>")
def behind(chart: Chart, column: Column, do: str) -> Figure:
    return Figure(do, meant(chart, do, checked(do, column)))


@RULES.rule("figure", "total", cost=0.1)
def own_total(chart: Chart) -> Figure:
    """`the total per country`: of a column that is called so."""
    column = chart.schema.column("total")
    if column is None or not column.measure:
        raise Unfit
    return Figure("sum", column, said="own total")


@RULES.rule("figure", "<do> of <rows>", cost=0.2)
def of_money(chart: Chart, do: str, noun: Rows) -> Figure:
    """`sum of donations`: rows that are amounts of money, by their one amount."""
    sums = [one for one in chart.schema.columns if one.measure and {"amount", "value", "total"} & set(one.words)]
    if noun.word not in MEASURES or len(sums) != 1:
        raise Unfit
    return Figure(do, checked(do, sums[0]))


@RULES.rule(
    "figure",
    "(how long|how much|how far|how many days|how many hours) (do|does|did|is|are|was)"
    " [<_rows>|<_things>|it|they|people|we]"
    " <meter> on average ;"
    " on average [,] (how long|how much|how far) <_does> [<_rows>|<_things>|it|they|people|we] <meter>",
    cost=-0.2,
)
def how_long(chart: Chart, column: Column) -> Figure:
    """`how long do patients wait on average`."""
    return Figure("mean", checked("mean", column))


@RULES.rule(
    "figure",
    "how (long|short) [,] on average [,] (is|are|was|were) [a|an] <measure> ;"
    " how (long|short) (is|are|was|were) [a|an] <measure> on average",
    cost=-0.2,
)
def how_long_is(chart: Chart, column: Column) -> Figure:
    """`how long, on average, is a set`."""
    if not agrees(Degree("longest", "length", 1), column, chart.schema):
        raise Unfit
    return Figure("mean", checked("mean", column))


@RULES.rule(
    "figure",
    "<measure> <_total> ; <measure> (added up|summed up|added together|totalled) ; <do> <measure> <_total> ;"
    " how much <measure> [<_total>] ;"
    " how much <measure> [<_does>] <_we> [<_keep>] [<_total>] ;"
    " how much <measure> (was|were|is|are|has been|have been) <deed> [<_total>]",
)
def in_total(chart: Chart, *said: Any) -> Figure:
    """`pages in total`, `how much revenue`."""
    column = next(one for one in said if isinstance(one, Column))
    if said[0] in WORDS.values() and said[0] != "sum":
        raise Unfit
    if said[-1] is not column:
        refuse_other_deeds(chart, said[-1], column)
    return Figure("sum", checked("sum", column))


@RULES.rule(
    "figure",
    "how many <measure> [<_total>] ; how many <measure> [<_does>] <_we> [<_keep>] [<_total>] ;"
    " how many <measure> (was|were|is|are|has been|have been) <deed> [<_total>]",
)
def how_many(chart: Chart, column: Column, *verb: str) -> Figure:
    """`how many goals`: the sum, of what is counted one by one."""
    for said in verb:
        refuse_other_deeds(chart, said, column)
    counted = any(map(plural, column.parts[:2])) or column.unit or column.parts[0] in UNITS
    if column.money or not counted:
        raise Unfit
    return Figure("sum", checked("sum", column))


def refuse_other_deeds(chart: Chart, verb: str, column: Column) -> None:
    """Returns only if the verb says nothing but what the column or the rows are anyway.

    The amount paid is that of what was paid, where another column tells what was.
    """
    if any(
        other is not column and other.kind in ("bool", "date") and related(verb, other)
        for other in chart.schema.columns
    ):
        raise Unfit
    if any(root(noun) == root(verb) for noun in row_nouns(chart.schema)):
        return
    if (
        verb in _TRADED
        and _TRADES & row_nouns(chart.schema)
        and not any(related(verb, c) for c in chart.schema.columns)
    ):
        return
    spent = verb in _MONEY_DONE and (column.money or {"amount", "cost"} & set(column.words))
    if not spent and verb not in _PLAINLY_DONE and not related(verb, column):
        raise Unfit


@RULES.rule(
    "figure",
    "how much (do|did|are|were|have|will) <_we> [be|been] (spend|spent|pay|paid|paying|spending) (on|in|for) <measure>"
    " [<_total>]",
    cost=-0.2,
)
def spent_on(chart: Chart, column: Column) -> Figure:
    """`how much do we spend on fees`: all of what that costs."""
    if not column.money and MEASURES.isdisjoint(column.words):
        raise Unfit
    return Figure("sum", checked("sum", column))


@RULES.rule("figure", "<figure_of> <_we> <_keep>", cost=0.1)
def we_make(chart: Chart, figure: Figure) -> Figure:
    """`total rent we take in`."""
    return figure


_PLAIN = ("largest", "biggest", "greatest", "smallest", "latest", "earliest", "most recent")
"""Behind these a column says which value is meant; the cheapest price may be a row as well."""


@RULES.rule("figure", "<superlative> [number of|amount of] <ordered>", cost=0.1)
def extreme(chart: Chart, degree: Degree, column: Column) -> Figure:
    """`highest price`, `latest departure`."""
    sign = agrees(degree, column, chart.schema)
    if not sign:
        raise Unfit
    do = "max" if sign > 0 else "min"
    return Figure(do, sure(chart, do, checked(do, column)), said="extreme" if of_values(degree.said) else "degree")


@RULES.rule(
    "figure",
    "<superlative> <ordered> (<_we> <_keep> [on record|on file|on our books]|on record|anyone pays|anybody pays)",
    cost=0.1,
)
def extreme_we_have(chart: Chart, degree: Degree, column: Column) -> Figure:
    """`the heaviest weight we have on record`: a value, whatever the adjective is said of."""
    return replace(extreme(chart, degree, column), said="extreme")


@RULES.rule("figure", "<superlative> <ordered> (value|figure)", cost=0.1)
def extreme_value(chart: Chart, degree: Degree, column: Column) -> Figure:
    """`highest max temperature value`; the stock value is no stock."""
    if FIGURES.isdisjoint(column.words) and (column.money or not column.unit):
        raise Unfit
    return replace(extreme(chart, degree, column), said="extreme")


def of_values(said: str) -> bool:
    """Whether the adjective is said of values: the highest delay is one, the longest delay may be a row."""
    dimension = (SUPERLATIVES | PLAIN).get(said, ("", 0))[0]
    return dimension == "sheer" or said in _PLAIN


@RULES.rule("figure", "<do> <sum> ; <do> of <sum> ; <do> { <sum> } ; <do> <ratio>", cost=0.1)
def of_expression(chart: Chart, do: str, made: Expression) -> Figure:
    """`total of price times quantity`, `average days between opened and closed`."""
    if do == "mean" and made[2] == "/":
        raise Refused(
            "An average ratio may be that of the rows or that of the sums.", "Say: total … divided by total …"
        )
    return Figure(do, None, made[0], name=f"{NAMES.get(do, do)}_{made[1]}")


@RULES.rule("figure", "<figure_of> <sign> <figure_of>")
def combined(chart: Chart, one: Figure, said: tuple[str, str], other: Figure) -> Figure:
    """`total yield divided by total area`."""
    name = f"{one.called()}_{ {'/': 'per', '-': 'minus', '+': 'plus', '*': 'times'}[said[0]] }_{other.called()}"
    return Figure("formula", parts=(one, other), formula=f"{{0}} {said[0]} {{1}}", name=name)


@RULES.rule("figure_of", "<do> [of] <measure>")
def part(chart: Chart, do: str, column: Column) -> Figure:
    return Figure(do, sure(chart, do, checked(do, column)))


@RULES.rule("figures", "<edge> <_and> <edge> <dated>")
def first_and_last(chart: Chart, one: str, other: str, column: Column) -> tuple[Figure, ...]:
    """`first and latest publication date`."""
    if one == other:
        raise Unfit
    return Figure(one, checked(one, column)), Figure(other, checked(other, column))


RULES.words(
    "edge", dict.fromkeys(["first", "earliest", "oldest"], "min") | dict.fromkeys(["last", "latest", "newest"], "max")
)
RULES.words("edge", {"most recent": "max"})


@RULES.rule("figures", "<dos> [of all|of|for] <measure>")
def several(chart: Chart, dos: tuple[str, ...], column: Column) -> tuple[Figure, ...]:
    """`sum and average of hours`, `lowest and highest fare`."""
    return tuple(Figure(do, sure(chart, do, checked(do, column))) for do in dos)


@RULES.rule(
    "dos", "<doing> <_and> <doing> ; <doing> , <doing> <_and> <doing> ; <doing> , <doing> , <doing> <_and> <doing>"
)
def dos(chart: Chart, *said: str) -> tuple[str, ...]:
    return said


@RULES.rule("doing", "<do> ; <extreme>")
def doing(chart: Chart, do: str) -> str:
    return do


@RULES.rule("figures", "<do> [of] <measures>", cost=0.05)
def each(chart: Chart, do: str, columns: tuple[Column, ...]) -> tuple[Figure, ...]:
    """`average price and rating`: the same of both."""
    return tuple(Figure(do, meant(chart, do, checked(do, column))) for column in columns)


@RULES.rule(
    "measures",
    "<measure> <_and> <measure> ; <measure> , <measure> <_and> <measure> ;"
    " <measure> , <measure> , <measure> and <measure>",
)
def measures(chart: Chart, *columns: Column) -> tuple[Column, ...]:
    if len({column.name for column in columns}) < len(columns):
        raise Unfit
    return columns


@RULES.rule(
    "figures",
    "(add up|sum up|total up|add together|sum|tally up|total|tot up) <measures> ;"
    " (add up|sum up|total up|add together|tally up|tot up) [all] <measure>",
)
def add_up(chart: Chart, what: Any) -> tuple[Figure, ...]:
    """`add up the fees`, `sum up goals and assists`."""
    columns = what if isinstance(what, tuple) else (what,)
    return tuple(Figure("sum", checked("sum", column)) for column in columns)


@RULES.rule("item", "<figure> ; <figure> [{|,|-] <_naming> <name> [}]")
def item(chart: Chart, figure: Figure, *name: str) -> Figure:
    """`average price as mean_price`."""
    return figure.renamed(name[0]) if name else figure
