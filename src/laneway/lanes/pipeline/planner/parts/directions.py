"""Orders without `sorted by`: `cheapest first`, `longest wait at the top`, `from low to high`, `alphabetically`."""

from __future__ import annotations

from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Rules
from laneway.lanes.pipeline.planner.parts.degrees import agrees
from laneway.lanes.pipeline.planner.parts.doings import by_participle
from laneway.lanes.pipeline.planner.parts.orders import Way
from laneway.lanes.pipeline.planner.parts.pieces import Degree, Figure, Key, Order, Period, That
from laneway.lanes.pipeline.planner.parts.verbs import measured_by
from laneway.lanes.pipeline.planner.phrasing import phrases
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column

RULES = Rules()
RULES.words(
    "whatever_noun",
    {
        word: That(word)
        for word in phrases(
            """
            average | total | sum | count | number | figure | gap | difference | share | percentage | value |
            amount | result | rate | ratio | spread | range | averages | totals | mean | median | group | counts
            """
        )
    },
)
RULES.words(
    "taker",
    phrases(
        """
        consumer | spender | seller | user | earner | scorer | contributor | producer | owner | holder |
        customer | payer
        """
    ),
)


def _order(sign: int) -> str:
    return "desc" if sign > 0 else "asc"


@RULES.rule("part", "<direction> ; <_put> [all] <_rows> [in order] <direction>")
def alone(chart: Chart, key: Key) -> Order:
    """`cheapest first`, `sort the episodes from longest to shortest`."""
    return Order((key,))


@RULES.rule("part", "<direction> <then> <order_keys>")
def then_by(chart: Chart, key: Key, said: str, more: tuple[Key, ...]) -> Order:
    """`earliest date first, then by start time`."""
    if said == "and":
        raise Unfit
    return Order((key, *(Key(one.by, one.order or "asc", one.said) for one in more)))


@RULES.rule(
    "direction",
    "[<_sorting>|put|with] [from] <degree> [<_rows>|one|ones|<_things>|<_period>] <_top> ;"
    " (starting|beginning) with <degree> [<_rows>|one] ; (sorted|ordered|arranged) by <degree> [<_rows>]",
)
def degree_first(chart: Chart, degree: Degree) -> Key:
    """`cheapest first`, `priciest airline first`, `best one first`."""
    return Key(degree, "desc", degree.said)


@RULES.rule("direction", "(oldest|earliest|first) <period> <_top>", cost=-0.1)
def period_first(chart: Chart, unit: str) -> Key:
    """`oldest month first`."""
    return Key(Period(unit), "asc")


@RULES.rule("direction", "(newest|latest|most recent|last) <period> <_top>", cost=-0.1)
def period_last(chart: Chart, unit: str) -> Key:
    return Key(Period(unit), "desc")


@RULES.rule("direction", "(busiest|most frequent|most common|commonest) [one|ones|<_things>] <_top>", cost=0.1)
def busiest_first(chart: Chart) -> Key:
    """`flights per destination, busiest first`: by how many there are."""
    return Key(That("count"), "desc")


@RULES.rule("direction", "[<_sorting>] from <degree> to <degree> ; <degree> to <degree>")
def degree_range(chart: Chart, one: Degree, other: Degree) -> Key:
    """`from cheapest to most expensive`."""
    if one.sign == other.sign:
        raise Unfit
    return Key(one, "desc", one.said)


@RULES.rule(
    "direction",
    "<superlative> [number of] <ordered> <_top> ; put <superlative> <ordered> <_top> ; [put] [<_rows>|<_things>] with"
    " <superlative> [number of] <ordered> <_top> ; (starting|beginning) with <superlative> <ordered>",
)
def degree_of(chart: Chart, degree: Degree, column: Column) -> Key:
    """`longest wait first`, `put the team with the most goals on top`."""
    sign = agrees(degree, column, chart.schema)
    if not sign:
        raise Unfit
    return Key(column, _order(sign))


@RULES.rule(
    "direction",
    "<superlative> <figure> <_top> ; [put] [<_things>] with <superlative> <figure> <_top> ;"
    " <superlative> <whatever_noun> <_top> ; <superlative> <counted> <_top>",
)
def figure_first(chart: Chart, degree: Degree, by: Figure | That) -> Key:
    """`highest average first`, `biggest total first`, `most books first`."""
    if isinstance(by, Figure) and by.do == "count" and degree.dimension != "sheer":
        raise Unfit
    return Key(by, _order(degree.sign))


@RULES.rule("direction", "<superlative> <_taker> <_top>", cost=0.1)
def taker_first(chart: Chart, degree: Degree) -> Key:
    """`biggest consumer at the top`: by whatever was worked out."""
    return Key(That("those"), _order(degree.sign))


@RULES.rule("direction", "(top|highest|biggest|best) (earner|earners|paid) <_top>")
def earner_first(chart: Chart) -> Key:
    return Key(measured_by("salary", chart.schema), "desc")


@RULES.rule("direction", "lowest (earner|earners|paid) <_top>")
def low_earner_first(chart: Chart) -> Key:
    return Key(measured_by("salary", chart.schema), "asc")


