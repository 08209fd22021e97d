"""Whether a figure can be worked out of a column, and is meant of it: the maximum price is none of an avg_price."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.grammar import Chart
from laneway.lanes.pipeline.planner.parts.pieces import NAMES
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import name_words

FIGURES = words("maximum minimum average mean median total")
"""Words of a name that say what its numbers were worked out as."""


def checked(do: str, column: Column) -> Column:
    """The column, if this can be worked out of it."""
    if do in ("mean", "sum", "median"):
        if column.kind == "numeric text":
            raise Refused(f"{column.name} holds numbers written as text.", "Turn them into numbers first.")
        if column.kind != "number":
            raise Refused(f"{column.name} does not hold numbers.", "Ask for a column of numbers.")
        if column.identifies:
            raise Refused(f"{column.name} names things; its numbers measure nothing.", "Ask for another column.")
    if do in ("min", "max") and not column.ordered:
        raise Refused(f"{column.name} has no lowest and highest that I can compare.", "Ask for numbers or dates.")
    return column


def sure(chart: Chart, do: str, column: Column) -> Column:
    """The column; Refused if another one bears the word for the figure itself: `maximum marks` beside max_marks."""
    word, others = _word(do), siblings(chart.schema, meant(chart, do, column))
    other = next((one for one in others if word in one.words), None)
    if other is not None and FIGURES.isdisjoint(column.words):
        raise Refused(
            f"`{word} {column.name}` may be {other.name} or be worked out of {column.name}.",
            f"Say `{do} of {column.name}`, or name {other.name}.",
        )
    return column


def meant(chart: Chart, do: str, column: Column) -> Column:
    """The column, unless it holds another figure that nobody named: the highest price is none of average prices.

    Unfit if another column holds what is asked for; Refused where a highest is asked for of minima, or the like.
    """
    own = FIGURES & set(column.words)
    if not own or len(own) == len(column.words) or not own.isdisjoint(_spoken(chart)):
        return column
    others = siblings(chart.schema, column)
    if any(_word(do) in other.words for other in others) and _word(do) not in own:
        raise Unfit
    ends = own & {"maximum", "minimum"} or (own if any(FIGURES & set(other.words) for other in others) else set())
    if ends - {_word(do)}:
        raise Refused(f"No column tells the {_word(do)}; there is {column.name}.", f"Say: {do} of {column.name}.")
    return column


def siblings(schema: Schema, column: Column) -> list[Column]:
    """The other measures of the same thing: max_price and price beside avg_price."""
    rest = set(column.words) - FIGURES
    others = [other for other in schema.columns if other is not column and other.measure]
    return [other for other in others if rest and rest <= set(other.words)]


def _word(do: str) -> str:
    return {"max": "maximum", "min": "minimum"}.get(do) or NAMES.get(do, do)


def _spoken(chart: Chart) -> set[str]:
    """The words of the request, abbreviations written out."""
    return {word for text in chart.texts if text for word in name_words(text)[0]}
