"""Columns in words: which are shown, left out, renamed, or worked out anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.parts.expressions import Expression
from laneway.lanes.pipeline.planner.parts.pieces import Dropped, Figure, Item, Listing, Made, Renames, That
from laneway.lanes.pipeline.planner.phrasing import phrases
from laneway.lanes.pipeline.planner.refusal import Doubt, Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.words.small import FILLERS

RULES = Rules()
RULES.words("show", phrases(
    """
    only show me | only show | show only | only the columns | only the | only | just show | just show me | just the |
    just |
    showing only | showing | with only the columns | with just | with only | with the columns | the columns | columns |
    keep only | but only show | but only the | displaying | show me only | i only need | i just need | i only want |
    i just want | give me only | give me just | show just | show me just | keep | keep just | list only |
    return only | select |
    all i need is | all i want is | reduce to | only keep | only display | display only | list just
    """
))  # fmt: skip
RULES.words(
    "more",
    (
        ", and",
        "and",
        ",",
        "as well as",
        "plus",
        "along with",
        "together with",
        "&",
        "+",
        "/",
        "and also",
        "and the",
        ", plus",
        "vs",
        "versus",
    ),
)
RULES.words(
    "enough",
    phrases(
        "will do | is enough | are enough | only | is all i need | is all | would be enough | is fine | are fine |"
        " columns | column | fields | field | suffice | is sufficient | only please | and nothing else |"
        " nothing else | are all i need | columns only | should do | , nothing else | , and nothing else |"
        " and nothing more | nothing more | , nothing more | , no more | and no more | , no other columns"
    ),
)


@RULES.rule("item", "<column>")
def column(chart: Chart, column: Column) -> Column:
    return column


@RULES.rule("item", "(number of|amount of|no of|count of) <measure>", cost=0.1)
def number_of(chart: Chart, column: Column) -> Column:
    """`name and number of nights`: a column that counts them."""
    return column


@RULES.finder("items")
def items(chart: Chart, at: int) -> Iterator[Edge]:
    """A list of what is to be shown: columns, figures, sums over a row."""
    yield from _items(chart, at, (), 0.0)


def _items(chart: Chart, at: int, before: tuple[Item, ...], cost: float) -> Iterator[Edge]:
    while chart.text(at) in ("the", "their", "its", "a", "an", "also", "my", "our"):
        at += 1
    for end, more, price in _next(chart, at):
        doubt = next((one for one in more if isinstance(one, Doubt)), None)
        if doubt is not None:
            yield Edge(end, doubt, cost + price)
            continue
        found = _with(before, more)
        if found is None:
            continue
        yield Edge(end, found, cost + price)
        for link in chart.edges("more", end):
            if link.value in ("plus", "+") and isinstance(found[-1], Column) and found[-1].measure:
                # Salary plus bonus is rather a sum.
                continue
            yield from _items(chart, link.end, found, cost + price)


def _next(chart: Chart, at: int) -> Iterator[tuple[int, Any, float]]:
    for edge in chart.edges("item", at):
        yield edge.end, (edge.value,), edge.cost
    for edge in chart.edges("figures", at):
        yield edge.end, edge.value if isinstance(edge.value, tuple) else (edge.value,), edge.cost


def _with(before: tuple[Item, ...], more: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The list with what comes next; None if it names a column twice."""
    names = [one.name for one in (*before, *more) if isinstance(one, Column)]
    return None if len(names) > len(set(names)) or len(before) > 8 else before + more


@RULES.rule("part", "<items>")
def listed(chart: Chart, items: tuple[Item, ...]) -> Listing:
    """`name and price`, `average age and total goals`."""
    if len(items) == 1 and isinstance(items[0], Column) and items[0].kind == "bool":
        raise Unfit
    return Listing(items)


@RULES.rule("part", "<_show> [:] <items> ; <items> <_enough> ; <_show> <items> <_enough>")
def only(chart: Chart, *said: Any) -> Listing:
    """`only show name and price`, `name and team will do`."""
    return Listing(next(one for one in said if isinstance(one, tuple)), marked=True)


