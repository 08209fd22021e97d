"""Two columns that are the ends of one thing: of temp_max and temp_min, `maximum temperature` is the first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.names.columns import best
from laneway.lanes.pipeline.planner.parts.degrees import agrees
from laneway.lanes.pipeline.planner.parts.expressions import Expression, quoted
from laneway.lanes.pipeline.planner.parts.naming import phrase_at
from laneway.lanes.pipeline.planner.parts.pieces import Degree, Figure
from laneway.lanes.pipeline.planner.parts.suited import FIGURES
from laneway.lanes.pipeline.planner.refusal import Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema

RULES = Rules()
Ends = dict[str, Column]
"""The column of the highest (max) and that of the lowest (min)."""
_BEARING = {"max": "maximum", "min": "minimum"}
_LONGEST = 3


@RULES.finder("both_ends")
def ends(chart: Chart, at: int) -> Iterator[Edge]:
    """A noun that names a column of maxima and one of minima, and none by itself."""
    for size in range(1, _LONGEST + 1):
        phrase = phrase_at(chart, at, size)
        if phrase and (found := _ends(phrase, chart.schema)) is not None:
            yield Edge(at + size, found, 0.1)


def _ends(phrase: tuple[str, ...], schema: Schema) -> Ends | None:
    """Both columns that are called by the phrase; None if there are not both, or a third is called just so."""
    if set(_BEARING.values()) & set(phrase):
        return None
    found: Ends = {}
    for do, word in _BEARING.items():
        named = [column for _, column in best((word, *phrase), schema, lambda column: column.measure)]
        if len(named) != 1 or word not in named[0].words:
            return None
        found[do] = named[0]
    plain = [column for _, column in best(phrase, schema, lambda column: column.measure)]
    # The maximum temperature is none of an avg_temp, but may be worked out of a temp.
    return found if all(FIGURES & set(column.words) for column in plain) else None


@RULES.rule("figure", "<do> <both_ends> ; <superlative> <both_ends>", cost=0.1)
def of_ends(chart: Chart, said: str | Degree, found: Ends) -> Figure:
    """`the highest temperature per region`: the highest of the maxima."""
    do = said if isinstance(said, str) else _direction(chart, said, found)
    if do not in found:
        raise Unfit
    return Figure(do, found[do], said="" if isinstance(said, str) else "extreme")


def _direction(chart: Chart, degree: Degree, found: Ends) -> str:
    sign = agrees(degree, found["max"], chart.schema)
    return "max" if sign > 0 else "min" if sign < 0 else ""


@RULES.rule("figures", "<doing> <_and> <doing> <both_ends>", cost=0.1)
def both_ends(chart: Chart, one: str, other: str, found: Ends) -> tuple[Any, ...]:
    """`minimum and maximum temperature`: both columns, or what is worked out of them for each group."""
    if {one, other} != set(found):
        raise Unfit
    grouped = {"per", "each", "every"} & set(chart.texts)
    return tuple(Figure(do, found[do]) if grouped else found[do] for do in (one, other))


@RULES.rule("sum", "(difference|gap|spread) between (max|maximum) and (min|minimum) <both_ends>")
def between_ends(chart: Chart, found: Ends) -> Expression:
    """`the difference between the maximum and the minimum temperature`, of each row."""
    high, low = found["max"].name, found["min"].name
    return f"{quoted(high)} - {quoted(low)}", f"{high}_minus_{low}", "-"
