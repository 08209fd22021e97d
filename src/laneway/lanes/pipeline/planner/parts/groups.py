"""Groups: `per airline`, `for each month`, `by class and subject`, `admitted per month`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.nouns import Rows
from laneway.lanes.pipeline.planner.names.owners import names_rows
from laneway.lanes.pipeline.planner.parts.expressions import COUNTED
from laneway.lanes.pipeline.planner.parts.pieces import Figure, Filler, Group, Listing, Period
from laneway.lanes.pipeline.planner.phrasing import phrases, words
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import name_words

RULES = Rules()
Keys = tuple[Column | Period, ...]
RULES.words(
    "each",
    phrases(
        """
        per | each | every | per each | grouped by | group by | group them by | group it by | group results by |
        group rows by |
        group everything by | broken down by | a breakdown by | broken out by | split by | split up by | divided by |
        separated by | grouped per | aggregated by | aggregate by | summarised by | summarized by | by individual |
        for all different | for different | across different | for any given | separately for each | one row per |
        one line per | one row for each | a row per | one row for every | has each | have each | does each | did each |
        do each | does every | were there per | are there per
        """
    ),
)
RULES.words(
    "each",
    {
        f"{before} {each}": f"{before} {each}"
        for before in ["for", "in", "by", "of", "from", "within", "to", "at", "on", "with", "under"]
        for each in ("each", "every", "each of", "each different", "every single")
    },
)
RULES.words(
    "each",
    {
        f"{verb} {each}": verb
        for verb in phrases(
            "live in | lives in | work in | works in | are in | is in | leave from | depart from | fly to | go to |"
            " arrive in |"
            " belong to | work for | report to | reports to | come from"
        )
        for each in ("each", "every")
    },
)
RULES.words("period", {"month": "month", "months": "month", "calendar month": "month", "year": "year", "years": "year",
                       "calendar year": "year", "quarter": "quarter", "weekday": "weekday",
                       "day of week": "weekday"})  # fmt: skip
RULES.words("rhythmic", {"monthly": "month", "yearly": "year", "annual": "year", "quarterly": "quarter"})


@RULES.rule(
    "part",
    "<each> <keys> [group|value] ; <each> <keys> 's ;"
    " <each> <keys> (have|has|had|there is|there are|got|made|written|write|placed|place|make|hold|own|offer|stock|"
    "sell|employ|contain|carry|handled|handle|wrote|taken|took|take|takes|received|have had|does)",
)
def per(chart: Chart, said: str, keys: Keys) -> Group:
    """`per airline and class`, `each vendor's`, `has each author written`."""
    for key in keys if said in ("per", "each", "for each", "for every", "every") else ():
        if isinstance(key, Column) and key.measure and not _classifies(key):
            raise Refused(f"`{said} {key.name}` may mean groups or a division.", f"Say: grouped by {key.name}.")
    return Group(keys)


@RULES.rule("part", "(for each|for every|per|of each|of every|each|every|for all) <rows>", cost=-0.3)
def each_row(chart: Chart, noun: Rows) -> Filler:
    """`for every parcel`, where the rows are parcels."""
    tables = {word for name in (chart.schema.name, *chart.schema.others) for word in name_words(name)[0][-1:]}
    if any(column.words == (noun.word,) and not column.unique for column in chart.schema.columns):
        # A grade may be a row, and what a column tells.
        raise Unfit
    known = tables | {"row", "record", "entry", "line", "one"}
    if noun.word not in known and not names_rows(noun.word, chart.schema):
        raise Unfit
    return Filler("each row")


@RULES.rule("part", "(by|across|over|per|for) <keys>")
def by(chart: Chart, keys: Keys) -> Group:
    """`by department`: groups, if something is worked out; an order, if rows are listed."""
    return Group(keys, loose=True)


@RULES.rule("part", "<on_measure>")
def on(chart: Chart, column: Column) -> Group:
    """`bottom 3 clubs on points`: what decides, where the top or the bottom is asked for."""
    return Group((column,), loose=True)


@RULES.finder("on_measure")
def on_measure(chart: Chart, at: int) -> Iterator[Edge]:
    """`on` and a measure, behind `top` or `bottom`."""
    if chart.text(at) == "on" and {"top", "bottom"} & set(chart.texts[:at]):
        yield from chart.edges("measure", at + 1)


@RULES.rule(
    "keys",
    "<key> ; <key> and [per|by|for each|each|every|for every|in each] <key> ; <key> , <key> and <key> ; <key> / <key>",
)
def keys(chart: Chart, *found: Column | Period) -> Keys:
    if len({repr(one) for one in found}) < len(found):
        raise Unfit
    return found


@RULES.rule("key", "<grouping> ; [number of] <measure>", cost=0.05)
def key(chart: Chart, column: Column | Period) -> Column | Period:
    if isinstance(column, Column) and column.kind in ("nested", "mixed"):
        raise Refused(f"{column.name} holds things that cannot be grouped.", "Group by another column.")
    return column


@RULES.finder("grouping")
def grouping(chart: Chart, at: int) -> Iterator[Edge]:
    """What rows are put together by: of a column of moments, the days, where days or dates are said."""
    for edge in chart.edges("category", at):
        column = edge.value
        if not isinstance(column, Column) or not column.timed or DAYS.isdisjoint(chart.texts[at : edge.end]):
            yield edge
        elif chart.schema.column("day") is None:
            yield Edge(edge.end, Period("day", column), edge.cost)


DAYS = words("day days date dates")


@RULES.rule("key", "(day|date|calendar day) of <moment>")
def day_of(chart: Chart, column: Column) -> Period:
    """`day of departure`, of moments."""
    if not column.timed or chart.schema.column("day") is not None:
        raise Unfit
    return Period("day", column)


@RULES.rule("key", "whether [or not] (it|they|he|she|<_rows>) (is|are|was|were|has|have|had) [been] <truth> [or not]")
def whether(chart: Chart, column: Column) -> Column:
    """`by whether they are disputed`."""
    return column


@RULES.rule("key", "<period>")
def period(chart: Chart, unit: str) -> Period:
    if chart.schema.column(unit) is not None:
        raise Unfit
    return Period(unit)


@RULES.rule(
    "key",
    "<period> of <moment> ; <dated> <period> ; <event> <period> ; <period> { <moment> } ;"
    " <period> [it was|they were|of being|when it was|of] <event>",
    cost=0.05,
)
def period_of(chart: Chart, *said: Any) -> Period:
    """`month of dispatch`, `hire year`."""
    unit = next(one for one in said if isinstance(one, str))
    column = next(one for one in said if isinstance(one, Column))
    if column.kind != "date":
        raise Unfit
    return Period(unit, column)


@RULES.rule("part", "<event> (per|by|each|every|in each|for each) <period>")
def happened_each(chart: Chart, column: Column, unit: str) -> Group:
    """`admitted per month`: the verb says which dates the months are of."""
    if column.kind != "date":
        raise Unfit
    return Group((Period(unit, column),))


@RULES.rule("part", "<rhythmic> <items> ; <rhythmic> <_worth> { <figure> } ; <rhythmic> <_worth> : <figure>")
def rhythmically(chart: Chart, unit: str, what: Any) -> Any:
    """`monthly total revenue`."""
    items = what if isinstance(what, tuple) else (what,)
    if not all(isinstance(one, Figure) for one in items):
        raise Unfit
    return Listing(items), Group((Period(unit),))


def _classifies(column: Column) -> bool:
    """Whether the numbers are classes like stars, grades and years, rather than things there are several of."""
    return column.yearly or (column.classes and COUNTED.isdisjoint(column.words))
