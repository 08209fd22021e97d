"""Figures and their groups: what is worked out though no figure was said, and for each of what."""

from __future__ import annotations

from dataclasses import replace

from laneway.lanes.pipeline.planner.meaning.ask import Ask
from laneway.lanes.pipeline.planner.meaning.conditions import mentioned, tested
from laneway.lanes.pipeline.planner.names.owners import names_rows, shared
from laneway.lanes.pipeline.planner.parts.expressions import as_expression
from laneway.lanes.pipeline.planner.parts.pieces import Figure, Having, Period, Test, compared
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema, entity_word
from laneway.lanes.pipeline.planner.spelling import name_words
from laneway.lanes.pipeline.planner.words.naming import FLOWS, HAPPENINGS

ABOVE = frozenset(("manager", "supervisor", "boss", "parent", "mentor"))


def groups(ask: Ask, schema: Schema) -> None:
    """The figures of the clause, and what they are worked out for each of; Refused or Unfit if that is not plain."""
    _implied(ask, schema)
    if ask.unit and not any(one.column is not None and one.column.unit == ask.unit for one in ask.figures):
        raise Unfit
    if not ask.figures:
        if ask.having:
            raise Unfit
        return
    _refuse_lone(ask)
    _keyed(ask)
    _refuse_keys(ask, schema)
    _refuse_shares(ask)
    if ask.by_name and (numbers := [key.name for key in ask.group if isinstance(key, Column) and key.identifies]):
        raise Refused(f"{numbers[0]} is no name.", f"Say: {numbers[0]}, or join the table that has the names.")
    if ask.total and ask.things is not None and not ask.having and numbered(ask):
        # More than 5 days in total are no 5 days in one row.
        raise Unfit
    ask.columns, ask.shown = [], []


def _implied(ask: Ask, schema: Schema) -> None:
    """Where groups are asked for and no figure, the rows are counted, or what flows is summed up."""
    if ask.figures or not ask.group:
        return
    chosen = ask.best or ask.having or ask.wanted or ask.distinct or ask.things
    if not (chosen or ask.made or ask.columns or ask.dropped) and ask.rows is not None and ask.rows.plural:
        # Orders per month are so many of them.
        if shared(ask.rows.word, schema):
            raise Refused(f"How many may mean rows or different {ask.rows.word}s.", "Say: number of rows per …")
        ask.figures = [Figure("count")]
        return
    counted = len(ask.columns) == 1 and not HAPPENINGS.isdisjoint(ask.columns[0][0].words)
    flows = ask.total or counted or any(isinstance(key, Period) for key in ask.group)
    if ask.best is None and len(ask.columns) == 1 and flows:
        _flow(ask)
    elif ask.best is None and ask.made and not ask.columns and ask.shown:
        _summed(ask)


def _refuse_lone(ask: Ask) -> None:
    """Returns only if the figures go with the rest of what is said."""
    grouped = bool(ask.group or ask.things)
    if (ask.made and ask.shown and not grouped) or _unused(ask):
        raise Unfit
    if ask.each and not grouped and any(one.do not in ("mean", "median") for one in ask.figures):
        # The average per order is that of all; the total of each order is none of all orders.
        raise Unfit
    if ask.wanted is not None and not (grouped or ask.columns):
        raise Unfit
    distinct = [figure.column for figure in ask.figures if figure.do == "count_distinct" and figure.column is not None]
    if any(ABOVE & set(column.words) for column in distinct) and (ask.tests or ask.before):
        raise Refused("It is not plain whether that holds for those who are named, or for their rows.", "Ask for rows.")
    if any(figure.said == "own total" for figure in ask.figures) and not (grouped or ask.columns):
        raise Refused("`total` may be the column or a sum over rows.", "Say: sum of total, or: only total.")


def _unused(ask: Ask) -> bool:
    """Whether something is worked out of each row that no figure needs; a ratio of sums is told as one of rows."""
    used = {figure.column.name for figure in ask.figures if figure.column is not None}
    used |= {name for test in tested(ask) for name in mentioned(test.where)}
    ratios = {
        " / ".join(part.column.name for part in figure.parts if part.column is not None)
        for figure in ask.figures
        if figure.formula
    }
    return any(not (made.hidden or made.name in used or made.expression in ratios) for made in ask.made)


