"""Orders that say `sorted by`: `sorted by airline then price descending`, `matches by gate, biggest first`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.parts.degrees import agrees
from laneway.lanes.pipeline.planner.parts.naming import Held
from laneway.lanes.pipeline.planner.parts.pieces import Best, Degree, Figure, Key, Order, Period, Test, That, Wanted
from laneway.lanes.pipeline.planner.parts.texts import chosen, equals
from laneway.lanes.pipeline.planner.phrasing import phrases, words
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column

RULES = Rules()
Way = tuple[str, str]
"""The direction of an order, and the word that says it."""
RULES.words(
    "high",
    {word: ("desc", word) for word in ("highest", "largest", "biggest", "greatest", "most", "high", "top", "widest")}
    | {word: ("asc", word) for word in ("lowest", "smallest", "least", "fewest", "low", "bottom")},
)
RULES.words(
    "sense",
    dict.fromkeys(("descending", "desc", "decreasing", "falling", "reversed", "reverse"), ("desc", ""))
    | dict.fromkeys(("ascending", "asc", "increasing", "rising"), ("asc", "")),
)
RULES.words("new", dict.fromkeys(("newest", "latest", "most recent", "recent", "last"), "desc"))
RULES.words("new", dict.fromkeys(("oldest", "earliest", "soonest", "nearest", "next"), "asc"))
RULES.words(
    "alphabet",
    phrases(
        "from a to z | a to z | a z | a - z | alphabetically | in alphabetical order | alphabetical order |"
        " alphabetical"
    ),
)
RULES.words("top", phrases("first | at top | on top | up top | to start | coming first | at beginning | leading"))
RULES.words("noise", ("{", ",", ":", "-"))
RULES.words("put", ("sort", "order", "arrange", "put", "rank", "list", "show", "sorted", "ordered", "arranged"))
RULES.words(
    "sorting",
    phrases(
        "sorted | sort | ordered | order | arranged | listed | sort it | sort them | order them | order it | all |"
        " put them"
    ),
)
RULES.words(
    "sorts",
    phrases(
        """
        sorted by | sort by | ordered by | order by | arranged by | in order of | sort them by | order them by |
        sorting by |
        ordering by | sorted on | sort on | sort it by | arrange by | sort everything by | order everything by |
        listed by |
        sort this by | sort results by | arrange them by | sorted according to | sort rows by | order rows by |
        list them by |
        arranged in order of | by order of | sort list by | order results by | sort all by | put them in order of |
        put in order of | lined up by | alphabetical by | alphabetically by | in alphabetical order by |
        in alphabetical order of | ordered according to | sort table by
        """
    ),
)
RULES.words("ranks", phrases("ranked by | rank by | rank them by | ranking by | ranked on | ranked according to"))
RULES.words(
    "then",
    phrases(
        """
        and then by | , and then by | , then by | then by | and then | , then | then | , and by | and by | , by |
        then on |
        , same number : by | , ties by | , within that by | and within that by | and within it by | , if equal by |
        ; ties by
        """
    ),
)
RULES.words("then", {"and": "and", ",": "and", ", and": "and"}, cost=0.1)


@RULES.rule(
    "down", "<high> [one|ones] <_top> ; [with] <high> first ; (starting|beginning) with <high> ; [in] <sense> [order]"
)
def one_way(chart: Chart, way: Way) -> Way:
    """`highest first`, `descending`."""
    return way


@RULES.rule(
    "down", "[from] <high> to <high> ; from z to a ; z to a ; from top to bottom ; in reverse alphabetical order"
)
def from_to(chart: Chart, *ways: Way) -> Way:
    """`highest to lowest`."""
    if ways and ways[0][0] == ways[1][0]:
        raise Unfit
    return ways[0] if ways else ("desc", "")


@RULES.rule("down", "<_alphabet>")
def a_to_z(chart: Chart) -> Way:
    return ("asc", "alphabet")


@RULES.rule("timely", "<new> [one] <_top> ; (starting|beginning) with <new> ; in reverse chronological order")
def from_new(chart: Chart, *order: str) -> str:
    """`newest first`."""
    return order[0] if order else "desc"


@RULES.rule("timely", "[from] <new> to <new> ; chronologically ; in chronological order")
def in_time(chart: Chart, *order: str) -> str:
    if order and order[0] == order[1]:
        raise Unfit
    return order[0] if order else "asc"


@RULES.rule(
    "part",
    "<_sorts> <order_keys> ;"
    " (sort|order|arrange|list|put|sorted|ordered) [all|everything|them|every] <_rows>"
    " ([in order] (by|on|according to)|in order of) <order_keys> ;"
    " (sort|order|arrange|put) [all] (everyone|everything|them|it|catalogue|list|"
    "table|<_collective>) (by|in order of|on) <order_keys>",
)
def sort(chart: Chart, keys: tuple[Key, ...]) -> Order:
    """`sorted by airline then price descending`."""
    return Order(_directed(keys, "asc"))


_COLLECTIVES = words("stock inventory range collection menu fleet staff team squad portfolio assortment results data")


@RULES.finder("collective")
def collective(chart: Chart, at: int) -> Iterator[Edge]:
    """A word for all rows together, as `sort the stock by …`; none that the table holds as a value."""
    if chart.text(at) in _COLLECTIVES and not chart.edges("value", at):
        yield Edge(at + 1, "all")


@RULES.rule(
    "part",
    "(sorted|sort|ordered|order|arranged|in) <down> [order] (by|of|on) <order_keys> ;"
    " (sort|order|arrange) [all] <_rows>"
    " [in] <down> (by|of|on) <order_keys> ; <down> (by|of) <order_keys>",
)
def sort_down(chart: Chart, way: Way, keys: tuple[Key, ...]) -> Order:
    """`in descending order of price`, `sort alphabetically by name`."""
    if any(key.order for key in keys):
        raise Refused("The direction is said twice.", "Say ascending or descending once.")
    return Order(_directed(keys, way[0]))


@RULES.rule("part", "(sort|order|arrange|list|put) [all] <test> <_rows> [in order] (by|on|according to) <order_keys>")
def sort_some(chart: Chart, test: Test, keys: tuple[Key, ...]) -> Any:
    """`sort the refundable ones by fare, cheapest at the top`."""
    return test, Order(_directed(keys, "asc"))


@RULES.rule("part", "(sort|order|arrange) [all] <values> (by|in order of|according to) <order_keys>", cost=0.1)
def sort_such(chart: Chart, held: Held, keys: tuple[Key, ...]) -> Any:
    """`sort the apartments by rent`, where only some rows are apartments."""
    test = equals(chosen(held, "", chart.schema), held.found)
    return test, Order(_directed(keys, "asc"))


@RULES.rule("part", "<_ranks> <order_keys> ; rank [all] (<_rows>|them|everything|everyone) by <order_keys>")
def rank(chart: Chart, keys: tuple[Key, ...]) -> Order:
    """`ranked by score, highest first`."""
    if isinstance(keys[0].by, Figure) and keys[0].by.do.startswith("count"):
        return Order(_directed(keys, "desc"))
    if not keys[0].order:
        raise Refused("A rank may begin with the highest or with the lowest.", "Say highest first or lowest first.")
    return Order(_directed(keys, "asc"))


@RULES.rule(
    "part",
    "rank [all] (<_rows>|them|everything|everyone) by <ordered> [,|.] [and] [then] [give me|show me|list|show|take|"
    "keep|return|give|pick] (best|top) <count>",
    cost=-0.3,
)
def best_of_rank(chart: Chart, column: Column, number: int) -> Any:
    """`rank the results by score and give me the best four`: the end of the rank that is best tells its direction."""
    sign = agrees(Degree("best", "rating", 1), column, chart.schema)
    if not sign:
        raise Refused(f"It is not plain which {column.name} is best.", "Say: the 3 highest, or: the 3 lowest.")
    return Best(column, sign, said="ranked"), Wanted(number)


@RULES.rule("part", "by <order_keys>", cost=0.1)
def by_keys(chart: Chart, keys: tuple[Key, ...]) -> Order:
    """`matches by gate, biggest first`, `by region, then by wind descending`: an order, since a direction is said."""
    if not any(key.order for key in keys):
        raise Unfit
    return Order(_directed(keys, "asc"))


def _directed(keys: tuple[Key, ...], order: str) -> tuple[Key, ...]:
    return tuple(Key(key.by, key.order or order, key.said) for key in keys)


@RULES.rule("order_keys", "<order_key>")
def one_key(chart: Chart, key: Key) -> tuple[Key, ...]:
    return (key,)


@RULES.rule("order_keys", "<order_key> <then> <order_keys>")
def more_keys(chart: Chart, key: Key, said: str, more: tuple[Key, ...]) -> tuple[Key, ...]:
    """`airline, then price descending`; with `and` between them a direction at the end may hold for both."""
    if said == "and" and isinstance(more[0].by, Degree):
        raise Unfit
    if said == "and" and not key.order and more[0].order == "desc":
        raise Refused(
            "It is not plain whether the direction holds for one column or both.", "Say it with each, or `then`."
        )
    if repr(key.by) in {repr(other.by) for other in more}:
        raise Refused("One column is sorted by twice.", "Name it once.")
    return (key, *more)


@RULES.rule("order_key", "<column> ; <column> [<_noise>] <down> [}] ; <column> from <down>")
def of_column(chart: Chart, column: Column, *way: Way) -> Key:
    if way and way[0][1] not in ("", "alphabet") and not column.ordered:
        # Departments have no largest; what is counted of them has.
        raise Unfit
    return Key(column, way[0][0] if way else "")


@RULES.rule("order_key", "<column> [<_noise>] <timely> [}]")
def of_dates(chart: Chart, column: Column, order: str) -> Key:
    """`hire date, newest first`: only a date has a newest."""
    if not column.dated and column.kind != "time":
        raise Unfit
    return Key(column, order)


@RULES.rule(
    "order_key",
    "<column> [<_noise>] <superlative> [<_rows>|one|ones|<_things>|<column>] <_top> [}] ;"
    " <column> [<_noise>] [from] <superlative> to <superlative> ; <column> [<_noise>] starting with <superlative>",
)
def of_degree(chart: Chart, column: Column, degree: Degree, *said: Any) -> Key:
    """`by price, cheapest first`: an adjective of the same column."""
    opposite = next((one for one in said if isinstance(one, Degree)), None)
    other = next((one for one in said if isinstance(one, Column)), column)
    if (opposite is not None and opposite.sign == degree.sign) or other.name != column.name:
        raise Unfit
    sign = agrees(degree, column, chart.schema)
    figures = any(chart.edges("figure", at) for at in range(chart.size))
    if not sign and (not column.ordered or figures):
        # Of groups by floor the heaviest is that of the figure.
        raise Unfit
    if not sign:
        raise Refused(f"`{degree.said}` does not go with {column.name}.", "Say ascending or descending.")
    return Key(column, "desc" if sign > 0 else "asc")


@RULES.rule("order_key", "<figure> [<_noise>] [<down>] ; <figure> [<_noise>] <superlative> <_top>")
def of_figure(chart: Chart, figure: Figure, *said: Any) -> Key:
    """`by average pay descending`, `by number of orders`."""
    degree = next((one for one in said if isinstance(one, Degree)), None)
    if degree is None:
        return Key(figure, said[0][0] if said else "")
    sign = agrees(degree, figure.column, chart.schema) if figure.column is not None else degree.sign
    if not sign:
        raise Unfit
    return Key(figure, "desc" if sign > 0 else "asc")


@RULES.rule("order_key", "<whatever> [<_noise>] [<down>] ; <whatever_noun> [<_noise>] [<down>]", cost=0.1)
def of_that(chart: Chart, said: Any, *way: Way) -> Key:
    """`by that average`, `by count descending`."""
    return Key(said if isinstance(said, That) else That(said), way[0][0] if way else "")


@RULES.rule("order_key", "<whatever> [<_noise>] <degree> <_top>", cost=0.1)
def of_that_degree(chart: Chart, said: str, degree: Degree) -> Key:
    """`sort by it, best first`: the adjective must go with what was worked out."""
    return Key(degree, "desc", "it")


@RULES.rule("order_key", "<degree> [<_rows>|one|ones] [<_top>]", cost=0.1)
def of_adjective(chart: Chart, degree: Degree) -> Key:
    """`sorted by cheapest`."""
    return Key(degree, "desc", degree.said)


@RULES.rule("order_key", "<period> ; <period> [<_noise>] <timely> ; <period> [<_noise>] <down>", cost=0.1)
def of_period(chart: Chart, unit: str, *way: Any) -> Key:
    order = way[0] if way and isinstance(way[0], str) else way[0][0] if way else ""
    return Key(Period(unit), order)