@RULES.rule(
    "part",
    "[<_show>|exactly|following|with|in] <count> [following] (columns|fields|things|figures|numbers|values)"
    " [:|,|-|{] [namely] <items> [}]",
    cost=-0.2,
)
def so_many(chart: Chart, number: int, items: tuple[Item, ...]) -> Listing:
    """`I want three columns: name, course and score`: the number counts what follows."""
    if number != len(items):
        raise Refused(f"{number} are asked for, and {len(items)} are named.", "Leave the number out.")
    return Listing(items, marked=True)


@RULES.rule("part", "{ <items> } ; - <items> ; : <items>", cost=0.1)
def apart(chart: Chart, items: tuple[Item, ...]) -> Listing:
    """`… - branch, title and loans`."""
    return Listing(items, marked=len(items) > 1)


@RULES.rule(
    "part",
    "(with|showing|giving|including|together with|along with|and also|also show|include|"
    "and) [also] <that_or_figure> ; show [me] [also] <that_or_figure> (too|as well|also) ; <that_or_figure> (too|"
    "as well|also)",
)
def too(chart: Chart, item: Any) -> Listing:
    """`with that average`, `show the average too`."""
    return Listing((item,), marked=True)


@RULES.rule("part", ", with <items>", cost=0.1)
def with_items(chart: Chart, items: tuple[Item, ...]) -> Listing:
    """`results below 50, with student and subject`."""
    if len(items) < 2 or not all(isinstance(one, Column) for one in items):
        raise Unfit
    return Listing(items, marked=True)


@RULES.rule("that_or_figure", "<whatever>")
def whatever(chart: Chart, said: str) -> That:
    return That(said)


@RULES.rule("that_or_figure", "<figure>", cost=0.1)
def figure(chart: Chart, figure: Figure) -> Figure:
    return figure


RULES.words("drops", phrases(
    """
    drop | remove | hide | omit | leave out | leaving out | get rid of | all columns except | all columns but |
    everything except | everything but | every column except | without | excluding | exclude |
    all the columns except | delete |
    i do not need | do not show | do not need | not showing | except for | except | minus | cut | take out | all but |
    show everything except | show all columns except | skip | throw away | dropping | removing | hiding | omitting |
    strip | throw out | throwing out | get rid of | ditch
    """
))  # fmt: skip
RULES.words("fields", ("columns", "column", "fields", "field"))


@RULES.rule(
    "part", "<_drops> (<_fields>|the columns|the column) <columns> ; <_drops> <loose_columns> <_fields>", cost=-0.2
)
def dropped(chart: Chart, *said: Any) -> Dropped:
    """`without the id column`, `drop the columns email and phone`."""
    return Dropped(next(one for one in said if isinstance(one, tuple)))


@RULES.rule(
    "part",
    "(drop|hide|omit|get rid of|all columns except|all columns but|every column except|all the columns except|"
    "do not show|i do not need|remove|leave out|show all columns except|everything but|everything except|dropping|"
    "leaving out|delete) <columns>",
    cost=0.3,
)
def dropped_plainly(chart: Chart, columns: tuple[Column, ...]) -> Dropped:
    """`drop email and phone`."""
    return Dropped(columns)


@RULES.rule("columns", "<column> ; <column> <_more> <columns>")
def columns(chart: Chart, first: Column, *said: Any) -> tuple[Column, ...]:
    return (first, *(said[0] if said else ()))


@RULES.rule("loose_columns", "<loose_column> ; <loose_column> <_more> <loose_columns>")
def loose_columns(chart: Chart, first: Column, *said: Any) -> tuple[Column, ...]:
    return (first, *(said[0] if said else ()))


@RULES.rule("loose_column", "<column>")
def loose(chart: Chart, column: Column) -> Column:
    return column


@RULES.finder("loose_column")
def loosely(chart: Chart, at: int) -> Iterator[Edge]:
    """A column by any word of its name, where the word `columns` says that one is meant."""
    if chart.edges("column", at) or chart.text(at) in FILLERS:
        return
    word = chart.text(at)
    found = [one for one in chart.schema.columns if word and word in {mark.word for mark in one.marks} | set(one.parts)]
    if len(found) == 1:
        yield Edge(at + 1, found[0], 0.5)


@RULES.finder("name")
def name(chart: Chart, at: int) -> Iterator[Edge]:
    """A new name: any word or quotation that is none of the small ones."""
    token = chart.token(at)
    if token is not None and token.kind in ("word", "quote") and token.text not in FILLERS:
        yield Edge(at + 1, token.raw)


