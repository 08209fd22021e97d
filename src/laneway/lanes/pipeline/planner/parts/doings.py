"""Which rows come first by what was done: `rented most often`, `most recently hired`, `the last 3 tickets opened`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.likeness import related
from laneway.lanes.pipeline.planner.names.nouns import Rows
from laneway.lanes.pipeline.planner.parts.pieces import Best, Degree, Figure, Wanted
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import participle, plural

RULES = Rules()


@RULES.rule("part", "[<_be>|gets|got] <_rowverb> (most often|most frequently)", cost=-0.1)
def done_most_often(chart: Chart) -> Best:
    """`which car model is rented most often`, of rentals."""
    return Best(Figure("count"), 1, linked=True)


@RULES.rule("part", "[<_be>|gets|got] <_rowverb> (least often|least frequently)", cost=-0.1)
def done_least_often(chart: Chart) -> Best:
    return Best(Figure("count"), -1, linked=True)


@RULES.rule("part", "<event> (most recently|last|latest)", cost=-0.1)
def done_last(chart: Chart, column: Column) -> Best:
    """`who was hired most recently`."""
    return Best(column, 1, linked=True, said="most recently")


@RULES.rule("part", "<event> (first|earliest)", cost=-0.1)
def done_first(chart: Chart, column: Column) -> Best:
    return Best(column, -1, linked=True, said="first")


@RULES.rule("part", "(most recently|last|latest|newest) <event>", cost=0.05)
def most_recently(chart: Chart, column: Column) -> Best:
    """`most recently hired`."""
    return Best(column, 1, said="most recently")


RULES.words("end", {"last": 1, "latest": 1, "most recent": 1, "first": -1, "earliest": -1})


@RULES.rule("part", "<end> <count> <rows> [that|which] [were|was|have been|to be] <done>", cost=-0.3)
def last_done(chart: Chart, sign: int, number: int, noun: Rows, column: Column) -> Any:
    """`the last 3 tickets opened`: the verb says by which dates they are the last."""
    return Wanted(number, "top"), Best(column, sign, said="most recently"), noun


@RULES.finder("done")
def done(chart: Chart, at: int) -> Iterator[Edge]:
    """An event as a participle: opened, and not open, which may be how things are."""
    if participle(chart.text(at)):
        yield from chart.edges("event", at)


@RULES.rule("part", "(first|earliest) <event>", cost=0.05)
def first_done(chart: Chart, column: Column) -> Best:
    return Best(column, -1, said="first")


@RULES.rule("part", "[<_be>|gets|got|has been] <deed> <manyest> (times|often|frequently)", cost=-0.1)
def done_many_times(chart: Chart, verb: str, sign: int) -> Best:
    """`which loan was renewed the most times`: the verb's own column counts that."""
    found = [column for column in chart.schema.columns if column.measure and related(verb, column)]
    if len(found) != 1 or not any(map(plural, found[0].parts)) or found[0].unit:
        raise Unfit
    return Best(found[0], sign, linked=True, said=verb)


@RULES.rule("part", "<superlative> <deed>", cost=0.1)
def by_participle(chart: Chart, degree: Degree, verb: str) -> Best:
    """`most downloaded`, `most borrowed`: the verb's own column decides."""
    found = [column for column in chart.schema.columns if column.measure and related(verb, column)]
    if len(found) != 1 or degree.dimension not in ("sheer", "rating") or plural(verb):
        # The highest fines are no rows that were fined.
        raise Unfit
    return Best(found[0], degree.sign, said=verb)
