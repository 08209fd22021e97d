"""Columns compared with numbers: `price under 200`, `at least 4 stars`, `home goals over away goals`, `under 200`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import best, listed, named
from laneway.lanes.pipeline.planner.names.likeness import rhythm
from laneway.lanes.pipeline.planner.names.owners import names_rows
from laneway.lanes.pipeline.planner.parts.amounts import Amount, fits_unit
from laneway.lanes.pipeline.planner.parts.bounds import (
    Bound,
    against,
    equal,
    plausible,
    refuse_far,
    refuse_rhythm,
)
from laneway.lanes.pipeline.planner.parts.pieced import of_whole_rows
from laneway.lanes.pipeline.planner.parts.pieces import Test, compared
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema, entity_word
from laneway.lanes.pipeline.planner.spelling import plural, stem
from laneway.lanes.pipeline.planner.words.naming import MONEY

RULES = Rules()
_USUAL = ("price", "rent", "age", "population")
"""What people mean by a bare number: `under 200` is money, `over 30` an age."""
_QUALITIES = words("rating score price fee cost salary wage temperature rate")
"""Each row has one of these: a number of them counts rows."""
_RATES = ("nightly rate", "daily rate", "room rate")
RULES.words(
    "comparing",
    dict.fromkeys(["more", "higher", "greater", "larger", "bigger", "longer", "better"], ">")
    | dict.fromkeys(["fewer", "less", "lower", "smaller", "shorter", "worse"], "<"),
)


@RULES.rule(
    "test",
    "<number> [<_copula>] <bound> ; <number> (lies|ranging|in) <bound>",
)
def told(chart: Chart, column: Column, bound: Bound) -> Test:
    """`price under 200`, `a rating of at least 4`, `dunning level 1 or more`."""
    return against(column, bound)


@RULES.rule("test", "<number> (is|=|equals|of|:|was|are|were) <amount> ; <number> <amount>", cost=0.1)
def just(chart: Chart, column: Column, given: Amount) -> Test:
    """`grade 10`, `stops is 0`, `a rating of 5`."""
    return against(column, equal(given))


@RULES.rule("test", "<numbered> [number|no|nr|no .] <amount>", cost=0.1)
def numbered(chart: Chart, column: Column, given: Amount) -> Test:
    """`row 3`, `order 1007`: a thing by its number."""
    if given.unit or given.scaled:
        raise Unfit
    return against(column, equal(given))


@RULES.rule("test", "<numbered_ones> <amounts>", cost=0.1)
def numbered_each(chart: Chart, column: Column, given: tuple[Amount, ...]) -> Test:
    """`rows 1 and 2`."""
    return Test(compared(column.name, "in", [one.within(column) for one in given]))


@RULES.finder("numbered_ones")
def numbered_ones(chart: Chart, at: int) -> Iterator[Edge]:
    """The same in the plural."""
    word = chart.text(at)
    found = [c for c in chart.schema.columns if c.kind == "number" and c.identifies and entity_word(c) == stem(word)]
    if len(found) == 1 and plural(word):
        yield Edge(at + 1, found[0])


@RULES.finder("numbered")
def numbered_at(chart: Chart, at: int) -> Iterator[Edge]:
    """A noun in the singular whose numbers a column holds."""
    word = chart.text(at)
    if not word or plural(word):
        return
    found = [c for c in chart.schema.columns if c.kind == "number" and c.identifies and entity_word(c) == word]
    if len(found) == 1:
        yield Edge(at + 1, found[0])


@RULES.rule("test", "<number> (is|of|:|=|are|was) not <amount>")
def unequal(chart: Chart, column: Column, given: Amount) -> Test:
    """`stops is not 0`."""
    if column.nulls:
        raise Refused(f"Some rows have no {column.name}, and `not` may or may not mean them.", "Filter them first.")
    return against(column, Bound("!=", given))


@RULES.rule("amounts", "<amount> or <amount> ; <amount> , <amount> or <amount> ; <amount> and <amount>")
def amounts(chart: Chart, *given: Amount) -> tuple[Amount, ...]:
    return given


@RULES.rule("test", "<number> [<_copula>] [either] <amounts> ; <amounts> <tally>", cost=0.05)
def one_of(chart: Chart, *said: Any) -> Test:
    """`stars is 4 or 5`, `2 or 3 bedrooms`."""
    column = next(one for one in said if isinstance(one, Column))
    given = next(one for one in said if isinstance(one, tuple))
    return Test(compared(column.name, "in", [one.within(column) for one in given]))


@RULES.finder("tally")
def tally(chart: Chart, at: int) -> Iterator[Edge]:
    """A measure that a number may stand before; two ratings are no rating of two, and 3 orders no amount of 3."""
    for edge in chart.edges("measure", at):
        word = chart.text(edge.end - 1)
        if isinstance(edge.value, Column) and edge.end == at + 1 and _counts_rows(word, edge.value, chart.schema):
            continue
        yield edge


def _counts_rows(word: str, column: Column, schema: Schema) -> bool:
    """Whether a number before this word says how many rows there are, and not how much of the column."""
    if names_rows(stem(word), schema):
        return column.words[-1] != stem(word)
    return plural(word) and stem(word) in _QUALITIES and word not in column.parts


@RULES.rule("test", "<bound> [in|of|on|worth of] <tally> [<rhythm>] ; <amount> <tally> <suffix>")
def so_many(chart: Chart, *said: Any) -> Test:
    """`more than 2 stops`, `over 500 pages`, `10 or more goals`, `4 stars or more`."""
    column = next(one for one in said if isinstance(one, Column))
    bound = said[0] if isinstance(said[0], Bound) else Bound(said[2], said[0])
    if isinstance(said[0], Bound):
        refuse_rhythm(column, *said[2:])
    _refuse_thousands(column, bound)
    refuse_far(column, bound)
    return against(column, bound)


def _refuse_thousands(column: Column, bound: Bound) -> None:
    """Returns unless so many are said of a column that counts thousands of them: 900 viewers are no 900,000."""
    if column.unit not in ("k", "mio") or bound.last.scaled or bound.last.of_ones(column):
        return
    counted, said = ("thousands", "k") if column.unit == "k" else ("millions", " million")
    raise Refused(f"{column.name} counts {counted}.", f"Say {bound.last.value}{said}, or: {column.name} over …")


@RULES.rule("test", "<amount> <tally>", cost=0.2)
def just_so_many(chart: Chart, given: Amount, column: Column) -> Test:
    """`3 bedrooms`, `2 stops`."""
    if given.unit and not fits_unit(given, column):
        raise Unfit
    _refuse_thousands(column, equal(given))
    refuse_far(column, equal(given))
    return against(column, equal(given))


@RULES.rule("test", "either <test> or <test>", cost=0.1)
def either(chart: Chart, one: Test, other: Test) -> Test:
    """`either longer than 15 km or more than 6000 passengers`."""
    if one.first or other.first or one.excepts or other.excepts:
        raise Unfit
    return Test({"or": [one.where, other.where]})


@RULES.rule("test", "<bound>", cost=0.6)
def bare(chart: Chart, bound: Bound) -> Test:
    """`under 200`: about money, an age, or the only measure that holds numbers near it."""
    if not bound.bare:
        raise Unfit
    column = of_whole_rows(usual(chart.schema, bound.last), chart.schema)
    if usual(chart.schema, bound.low) is not column:
        raise Refused("The two numbers may be about different columns.", "Name the column.")
    return Test(against(column, bound).where, bare=True)


@RULES.rule("test", "<bound> <often>", cost=-0.1)
def so_much_each(chart: Chart, bound: Bound, unit: str) -> Test:
    """`under 120 a night`, of a rate_per_night: the one measure that is counted so."""
    found = [c for c in chart.schema.columns if c.measure and rhythm(c) == unit]
    if len(found) != 1 or (bound.last.unit and not fits_unit(bound.last, found[0])):
        raise Unfit
    return against(found[0], bound)


@RULES.rule(
    "test",
    "<number> [<_copula>] <than> [that of|value of|than] <number> ; <number> [is|are] <comparative> than <number> ;"
    " <comparing> <measure> than <measure>",
)
def beside(chart: Chart, *said: Any) -> Test:
    """`home goals over away goals`, `stock is lower than the reorder level`, `more goals than assists`."""
    one, other = (part for part in said if isinstance(part, Column))
    how = next(part for part in said if not isinstance(part, Column))
    by = how if isinstance(how, str) else how[0] if isinstance(how, tuple) else ">" if how.sign > 0 else "<"
    if one.name == other.name or not (one.measure and other.measure) or one.unit != other.unit:
        raise Unfit
    return Test(compared(one.name, by, {"column": other.name}))


@RULES.rule(
    "test",
    "<number> (equal|equals|is equal to|are equal to|is same as|are same as|matches|=|==|is exactly|is just) <number>",
)
def alike(chart: Chart, one: Column, other: Column) -> Test:
    """`occupied beds equal total beds`."""
    if one.name == other.name or not (one.measure and other.measure) or one.unit != other.unit:
        raise Unfit
    return Test(compared(one.name, "==", {"column": other.name}))


@RULES.rule("test", "<beyond> <number> <amount>", cost=0.1)
def beyond(chart: Chart, by: str, column: Column, given: Amount) -> Test:
    """`above floor 2`, `below grade 10`: so much is a place among others, and no sum of money."""
    if given.unit or given.scaled or column.unit or not isinstance(column.low, int):
        raise Unfit
    return against(column, Bound(by, given))


RULES.words("beyond", {"above": ">", "over": ">", "below": "<", "under": "<", "beneath": "<"})


@RULES.rule("test", "(negative|minus) <measure> ; <measure> (is|are|below|under|less than) (negative|zero|0)")
def negative(chart: Chart, column: Column) -> Test:
    return Test(compared(column.name, "<", 0))


@RULES.rule("test", "positive <measure> ; <measure> (is|are) positive")
def positive(chart: Chart, column: Column) -> Test:
    return Test(compared(column.name, ">", 0))


def usual(schema: Schema, given: Amount) -> Column:
    """The one column a bare number is about; Refused if that is not plain."""
    if given.unit in MONEY:
        return _priced(schema, given)
    measures = [column for column in schema.columns if column.measure and not column.yearly]
    if given.unit:
        return _one([column for column in measures if fits_unit(given, column)], schema)
    likely = _first(measures, schema, _USUAL) or _first(measures, schema, _RATES)
    amounts = _first(measures, schema, ("amount", "total")) or [
        column for column in named("score", schema) if column in measures and column.spans(given.value)
    ]
    column = _one(likely or amounts or measures, schema)
    _refuse_doubtful(schema, column, given, usual_one=bool(likely), any_one=not (likely or amounts))
    others = [other for other in measures if other is not column and other.spans(given.value)]
    if others and not column.spans(given.value):
        raise Refused(f"{given.value} may be about {column.name} or {others[0].name}.", "Name the column.")
    return column


def _refuse_doubtful(schema: Schema, column: Column, given: Amount, *, usual_one: bool, any_one: bool) -> None:
    """Returns only if the number may be about the column, and is no year."""
    far = not plausible(column, given.value)
    if (any_one and (column.unit or far)) or (usual_one and far and not column.money and "price" not in column.words):
        raise Refused(f"{given.value} need not be about {column.name}.", f"Name the column: {column.name} over …")
    dated = any(other.dated for other in schema.columns)
    if dated and isinstance(given.value, int) and 1900 <= given.value <= 2100:
        raise Refused(f"{given.value} may be a year or a number of {column.name}.", "Name the column.")


def _first(measures: list[Column], schema: Schema, names: tuple[str, ...]) -> list[Column]:
    """The measures that go by one of the names."""
    found = {column.name: column for name in names for column in named(name, schema) if column in measures}
    return list(found.values())


def _priced(schema: Schema, given: Amount) -> Column:
    """The column of money: the only one in that currency, or else the price."""
    money = [column for column in schema.columns if column.measure and column.money and fits_unit(given, column)]
    if len(money) == 1:
        return money[0]
    found = {one.name: one for word in ("price", "amount") for _, one in best((word,), schema) if one.measure}
    return _one(list(found.values()), schema)


def _one(found: list[Column], schema: Schema) -> Column:
    if len(found) != 1:
        raise Refused("It is not said which column the number is about.", f"Name one of: {listed(schema.columns)}.")
    return found[0]