@RULES.finder("fresh_name")
def fresh_name(chart: Chart, at: int) -> Iterator[Edge]:
    """A new name that means nothing else, where a sentence begins: `margin is price minus cost`."""
    begins = not at or chart.text(at - 1) in (".", ";", ":", ",")
    named = any(not getattr(edge.value, "made", False) for edge in chart.edges("column", at))
    if begins and not named and not any(chart.edges(symbol, at) for symbol in ("rows", "value", "superlative")):
        yield from chart.edges("name", at)


RULES.words("adds", phrases(
    """
    add a new column called | add a column called | add a new column named | add a column named | add a new column |
    add a column | add the column | add column | add a | add | create a column called | create a new column called |
    create a new column | create a column | compute the | compute | calculate the | calculate | with a column |
    include |
    plus a column | work out the | work out | make a column called | make a new column called | add an extra column |
    add an extra column called | insert a column | include a column | append a column | with a new column |
    add a field |
    add a column for the | add a column for | add a column with the | add a column with | add another column called |
    determine the | figure out the | add a new field called | add an additional column | add a calculated column
    """
))  # fmt: skip
RULES.words(
    "being",
    phrases(
        "= | : | as the | as | equal to | equals | that is | that equals | which is | is | with | being |"
        " which equals | by | that holds | holding | containing | that contains | showing | that shows | for |"
        " that is the | defined as | calculated as | computed as | meaning | , which is | , that is | {"
    ),
)


@RULES.rule(
    "part",
    "<_adds> <sum> ; <_adds> <sum> (as|called|named) <name> [column] ; <_adds> <ratio> ; <_adds> <ratio> (as|called|"
    "named) <name>",
)
def computed(chart: Chart, made: Expression, *name: str) -> Made:
    """`add amount divided by quantity as unit_amount`."""
    return _made(chart, name[0], made) if name else Made(made[1], made[0], given=False)


@RULES.rule(
    "part",
    "<_adds> <name> [column|field] <_being> <sum> [}] ; <_adds> <name> [column|field] <_being> <ratio> [}] ; "
    "<_adds> <name> , <sum>",
    cost=-0.2,
)
def computed_as(chart: Chart, name: str, *rest: Any) -> Made:
    """`add a column total = price * quantity`."""
    return _made(chart, name, rest[-1])


@RULES.rule(
    "part",
    "<sum> (as|called|named) <name> [for each <rows>|for each one|per row|for each row] ; "
    "<name> = <sum> [for each row|per row] ; <name> = <ratio> ; <name> = <sum> for each <rows> ; "
    "<sum> as <name> for each <rows> ; <fresh_name> (is|means) <sum>",
)
def sum_as(chart: Chart, *said: Any) -> Made:
    """`price times quantity as total`."""
    made = next(one for one in said if isinstance(one, tuple))
    name = next(one for one in said if isinstance(one, str))
    return _made(chart, name, made)


def _made(chart: Chart, name: str, made: Expression) -> Made:
    known = chart.schema.column(name)
    if known is not None and not known.made:
        raise Refused(f"There is a column {name} already.", "Give the new one another name.")
    return Made(name, made[0])


RULES.words(
    "rename",
    phrases(
        "rename the columns | rename the column | rename columns | rename column | rename the | rename |"
        " change the name of | call the column | renaming"
    ),
)


@RULES.rule(
    "part",
    "<_rename> <renaming> ; call <column> <name> ; <_rename> <renaming> <_more> <renaming> ; "
    "<_rename> <renaming> <_more> <renaming> <_more> <renaming>",
)
def renamed(chart: Chart, *said: Any) -> Renames:
    """`rename price to cost and qty to pieces`."""
    if isinstance(said[0], Column):
        return Renames(((said[0].name, said[1]),))
    names = tuple(one for one in said if isinstance(one, tuple))
    for _, new in names:
        if chart.schema.column(new) is not None:
            raise Refused(f"There is a column {new} already.", "Choose another name.")
    return Renames(names)


@RULES.rule("renaming", "<column> [column] (to|as|into|->) <name>")
def renaming(chart: Chart, column: Column, name: str) -> tuple[str, str]:
    return column.name, name
