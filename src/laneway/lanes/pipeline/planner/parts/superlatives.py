"""Which rows or groups come first: `cheapest`, `with the most goals`, `has the highest average price`, `by rating`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import named
from laneway.lanes.pipeline.planner.names.nouns import Rows, Things
from laneway.lanes.pipeline.planner.parts.dates import moments_of
from laneway.lanes.pipeline.planner.parts.degrees import agrees, directed
from laneway.lanes.pipeline.planner.parts.expressions import Expression
from laneway.lanes.pipeline.planner.parts.pieces import Best, Degree, Figure, Made, That
from laneway.lanes.pipeline.planner.phrasing import phrases, words
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import stem

RULES = Rules()
_DOERS = {
    "earner": "salary",
    "scorer": "goal score point",
    "seller": "sold sale revenue",
    "spender": "spend amount total",
}
"""Who is known by how much of something."""
RULES.words("earners", {f"{who}{end}": (words, bool(end)) for who, words in _DOERS.items() for end in ("", "s")})
RULES.words(
    "manyest",
    {"most": 1, "fewest": -1, "least": -1}
    | {f"{word} number of": 1 for word in ("highest", "largest", "greatest", "biggest")}
    | {f"{word} number of": -1 for word in ("lowest", "smallest")},
)


@RULES.rule("part", "<degree>")
def adjective(chart: Chart, degree: Degree) -> Best:
    """`cheapest`, `most recent`."""
    return Best(degree, degree.sign, said=degree.said)


@RULES.rule("part", "<_be> <degree>")
def is_best(chart: Chart, degree: Degree) -> Best:
    return Best(degree, degree.sign, said=degree.said, linked=True)


@RULES.rule("part", "(what|which) (are|were) <degree> <rows>", cost=-0.3)
def what_are_best(chart: Chart, degree: Degree, noun: Rows) -> Any:
    """`what are the most expensive items`: the noun follows, so that all of them are meant, in order."""
    return Best(degree, degree.sign, said=degree.said), noun


@RULES.rule("part", "<_have> <superlative> [number of|amount of|in] <ordered> ; of <superlative> <ordered>")
def with_best(chart: Chart, degree: Degree, column: Column) -> Best:
    """`with the highest rating`, `who has the most goals`, `with the longest wait`."""
    return Best(_fitting(chart, degree, column), _sign(chart, degree, column), linked=True, said=degree.said)


@RULES.rule("part", "<superlative> [number of|amount of|in] <ordered>", cost=0.05)
def most(chart: Chart, degree: Degree, column: Column) -> Best:
    """`most goals`, `longest wait`: rows, where rows are counted or named."""
    return Best(_fitting(chart, degree, column), _sign(chart, degree, column), said=degree.said, unnamed=True)


def _sign(chart: Chart, degree: Degree, column: Column) -> int:
    sign = agrees(degree, column, chart.schema)
    if not sign:
        raise Unfit
    return sign


def _fitting(chart: Chart, degree: Degree, column: Column) -> Column:
    """The column; Refused if a low number in it is a high place."""
    if not {"rank", "ranking", "place"}.isdisjoint(column.words):
        raise Refused(f"{column.name} says nothing about which is on top.", "Name a column of numbers or dates.")
    return column


@RULES.rule("part", "[<_have>] <superlative> <figure> ; [<_have>] <superlative> <measure> <_total>")
def best_figure(chart: Chart, degree: Degree, what: Figure | Column) -> Best:
    """`with the highest average price`, `with the most pages in total`."""
    figure = what if isinstance(what, Figure) else Figure("sum", what)
    if degree.dimension == "rating" and figure.column is not None and figure.column.money:
        raise Unfit
    if degree.dimension not in ("size", "rating", "sheer", "length", "shortness", "time"):
        raise Unfit
    return Best(figure, degree.sign, linked=True)


RULES.words("does_most", words(
    """
    wrote made placed handled handle handles received took flew played rented booked sold holds hold owns own shows
    employs
    offers sells stocks gets won wins runs teaches treats treated serves served gave drove drives scored hosts hosted
    directed published supplies supplied delivers delivered bought brought generated attracted produced
    """
))  # fmt: skip


@RULES.rule(
    "part",
    "[<_have>|<_does_most>] <manyest> <counted>",
)
def most_rows(chart: Chart, sign: int, figure: Figure) -> Best:
    """`with the most flights`, `has the most closed tickets`."""
    return Best(figure, sign, linked=True)


@RULES.rule("part", "[<_be>] <degree> on average ; on average [is|are] <degree>", cost=-0.3)
def best_on_average(chart: Chart, degree: Degree) -> Best:
    """`which airline is cheapest on average`."""
    column, sign = directed(degree, chart.schema)
    if not column.measure:
        raise Unfit
    return Best(Figure("mean", column), sign, linked=True)


RULES.words("serving", phrases(
    """
    been here | been with us | worked here | been at company | been in company | been employed | served |
    been on board |
    been a member | been around | been on team | been in service | been in job | been with company | been serving
    """
))  # fmt: skip


@RULES.rule("part", "[has|have|is|did] <_serving> <superlative> ; longest <_served>", cost=-0.3)
def longest_here(chart: Chart, *degree: Degree) -> Best:
    """`who has been here the longest`: since the earliest day."""
    found = [
        column for verb in ("hired", "joined", "started", "registered") for column in moments_of(verb, chart.schema)
    ]
    names = {column.name for column in found}
    if len(names) != 1 or any(one.dimension not in ("length", "shortness") for one in degree):
        raise Unfit
    return Best(found[0], -degree[0].sign if degree else -1, linked=bool(degree), said="longest here")


RULES.words("served", ("serving", "standing", "tenured"))


@RULES.rule("part", "(most common|most frequent|commonest|most often used|most frequently used)", cost=0.1)
def commonest(chart: Chart) -> Best:
    """`the three most common destinations`."""
    return Best(Figure("count"), 1, linked=True)


@RULES.rule("part", "(least common|least frequent|rarest)", cost=0.1)
def rarest(chart: Chart) -> Best:
    return Best(Figure("count"), -1, linked=True)


@RULES.rule("part", "first <rows> ; earliest <rows>", cost=-0.1)
def first_of(chart: Chart, noun: Rows) -> Any:
    """`the first order of each customer`."""
    return _of_each(chart, noun, -1)


@RULES.rule("part", "(last|latest) <rows>", cost=-0.1)
def last_of(chart: Chart, noun: Rows) -> Any:
    return _of_each(chart, noun, 1)


def _of_each(chart: Chart, noun: Rows, sign: int) -> Any:
    if noun.plural or not {"each", "every", "per"} & set(chart.texts):
        raise Unfit
    degree = Degree("latest" if sign > 0 else "earliest", "time", sign)
    return Best(degree, sign, said=degree.said), noun


@RULES.rule(
    "part",
    "<superlative> [<rows>|one|ones] (by|in|in terms of|measured by|according to|based on|judged by) <ordered>",
    cost=-0.2,
)
def best_by(chart: Chart, degree: Degree, *said: Any) -> Any:
    """`smallest ship by tonnage`: the column stands behind `by`, and must go with the adjective."""
    column, noun = said[-1], next((one for one in said if isinstance(one, Rows)), None)
    sign = agrees(degree, column, chart.schema)
    if not sign:
        raise Refused(f"{column.name} does not say which is `{degree.said}`.", "Leave one of them out.")
    return Best(column, sign, said="by", plural=noun.plural if noun else False), noun


@RULES.rule(
    "part",
    "(where|for which|in which|with|on which) (it|that|figure|value|that figure|this figure|ratio|rate|result) is"
    " <superlative> ; with <superlative> (figure|value|ratio|rate|result)",
)
def where_highest(chart: Chart, degree: Degree) -> Best:
    """`the 5 where it is highest`."""
    return Best(That("it"), degree.sign, linked=True, said="it")


@RULES.rule("part", "with <superlative> <worked_noun>")
def with_highest(chart: Chart, degree: Degree, what: That) -> Best:
    """`…, only the floor with the largest total`: of the one figure, which must be such."""
    return Best(what, degree.sign, linked=True, said="it")


RULES.words("worked_noun", {word: That(word) for word in ("total", "average", "sum", "count")})


@RULES.rule("part", "by <_whatever>", cost=0.2)
def by_that(chart: Chart) -> Best:
    """`…, top 3 by that figure`: by what was worked out."""
    return Best(That("it"), 1, linked=True, said="by")


@RULES.rule("part", "by <figure>", cost=-0.1)
def by_figure(chart: Chart, figure: Figure) -> Best:
    """`top 3 customers by total amount`."""
    return Best(figure, 1, linked=True, said="by")


@RULES.rule("part", "by <sum> ; by <ratio>", cost=-0.2)
def by_sum(chart: Chart, made: Expression) -> Any:
    """`top 3 by price times stock`: what decides is worked out of each row."""
    return Made(made[1], made[0], given=False, hidden=True), Best(That("it"), 1, said="by")


@RULES.rule("part", "(best selling|top selling|most sold|bestselling|most bought|most ordered) <things>", cost=-0.2)
def best_selling(chart: Chart, noun: Things) -> Any:
    """`best selling drink`: the one of which most pieces were sold altogether."""
    found = [one for word in ("sold", "quantity") for one in named(word, chart.schema) if one.measure]
    if not found or len({one.name for one in found}) > 1 or noun.column.unique:
        raise Unfit
    return Best(Figure("sum", found[0]), 1, linked=True), noun


@RULES.rule("part", "who <_has> <degree> <rows> ; who <_has> <superlative> <ordered>", cost=-0.2)
def who_has(chart: Chart, degree: Degree, what: Rows | Column) -> Any:
    """`who rents the biggest flat`, `who owns the most expensive car`."""
    if isinstance(what, Column):
        return Best(what, _sign(chart, degree, what), linked=True, said=degree.said)
    return Best(degree, degree.sign, said=degree.said), what


RULES.words(
    "has",
    phrases(
        """
        has | had | owns | owned | rents | rented | drives | drove | runs | ran | holds | held | leads | led |
        bought | made | wrote | got | keeps | sold
        """
    ),
)


@RULES.rule("part", "<superlative> <rows> to <verb>", cost=-0.1)
def quickest_to(chart: Chart, degree: Degree, noun: Rows, column: Column) -> Any:
    """`quickest dish to cook`: by the time of that verb."""
    return Best(column, _sign(chart, degree, column), said=degree.said), noun


@RULES.rule(
    "part",
    "[<_who>] <meter> <superlative> ;"
    " [<_who>]"
    " (took|take|takes|lasted|lasts|last|waited|wait|used|spent|scored|drove|made|works|worked|work|does|did|put in|"
    "played|plays|ran|runs|flew|rode|swam|walked|logged|collected|received|earned|won|gained|burned|produced|"
    "carrying|carried|carries|carry|drawing|drew|attracting|attracted|reached|reaching|serving|served|covered|covers|covering|clocked|travelled|"
    "traveled|travels)"
    " <superlative> <measure>",
)
def verb_most(chart: Chart, *said: Any) -> Best:
    """`who earns the most`, `that took the most hours`, `that cost the least`."""
    degree = next(one for one in said if isinstance(one, Degree))
    column = next(one for one in said if isinstance(one, Column))
    if degree.dimension not in ("sheer", "length", "shortness"):
        raise Unfit
    return Best(column, degree.sign, linked=True, said="verb")


@RULES.rule("part", "[<_who>] <meter> <superlative> <_total>", cost=-0.2)
def verb_most_total(chart: Chart, column: Column, degree: Degree) -> Best:
    """`which variety produced the most in total`."""
    if degree.dimension != "sheer" or not column.measure:
        raise Unfit
    return Best(Figure("sum", column), degree.sign, linked=True)


@RULES.rule("part", "[<_who>] <deed> <manyest> <noun_said>", cost=-0.1)
def did_most(chart: Chart, verb: str, sign: int, noun: str) -> Best:
    """`affected the most users`, of users_affected: the column that is called after both."""
    found = [c for c in chart.schema.columns if c.measure and set(c.words) == {noun, verb}]
    if len(found) != 1:
        raise Unfit
    return Best(found[0], sign, linked=True, said="verb")


@RULES.finder("noun_said")
def noun_said(chart: Chart, at: int) -> Iterator[Edge]:
    """Any word, in the singular."""
    if chart.text(at).isalpha():
        yield Edge(at + 1, stem(chart.text(at)))


@RULES.rule("part", "<earners> ; <superlative> <earners>", cost=0.1)
def earners(chart: Chart, *said: Any) -> Any:
    """`top earner`, `top 3 earners`, `top scorer`: those with the highest salary, or the most goals."""
    words, plural = said[-1]
    sign = said[0].sign if isinstance(said[0], Degree) else 1
    best = Best(_of_doers(chart, words), sign, said="earn" if len(said) > 1 else "earners", plural=plural)
    return best, Rows(plural, True, "one")


def _of_doers(chart: Chart, words: str) -> Column:
    """The column that says how much somebody earns, scores or sells."""
    for word in words.split():
        found = [column for column in named(word, chart.schema) if column.measure]
        if len(found) == 1:
            return found[0]
    raise Unfit
