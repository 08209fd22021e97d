"""By which column rows or groups are chosen and put in order."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.meaning.ask import Ask
from laneway.lanes.pipeline.planner.meaning.conditions import mentioned, tested
from laneway.lanes.pipeline.planner.names.columns import listed, named
from laneway.lanes.pipeline.planner.parts.dates import looks_dated
from laneway.lanes.pipeline.planner.parts.degrees import BAD, agrees, directed
from laneway.lanes.pipeline.planner.parts.pieces import Degree, Figure, Key, Period, That
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.words.small import GENERIC

KINDS = {"average": "mean", "averages": "mean", "mean": "mean", "total": "sum", "totals": "sum", "sum": "sum",
          "count": "count", "counts": "count", "number": "count", "median": "median", "amount": "sum",
          "value": "sum"}  # fmt: skip


def best_column(ask: Ask, schema: Schema) -> tuple[Column, int]:
    """The column that decides who is best, and in which direction."""
    best = ask.best
    assert best is not None
    if isinstance(best.by, Figure):
        figure = matching(ask, best.by)
        return Column(figure.called(), "number"), best.sign
    if isinstance(best.by, Column):
        if ask.grouped and best.by not in ask.group:
            # Groups have no such column any more.
            raise Unfit
        return best.by, best.sign
    if isinstance(best.by, That):
        if any(one.do != KINDS.get(best.by.word, one.do) for one in ask.figures):
            # What was counted has no average.
            raise Unfit
        names = [one.called() for one in ask.figures] or [one.name for one in ask.made]
        if len(names) != 1:
            raise Unfit
        return Column(names[0], "number", nulls=1), best.sign
    if ask.grouped:
        raise Unfit
    made = [Column(one.name, "number", made=True) for one in ask.made]
    if len(made) == 1 and (
        sign := agrees(best.by, made[0], schema) or (-best.sign if best.by.dimension == "speed" else 0)
    ):
        return made[0], sign
    return directed(best.by, schema, ask.rows.word if ask.rows is not None else "")


def order_keys(ask: Ask, schema: Schema) -> list[tuple[Column, str]]:
    """The columns the answer is sorted by, each with its direction."""
    keys = [_grouped_key(ask, key, schema) if ask.grouped else _row_key(ask, key, schema) for key in ask.keys]
    if len({column.name for column, _ in keys}) < len(keys):
        raise Refused("One column is sorted by twice.", "Name it once.")
    return keys


def matching(ask: Ask, wanted: Figure) -> Figure:
    """The figure of the answer that is meant by one that is named again."""
    same = [one for one in ask.figures if one.do == wanted.do and _of(one) == _of(wanted)]
    if len(same) != 1:
        raise Unfit
    return same[0]


def _of(figure: Figure) -> str:
    return figure.column.name if figure.column is not None else figure.expression


def _made(figure: Figure) -> Column:
    return Column(figure.called(), "number")


def _grouped_key(ask: Ask, key: Key, schema: Schema) -> tuple[Column, str]:
    """A key of groups: what they are grouped by, or one of their figures."""
    match key.by:
        case Figure():
            return _made(matching(ask, key.by)), key.order
        case Column():
            return _of_column(ask, key.by), key.order
        case Period():
            found = [one for one in ask.group if isinstance(one, Period) and one.unit == key.by.unit]
            if len(found) != 1:
                raise Unfit
            return Column(key.by.unit, "text"), key.order
        case That() if key.by.word == "alphabet":
            texts = [one for one in ask.group if isinstance(one, Column) and one.kind == "text"]
            if len(texts) != 1:
                raise Unfit
            return texts[0], key.order
        case That():
            return _of_that(ask, key.by), key.order
    return _of_degree(ask, key.by, schema)


def _of_column(ask: Ask, column: Column) -> Column:
    if column.name in {one.name for one in ask.group if isinstance(one, Column)}:
        return column
    days = [one for one in ask.group if isinstance(one, Period) and one.unit == "day" and one.column == column]
    if days:
        return Column("day", "text")
    found = [one for one in ask.figures if one.column is not None and one.column.name == column.name]
    if len(found) == 1:
        return _made(found[0])
    if not ask.group:
        raise Unfit
    raise Refused(f"There is no {column.name} of a whole group.", "Order groups by what is worked out.")


def _of_that(ask: Ask, that: That) -> Column:
    kind = KINDS.get(that.word.removeprefix("that ").removeprefix("the "))
    found = [one for one in ask.figures if kind is None or one.do == kind]
    if len(ask.figures) == 1:
        found = ask.figures
    if len(found) != 1:
        raise Refused("It is not said by which figure to sort.", "Name it: sorted by total …")
    return _made(found[0])


def _of_degree(ask: Ask, degree: Degree, schema: Schema) -> tuple[Column, str]:
    """`priciest airline first`: the one figure that goes with the adjective."""
    periods = [one for one in ask.group if isinstance(one, Period) or one.dated]
    if degree.dimension == "time" and len(periods) == 1:
        name = periods[0].unit if isinstance(periods[0], Period) else periods[0].name
        return Column(name, "text"), "desc" if degree.sign > 0 else "asc"
    found: list[tuple[Figure, int]] = []
    for figure in ask.figures:
        sign = (
            agrees(degree, figure.column, schema)
            if figure.column is not None and figure.do != "count_distinct"
            else _plainly(degree)
        )
        if sign:
            found.append((figure, sign))
    if len(found) != 1:
        raise Refused(f"It is not plain what `{degree.said}` is about here.", "Say: highest first, or lowest first.")
    return _made(found[0][0]), "desc" if found[0][1] > 0 else "asc"


def _plainly(degree: Degree) -> int:
    """The direction of an adjective of sheer number or worth."""
    return (
        degree.sign
        if degree.dimension in ("size", "value", "price", "profit", "rating", "length", "shortness", "sheer")
        else 0
    )


def _row_key(ask: Ask, key: Key, schema: Schema) -> tuple[Column, str]:
    """A key of rows: a column, or what an adjective is about."""
    match key.by:
        case Column():
            return sortable(key.by), key.order
        case Degree() if key.said == "it" and len(ask.made) != 1:
            raise Unfit
        case Degree():
            return _by_adjective(ask, key.by, schema)
        case That() if key.by.word in KINDS and named(key.by.word, schema):
            # The amount is a column here.
            raise Unfit
        case That():
            return _implied(ask, key, schema), key.order
    raise Unfit


def _by_adjective(ask: Ask, degree: Degree, schema: Schema) -> tuple[Column, str]:
    """The column an adjective sorts by: the one that was chosen or worked out, else its own."""
    made = [Column(one.name, "number") for one in ask.made]
    if len(made) == 1 and degree.dimension in ("rating", "size", "price", "value", "length", "shortness", "speed"):
        backwards = degree.dimension == "speed" or (degree.dimension == "rating" and not BAD.isdisjoint(made[0].words))
        return made[0], "desc" if (degree.sign > 0) is not backwards else "asc"
    if ask.best is not None and not isinstance(ask.best.by, Figure):
        column, _ = best_column(ask, schema)
        sign = agrees(degree, column, schema) if column.measure or column.dated else 0
        if sign:
            return column, "desc" if sign > 0 else "asc"
    if ask.distinct is not None and ask.distinct.columns:
        raise Unfit
    if degree.dimension == "time":
        dates = [c for c in schema.columns if c.dated]
        asked = [c for c in dates if any(c.name in mentioned(test.where) for test in tested(ask))]
        if len(dates) > 1 and len(asked) == 1:
            # `opened in March, newest first`: the dates that were just spoken of.
            return asked[0], "desc" if degree.sign > 0 else "asc"
    column, sign = directed(degree, schema)
    return sortable(column), "desc" if sign > 0 else "asc"


def _implied(ask: Ask, key: Key, schema: Schema) -> Column:
    """The column of `highest first`: what was chosen by, worked out, compared or shown."""
    if len(ask.made) == 1 and key.by != That("alphabet"):
        return Column(ask.made[0].name, "number")
    if ask.best is not None and key.by != That("alphabet"):
        return best_column(ask, schema)[0]
    if key.said.split(" ")[0] in ("biggest", "largest", "smallest"):
        sizes = _sized(key, schema)
        if sizes is not None:
            return sizes
    shown = (
        [column for column, _ in ask.columns]
        or ([ask.things] if ask.things else [])
        or list(ask.distinct.columns if ask.distinct else ())
    )
    if key.by == That("alphabet"):
        texts = [column for column in shown if column.kind == "text"] or (
            [column for column in named("name", schema) if column.kind == "text"] if not shown else []
        )
        if len(texts) == 1:
            return sortable(texts[0])
        raise Refused("It is not said by which column to sort.", f"Name one: {listed(schema.columns)}.")
    if key.order == "asc" and len(shown) == 1 and shown[0].kind == "text":
        return sortable(shown[0])
    compared = {name for test in tested(ask) for name in mentioned(test.where)}
    measures = [column for column in schema.columns if column.name in compared and column.measure]
    if len(measures) == 1:
        return measures[0]
    numbers = [column for column in shown if column.measure]
    if len(numbers) == 1:
        return numbers[0]
    raise Refused("It is not said by which column to sort.", f"Name one: {listed(schema.columns)}.")


def _sized(key: Key, schema: Schema) -> Column | None:
    """The column of `smallest first`, if the table has one of sizes."""
    try:
        column, _ = directed(Degree(key.said.split(" ")[0], "size", 1), schema)
    except Refused:
        return None
    return column


def sortable(column: Column) -> Column:
    """The column, if its order is the one people mean."""
    if column.kind == "numeric text":
        raise Refused(f"{column.name} holds numbers written as text.", "Turn them into numbers first.")
    if column.kind in ("mixed", "nested", "bool", "empty", "date text"):
        raise Refused(f"{column.name} cannot be put in an order people mean.", "Sort by another column.")
    if column.kind == "text":
        if looks_dated(column):
            raise Refused(f"{column.name} holds dates I cannot compare.", "Write dates like 2026-03-31 in the table.")
        texts = [form for forms in column.values.values() for form in forms]
        if sorted(texts) != sorted(texts, key=str.casefold) and len({t.casefold() for t in texts}) == len(texts):
            raise Refused(
                f"{column.name} mixes capitals, which sort before all small letters.", "Sort by another column."
            )
    return column


def first_by(ask: Ask, schema: Schema) -> Column | None:
    """The dates by which the first of such rows would be the earliest; None if no one tells, or an order is said."""
    if ask.wanted is None or ask.best is not None or ask.keys or ask.sample or ask.grouped or ask.rows is None:
        return None
    if ask.rows.word in GENERIC:
        return None
    try:
        return directed(Degree("earliest", "time", -1), schema, ask.rows.word)[0]
    except Refused:
        return None