def _keyed(ask: Ask) -> None:
    """Things and columns that are named beside a figure are what it is worked out for each of."""
    keys = {key.name for key in ask.group if isinstance(key, Column)}
    asked = ask.things is not None and not ask.plural and not ask.things.unique
    if asked and not ask.group and any(one.said in ("extreme", "degree") for one in ask.figures):
        raise Refused("It is not said which row of each decides, or whether all do.", "Say: the highest total …")
    if ask.things is not None:
        if ask.group and ask.things.name not in keys:
            raise Unfit
        ask.group = ask.group or [ask.things]
        if ask.things.nulls:
            # Nobody is no author.
            ask.before.append(Test(compared(ask.things.name, "not_null")))
        keys = {key.name for key in ask.group if isinstance(key, Column)}
    extra = [column for column, _ in ask.columns if column.name not in keys]
    if extra and (ask.group or any(one.unique or (one.measure and not one.classes) for one in extra)):
        raise Unfit
    ask.group = ask.group or list(extra)


def _refuse_keys(ask: Ask, schema: Schema) -> None:
    """Returns only if groups of several rows are meant, and none of a figure itself."""
    alone = [key for key in ask.group if isinstance(key, Column) and key.unique]
    if ask.having and alone:
        raise Unfit
    of_rows = len(ask.group) == len(alone) == 1 and names_rows(entity_word(alone[0]), schema)
    if of_rows and any(one.do == "sum" for one in ask.figures):
        # The total price of each booking is no sum over bookings.
        raise Unfit
    if any(figure.column is key for figure in ask.figures for key in ask.group):
        raise Unfit
    if any(one.said == "degree" for one in ask.figures) and not ask.group:
        raise Refused("That may mean a row or a value.", "Say: the row with the highest …, or: max of …")


def _refuse_shares(ask: Ask) -> None:
    """Returns only if percent is said of a share, and a share is one of groups."""
    shares = [one for one in ask.figures if one.share or one.said == "rate"]
    shares += [one for one in ask.figures if one.column is not None and one.column.unit == "%"]
    if (ask.percent and not shares) or (any(one.share for one in ask.figures) and not ask.group):
        raise Unfit


def _flow(ask: Ask) -> None:
    """`shipping cost per month`: money that flows is summed up over a time."""
    column = ask.columns[0][0]
    if not column.measure or ((FLOWS | HAPPENINGS).isdisjoint(column.words) and not ask.total):
        raise Refused(
            f"It is not said what is worked out of {column.name}.", f"Say: total {column.name}, or: average …"
        )
    ask.figures, ask.columns, ask.shown = [Figure("sum", column)], [], []


def _summed(ask: Ask) -> None:
    """What is worked out of each row is summed up where groups are asked for: `free seats (…) per department`."""
    if any(" / " in made.expression for made in ask.made):
        raise Refused(
            "A ratio of groups may be that of the sums or the average of the rows.", "Say: total … divided by total …"
        )
    if any(_between_ends(made.expression) for made in ask.made):
        raise Refused("Such differences may be those of the rows or that of the group.", "Say: average difference …")
    ask.figures = [Figure("sum", expression=made.expression, name=made.name) for made in ask.made]
    ask.made, ask.shown = [], []


def _between_ends(expression: str) -> bool:
    """Whether a lowest is taken from a highest: nobody adds up such differences unasked."""
    high, minus, low = expression.partition(" - ")
    return bool(minus) and "maximum" in name_words(high)[0] and "minimum" in name_words(low)[0]


def numbered(ask: Ask) -> bool:
    """Whether a row is compared with a number."""
    values = [test.where.get("value") for test in (*ask.before, *(test for _, test in ask.tests))]
    return any(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def only_some(ask: Ask) -> None:
    """A figure of some rows only: alone, the others are left out; beside others, they count as nothing."""
    if not any(figure.only for figure in ask.figures):
        return
    if len(ask.figures) == 1 or len({repr(figure.only) for figure in ask.figures}) == 1:
        test = ask.figures[0].only
        assert test is not None
        ask.before.append(test)
        ask.figures = [replace(figure, only=None) for figure in ask.figures]
        ask.having = [_plain(one) for one in ask.having]
        if ask.best is not None and isinstance(ask.best.by, Figure):
            ask.best = replace(ask.best, by=replace(ask.best.by, only=None))
        return
    if any(figure.only and figure.do != "count" for figure in ask.figures):
        raise Unfit
    ask.figures = [_conditional(figure) for figure in ask.figures]


def _plain(having: Having) -> Having:
    return replace(having, figure=replace(having.figure, only=None)) if isinstance(having.figure, Figure) else having


def _conditional(figure: Figure) -> Figure:
    if figure.only is None:
        return figure
    expression = f"1 if {as_expression(figure.only.where)} else 0"
    return Figure("sum", expression=expression, name=figure.name or "count_such")
