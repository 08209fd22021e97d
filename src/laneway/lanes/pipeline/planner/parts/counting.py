"""How many: `number of orders`, `how many express shipments`, `count of no-shows`, `how many different owners`."""

from __future__ import annotations

from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Rules
from laneway.lanes.pipeline.planner.names.columns import best
from laneway.lanes.pipeline.planner.names.nouns import Rows, Things
from laneway.lanes.pipeline.planner.names.owners import row_nouns, shared
from laneway.lanes.pipeline.planner.parts.naming import Held
from laneway.lanes.pipeline.planner.parts.pieces import Figure, Group, Listing, Test, compared
from laneway.lanes.pipeline.planner.parts.texts import chosen, equals
from laneway.lanes.pipeline.planner.phrasing import phrases
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column, entity_word
from laneway.lanes.pipeline.planner.spelling import stem
from laneway.lanes.pipeline.planner.words.kinds import DOERS, PERSONS
from laneway.lanes.pipeline.planner.words.naming import MEASURES

RULES = Rules()
RULES.words(
    "many",
    phrases("number of | count of | total number of | total count of | counts of | numbers of | how many | no of |"
            " how many of |"
            " number | count how many | quantity of | count | tally | count up | total count | total count of"),
)  # fmt: skip
RULES.words("different", ["different", "distinct", "unique", "separate", "individual"])


@RULES.rule(
    "figure",
    "<_many> [all] <counted> ; <_many> <counted> (each|each one|they|each of them|it) (has|have|had|got|<_deed>)",
)
def counted(chart: Chart, what: Figure) -> Figure:
    """`number of orders`, `how many shipped orders`, `count the tickets`."""
    return what


@RULES.rule(
    "figure",
    "how many of (them|these|those) [<_be>|have|had|has|got] <test> ; number of (them|those) [<_who>] [<_be>] <test> ;"
    " how many (are|were) <test>",
    cost=-0.2,
)
def of_them(chart: Chart, test: Test) -> Figure:
    """`how many of them are qualified`: beside how many there are."""
    if test.bare or test.excepts or test.first:
        raise Unfit
    return Figure("count", only=test, said="such")


@RULES.rule(
    "part",
    "how (often|many times) (was|were|is|are|did|does|do|has|have) <_each> <keys> [been] [<_deed>|<_occur>]",
    cost=-0.3,
)
def how_often(chart: Chart, keys: Any) -> Any:
    """`how often was each species seen`."""
    return Listing((Figure("count"),)), Group(keys)


RULES.words("occur", ["appear", "occur", "come", "happen", "show"])


@RULES.rule("figure", "count ; counts", cost=0.4)
def mere_count(chart: Chart) -> Figure:
    """`by vet, count`."""
    return Figure("count")


RULES.words(
    "breakdown",
    phrases("breakdown of | split of | distribution of | a breakdown of | a split of | a distribution of | tally of"),
)


@RULES.rule("figure", "<_breakdown> [all] <counted>")
def broken_down(chart: Chart, what: Figure) -> Figure:
    """`breakdown of cases by channel`."""
    if what.do != "count":
        raise Unfit
    return what


@RULES.rule("figure", "headcount", cost=0.1)
def headcount(chart: Chart) -> Figure:
    """How many people there are, where each row is one."""
    measured = any(column.measure for _, column in best(("headcount",), chart.schema))
    if measured or not any(noun in PERSONS for noun in row_nouns(chart.schema)):
        raise Unfit
    return Figure("count", name="headcount")


@RULES.rule("figure", "<_rows> count ; <_rows> counts")
def row_count(chart: Chart) -> Figure:
    """`ticket count`."""
    return Figure("count")


@RULES.rule("figure", "total <counted> ; overall <counted>", cost=0.2)
def total_rows(chart: Chart, what: Figure) -> Figure:
    """`total orders`: how many rows, if they are no amounts themselves."""
    if what.do != "count" or what.only is not None or what.said == "things":
        raise Unfit
    if what.said in MEASURES:
        raise Refused(f"`total {what.said}s` may be a sum or a number of rows.", "Say: sum of …, or: how many rows.")
    return what


