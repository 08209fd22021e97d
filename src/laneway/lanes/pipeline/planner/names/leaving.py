"""What a phrase may leave out of a column's name: a unit, `qty`, `date`, a modifier that nobody says."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.names.marks import Mark
from laneway.lanes.pipeline.planner.names.owners import heads, names_rows
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import participle
from laneway.lanes.pipeline.planner.words.naming import DATED, EVENTS, MODIFIERS_THAT_MATTER, NAMING

_PRICES = {"unit": 0.05, "flag": 0.05, "stop": 0.0, "period": 0.1, "stat": 0.2, "tail": 0.2, "weak": 0.25, "place": 0.2}
_NAMED, _DATED = 0.1, 0.3
"""What it costs to leave out that a name is a name, and that a date is one."""
_PLAINER = words("gross net estimated expected")
_SORTS = words("type kind variety class group category style")
"""Behind these stands what sort of thing it is, where a table tells more of the thing than that."""

_MIDDLES = words("average mean median total")
_ENDS = words("maximum minimum")
_RHYTHMS = words("day week month year")
_PRICED = words("price amount cost")
_OF_PRICES = words("retail wholesale purchase net gross")
"""Words that stand for a whole price where there are several."""


def missing(taken: set[int], column: Column, schema: Schema) -> float | None:
    """What the words of the name cost that the phrase leaves out; None if one of them matters."""
    if column.made:
        return 0.1
    last, cost = max(taken), 0.0
    for place, mark in enumerate(column.marks):
        if place in taken:
            continue
        if mark.word in _MIDDLES and _between(mark, column, schema):
            return None
        price = _behind(mark, column, schema) if place > last else _before(mark, column, schema)
        if price is None:
            return None
        cost += price
    return cost


def _between(mark: Mark, column: Column, schema: Schema) -> bool:
    """Whether another column tells an end of the same thing: beside a max_temp, the temperature is no avg_temp."""
    own = set(column.words) - {mark.word}
    return bool(own) and any(own <= set(other.words) and _ENDS & set(other.words) for other in schema.columns)


def _behind(mark: Mark, column: Column, schema: Schema) -> float | None:
    """A word behind the last one that was said: it may be missing where it only tells the kind of thing."""
    if mark.role in ("tail", "stat") and mark.word in DATED:
        return _DATED if column.dated else None
    if mark.role == "tail" and mark.word in NAMING:
        return _NAMED
    if mark.role in ("stat", "tail") and mark.word in MODIFIERS_THAT_MATTER:
        return None
    if mark.role == "tail" and mark.word in _SORTS and heads(column.words[0], schema):
        # A car is no car_class where there is a car_model, too.
        return None
    if mark.role in _PRICES:
        return _PRICES[mark.role]
    if mark.word in ("for", "against"):
        # Both are goals, where nobody says whose.
        return 0.2
    if mark.word in _RHYTHMS and column.measure and mark is column.marks[-1]:
        # Training hours are those of a week, as the name says.
        return 0.15
    if mark.word in _PRICED and column.words[0] in _OF_PRICES and _priced_else(column, schema):
        return 0.3
    if mark.word in ("length", "duration") and column.unit and column.measure:
        # The shortest set is that of the shortest set_length_min.
        return 0.45
    if mark.word in ("maximum", "minimum", "peak"):
        return None if _sibling(column, schema) else 0.4
    if column.kind == "bool" and mark.word in ("flag", "indicator", "ind", "yn", "service", "access", "option"):
        return 0.1
    return 0.4 if participle(mark.word) or (mark.word in EVENTS and column.marks[0].role == "stat") else None


def _priced_else(column: Column, schema: Schema) -> bool:
    """Whether there is another price, so that `retail` alone tells which is meant."""
    others = [other for other in schema.columns if other is not column and other.measure]
    return any(not _PRICED.isdisjoint(other.words) or other.money for other in others)


def _sibling(column: Column, schema: Schema, but: str = "") -> bool:
    """Whether another column is about the same thing, at its other end."""
    own = set(column.words) - {"maximum", "minimum", "peak", "average", but}
    return any(other is not column and own and own <= set(other.words) for other in schema.columns)


def _before(mark: Mark, column: Column, schema: Schema) -> float | None:
    """A word before one that was said: a modifier."""
    if (mark.word in MODIFIERS_THAT_MATTER or mark.raw in MODIFIERS_THAT_MATTER) and not column.made:
        # The salary is the gross one, and the patch date that of the last patch, where there is no other.
        plainer = mark.word in _PLAINER or (mark.word == "last" and column.kind == "date")
        return 0.4 if plainer and not _sibling(column, schema, mark.word) else None
    if mark.role in _PRICES:
        return _PRICES[mark.role]
    return 0.1 if names_rows(mark.word, schema) else 0.6