@RULES.rule("direction", "(most recently|latest|newest|last) <event> <_top> ; <event> most recently <_top>")
def recently(chart: Chart, column: Column) -> Key:
    """`most recently shipped first`, `newest opened first`."""
    return Key(column, "desc")


@RULES.rule("direction", "(earliest|oldest|first|soonest) <event> <_top> ; <event> earliest <_top>")
def anciently(chart: Chart, column: Column) -> Key:
    return Key(column, "asc")


@RULES.rule("direction", "<superlative> <deed> <_top>", cost=0.1)
def most_done_first(chart: Chart, degree: Degree, verb: str) -> Key:
    """`most voted first`."""
    best = by_participle(chart, degree, verb)
    assert isinstance(best.by, Column)
    return Key(best.by, _order(best.sign))


@RULES.rule(
    "direction",
    "(low|lower|lowest|small|cheap) <measure> to (high|higher|highest|large|expensive) [<_measure>] ;"
    " [from] (low|lowest) to (high|highest) <measure> ; <measure> (low|lowest) to (high|highest)",
)
def upwards(chart: Chart, column: Column) -> Key:
    """`low price to high price`."""
    return Key(column, "asc")


@RULES.rule(
    "direction",
    "(high|higher|highest|large) <measure> to (low|lower|lowest|small) [<_measure>] ;"
    " [from] (high|highest) to (low|lowest) <measure> ; <measure> (high|highest) to (low|lowest)",
)
def downwards(chart: Chart, column: Column) -> Key:
    return Key(column, "desc")


@RULES.rule("part", "[<_sorting>] [in] <down> [order]")
def measure_first(chart: Chart, way: Way) -> Order:
    """`highest first`, `sorted descending`: by the one thing that is worked out, or the one column that is shown."""
    if way[1] == "alphabet":
        raise Unfit
    return Order((Key(That("down"), way[0], way[1]),))


@RULES.rule(
    "part",
    "(rank|sort|order|arrange|list|put) (<things>|them|these|those) [in order] [from] <down> ;"
    " put <high> (number|one|figure|value|total|average|count) <_top>",
)
def groups_first(chart: Chart, *said: Any) -> Any:
    """`rank the countries from most to least`: by whatever was worked out for each."""
    way = said[-1]
    if way[1] in ("", "alphabet"):
        raise Unfit
    order = Order((Key(That("down"), way[0], way[1]),))
    return (said[0], order) if len(said) > 1 else order


@RULES.rule(
    "part",
    "<_sorting> from <superlative> <ordered> (down|downwards|downward|on down|to <superlative>)",
    cost=-0.1,
)
def from_best(chart: Chart, degree: Degree, column: Column, *other: Degree) -> Order:
    """`ordered from the highest score down`."""
    sign = agrees(degree, column, chart.schema)
    if not sign or any(one.sign == degree.sign for one in other) or (not other and sign < 0):
        raise Unfit
    return Order((Key(column, _order(sign)),))


@RULES.rule("part", "[<_sorting>] <_alphabet>", cost=-0.1)
def alphabet_first(chart: Chart) -> Order:
    """`alphabetically`: by the one text that is shown, or the one column of names."""
    return Order((Key(That("alphabet"), "asc"),))


@RULES.rule("part", "[in] alphabetical order of <column> ; alphabetically by <column> ; a to z by <column>")
def alphabetical(chart: Chart, column: Column) -> Order:
    return Order((Key(column, "asc"),))


@RULES.rule("part", "[<_sorting>] <timely>")
def time_first(chart: Chart, order: str) -> Order:
    """`newest first`: by the one column of dates."""
    latest = order == "desc"
    return Order((Key(Degree("latest" if latest else "earliest", "time", 1 if latest else -1), "desc", "timely"),))


@RULES.rule("part", "[<_sorting>] <timely> by <dated>", cost=-0.1)
def time_first_by(chart: Chart, order: str, column: Column) -> Order:
    """`newest first by publication date`."""
    return Order((Key(column, order),))


@RULES.rule("part", "[<_sorting>] <superlative> <_top> by <ordered>", cost=-0.1)
def degree_first_by(chart: Chart, degree: Degree, column: Column) -> Order:
    """`highest first by price`: the adjective must go with the column."""
    sign = agrees(degree, column, chart.schema)
    if not sign:
        raise Refused(f"{column.name} does not say which is `{degree.said}`.", "Leave one of them out.")
    return Order((Key(column, _order(sign)),))


@RULES.rule(
    "part",
    "(months|years|quarters|dates|days) in order ; in order of (month|year|date|quarter) ; month by month ;"
    " year by year ;"
    " in (calendar|time|date) order ; in order of time",
)
def calendar(chart: Chart) -> Order:
    """`months in order`."""
    return time_first(chart, "asc")


@RULES.rule("part", "(most common|most frequent|commonest|most popular) <_top>")
def frequent(chart: Chart) -> Order:
    return Order((Key(That("count"), "desc"),))


@RULES.rule("part", "(least common|least frequent|rarest) <_top>")
def rare(chart: Chart) -> Order:
    return Order((Key(That("count"), "asc"),))