@RULES.rule("counted", "<rows> ; such <rows>")
def rows(chart: Chart, noun: Rows) -> Figure:
    hint = "Say: how many rows, or how many different …"
    if noun.word in PERSONS | {"person"} and (not noun.told or _somebody_again(chart)):
        raise Refused("It is not plain whether rows or different people are counted.", hint)
    if shared(noun.word, chart.schema):
        raise Refused(f"How many may mean rows or different {noun.word}s.", hint)
    named = [column for _, column in best((noun.word,), chart.schema) if column.kind == "text"]
    repeated = [column for column in named if column.words == (noun.word,) and not column.unique]
    if repeated:
        raise Refused(f"How many may mean rows or different {repeated[0].name}.", hint)
    return Figure("count", said=noun.word)


def _somebody_again(chart: Chart) -> bool:
    """Whether the rows are nobody, and name somebody who may come again: one nurse has many shifts."""
    named = (one for one in chart.schema.columns if one.kind == "text" and not one.unique)
    return row_nouns(chart.schema).isdisjoint(PERSONS) and any(entity_word(one) in PERSONS for one in named)


@RULES.rule("counted", "<test> <rows> ; <test> <test> <rows>", cost=0.1)
def such_rows(chart: Chart, *said: Any) -> Figure:
    """`number of express shipments`."""
    *tests, noun = said
    if not noun.plural or any(test.bare or test.excepts for test in tests):
        raise Unfit
    if shared(noun.word, chart.schema):
        raise Refused(
            f"How many may mean rows or different {noun.word}s.", "Say: how many rows, or how many different …"
        )
    only = tests[0] if len(tests) == 1 else Test({"and": [test.where for test in tests]})
    return Figure("count", only=only, said=noun.word)


@RULES.rule("counted", "<test>", cost=0.5)
def such(chart: Chart, test: Test) -> Figure:
    """`number fixed`, `how many refundable`."""
    value = test.where.get("value")
    if test.bare or test.excepts or (isinstance(value, int | float) and not isinstance(value, bool)):
        raise Unfit
    return Figure("count", only=test, said="such")


@RULES.rule("counted", "<values>", cost=0.4)
def holding(chart: Chart, held: Held) -> Figure:
    """`how many Lenovo`."""
    if any(stem(one.said.split()[-1]) in PERSONS for one in held.found) and _somebody_again(chart):
        raise Refused("It is not plain whether rows or different people are counted.", "Say: how many rows with …")
    return Figure("count", only=equals(chosen(held, "", chart.schema), held.found), said="values")


@RULES.rule("counted", "<truth> ; <verbal>", cost=0.3)
def true_ones(chart: Chart, column: Column) -> Figure:
    """`count of no-shows`."""
    return Figure("count", only=Test(compared(column.name, "==", True)), said=column.name)


@RULES.rule("counted", "<things>", cost=0.1)
def things(chart: Chart, noun: Things) -> Figure:
    """`number of departments`: how many different ones."""
    if noun.column.measure:
        # The number of nights is how many there are, in the column.
        raise Unfit
    if noun.column.unique:
        return Figure("count", said="things")
    if any("quantity" in column.words and column.measure for column in chart.schema.columns):
        raise Refused(
            f"The number of {noun.column.name} may be that of different ones, or all together.", "Say: different …"
        )
    return Figure("count_distinct", noun.column, said="things")


@RULES.rule("counted", "<_different> <things>")
def different_things(chart: Chart, noun: Things) -> Figure:
    """`how many different owners`."""
    return Figure("count_distinct", noun.column, said="different")


@RULES.rule("counted", "<_different> (people|persons|individuals)", cost=0.1)
def different_people(chart: Chart) -> Figure:
    """`how many different people`: of the one column that names somebody."""
    named = [one for one in chart.schema.columns if one.kind == "text" and entity_word(one) in PERSONS | DOERS]
    if len(named) != 1:
        raise Unfit
    return Figure("count_distinct", named[0], said="different")


@RULES.rule("figure", "<_different> <things> count")
def different_count(chart: Chart, noun: Things) -> Figure:
    return different_things(chart, noun)


@RULES.rule("figure", "<_many> <_different> <column>", cost=0.1)
def different_cells(chart: Chart, column: Column) -> Figure:
    if column.kind in ("nested", "mixed", "bool"):
        raise Unfit
    return Figure("count_distinct", column, said="different")
