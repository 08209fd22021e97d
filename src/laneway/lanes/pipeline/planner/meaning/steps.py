"""The steps that a clause comes to, in the order in which they are meant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from laneway.lanes.pipeline.planner.meaning.ask import Ask
from laneway.lanes.pipeline.planner.meaning.conditions import mentioned, tested, where_of
from laneway.lanes.pipeline.planner.meaning.ordering import KINDS, best_column, matching, order_keys
from laneway.lanes.pipeline.planner.names.likeness import related
from laneway.lanes.pipeline.planner.parts.bounds import Bound
from laneway.lanes.pipeline.planner.parts.expressions import quoted
from laneway.lanes.pipeline.planner.parts.pieces import Figure, Having, Period, Step, That, compared
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema

_PERIODS = {
    "day": "left({}, 10)",
    "month": "left({}, 7)",
    "year": "year({})",
    "quarter": "concat(year({0}), '-Q', quarter({0}))",
    "weekday": "weekday({})",
}


def steps_of(ask: Ask, schema: Schema) -> tuple[list[Step], Schema]:
    """The steps of the clause, and the table as it is after them."""
    steps: list[Step] = list(ask.joins)
    helpers = _rows(ask, schema, steps)
    kept = [column.name for column in schema.columns] + [made.name for made in ask.made if not made.hidden]
    after = schema.with_columns([*schema.columns, *(Column(made.name, "number", made=True) for made in ask.made)])
    if ask.pivot is not None:
        steps.append(_pivot(ask))
        return steps, after
    if ask.grouped:
        after = _grouped(ask, schema, steps)
        kept = [column.name for column in after.columns]
        helpers = []
    if ask.summary is not None:
        steps.append(
            {"do": "summarize"} | ({"columns": [c.name for c in ask.summary.columns]} if ask.summary.columns else {})
        )
    _ordered(ask, schema, steps)
    _distinct(ask, steps)
    _shown(ask, kept, helpers, steps)
    return steps, _after(ask, after)


def _rows(ask: Ask, schema: Schema, steps: list[Step]) -> list[str]:
    """Which rows count, and what is worked out of each; the helping columns that were made on the way."""
    where = where_of(ask)
    first = [step for test in tested(ask) for step in test.first]
    if len(tested(ask)) > 1 and any(test.first and not test.whole for test in tested(ask)):
        raise Refused(
            "It is not plain whether the average is that of all rows or of those that are left.", "Say: of all."
        )
    steps += first
    made = [{"do": "compute", "column": one.name, "expression": _rounded(ask, one.expression)} for one in ask.made]
    looks = where is not None and not {one.name for one in ask.made}.isdisjoint(mentioned(where))
    filters: list[Step] = [{"do": "filter", "where": where}] if where is not None else []
    steps += made + filters if looks else filters + made
    hidden = [one.name for one in ask.made if one.hidden]
    return hidden + [name for step in first for name in step.get("values", {step.get("column"): None})]


def _rounded(ask: Ask, expression: str) -> str:
    return expression if ask.places is None or ask.grouped else f"round({expression}, {ask.places})"


def _pivot(ask: Ask) -> Step:
    pivot = ask.pivot
    assert pivot is not None
    values = {"do": pivot.cell.do} | ({"column": pivot.cell.column.name} if pivot.cell.column else {})
    if pivot.cell.formula or pivot.cell.expression or pivot.cell.only:
        raise Unfit
    return {"do": "pivot", "index": [pivot.rows.name], "columns": pivot.columns.name, "values": values}


def _grouped(ask: Ask, schema: Schema, steps: list[Step]) -> Schema:
    """One row for each group, with its figures; and only the groups that are asked for."""
    by = [_key(key, schema, steps, ask.rows.word if ask.rows is not None else "") for key in ask.group]
    values: dict[str, dict[str, Any]] = {}
    for figure in ask.figures:
        for part in figure.parts or (figure,):
            _aggregate(part, figure, by, values, steps)
    steps.append({"do": "group_by", "by": [column.name for column in by], "values": values})
    for figure in ask.figures:
        _formula(figure, steps)
        if ask.places is not None and (figure.formula or figure.share or figure.do in ("mean", "median", "sum")):
            name = figure.called()
            steps.append({"do": "compute", "column": name, "expression": f"round({quoted(name)}, {ask.places})"})
    for having in ask.having:
        steps.append({"do": "filter", "where": _having(ask, having)})
    shown = [figure for figure in ask.figures if figure not in ask.unshown]
    names = [*(column.name for column in by), *(figure.called() for figure in shown)]
    if set(names) != {*(column.name for column in by), *values}:
        steps.append({"do": "select", "columns": names})
    return schema.with_columns([*by, *(Column(figure.called(), "number") for figure in shown)])


def _key(key: Column | Period, schema: Schema, steps: list[Step], noun: str) -> Column:
    if isinstance(key, Column):
        return key
    dates = [key.column] if key.column is not None else [one for one in schema.columns if one.kind == "date"]
    if len(dates) > 1:
        # Signups per year are of the year of the signup.
        dates = [one for one in dates if noun and related(noun, one)] or dates
    if len(dates) != 1:
        raise Refused(f"It is not plain which {key.unit} is meant.", f"Name it: {key.unit} of …")
    steps.append({"do": "compute", "column": key.unit, "expression": _PERIODS[key.unit].format(quoted(dates[0].name))})
    return Column(key.unit, "number" if key.unit in ("year", "weekday") else "text")


def _aggregate(
    part: Figure, figure: Figure, by: list[Column], values: dict[str, dict[str, Any]], steps: list[Step]
) -> None:
    """One aggregate under a name of its own; what it is worked out of is computed first."""
    name = part.called() if part is not figure else figure.called()
    if figure.share:
        name = _own(figure)
    if name in values and part is not figure:
        return
    if name in values or name in {column.name for column in by}:
        raise Refused(f"Two columns of the answer would be called {name}.", "Ask for them one after the other.")
    if part.expression:
        row = f"{name}_row"
        steps.append({"do": "compute", "column": row, "expression": part.expression})
        values[name] = {"do": part.do, "column": row}
    else:
        values[name] = {"do": part.do} | ({"column": part.column.name} if part.column is not None else {})


def _own(figure: Figure) -> str:
    """What a figure is called before it is made a share."""
    return replace(figure, name="", share=False).called()


def _formula(figure: Figure, steps: list[Step]) -> None:
    """What is worked out of the figures of a group, or of a group's part of the whole."""
    if figure.formula:
        text = figure.formula.format(*(quoted(part.called()) for part in figure.parts))
        steps.append({"do": "compute", "column": figure.called(), "expression": text})
    if figure.share:
        total = _own(figure)
        steps.append({"do": "beside", "by": [], "values": {"whole": {"do": "sum", "column": total}}})
        steps.append({"do": "compute", "column": figure.called(), "expression": f"100 * {quoted(total)} / whole"})


def _having(ask: Ask, having: Having) -> dict[str, Any]:
    if isinstance(having.figure, That):
        figure, bound = ask.figures[0], having.value
        if KINDS.get(having.figure.word, figure.do) != figure.do:
            # What was counted is no total.
            raise Unfit
        assert isinstance(bound, Bound)
        return compared(figure.called(), having.by, bound.value(figure.column))
    return compared(matching(ask, having.figure).called(), having.by, having.value)


def _ordered(ask: Ask, schema: Schema, steps: list[Step]) -> None:
    """Top, sort and limit in the order in which they are meant."""
    keys = order_keys(ask, schema)
    if ask.best is not None:
        column, sign = best_column(ask, schema)
        _chosen(ask, column, "desc" if sign > 0 else "asc", steps)
    if keys:
        by = [{"column": column.name, "order": order, "nulls": "last"} for column, order in keys]
        steps.append({"do": "sort", "by": by})
    if ask.sample:
        steps.append({"do": "sample", "count": ask.wanted or 1, "seed": 0})
    elif ask.best is None and (ask.wanted is not None or ask.offset):
        steps.append({"do": "limit", "count": ask.wanted if ask.wanted is not None else 10**9, "offset": ask.offset})


def _chosen(ask: Ask, column: Column, order: str, steps: list[Step]) -> None:
    if column.nulls:
        steps.append({"do": "filter", "where": compared(column.name, "not_null")})
    by = {"column": column.name, "order": order, "nulls": "last"}
    if ask.place is not None:
        steps.append({"do": "sort", "by": [by]})
        steps.append({"do": "limit", "count": ask.wanted or 1, "offset": ask.place - 1})
    elif ask.group and not ask.grouped:
        names = [key.name for key in ask.group if isinstance(key, Column)]
        if len(names) < len(ask.group):
            raise Unfit
        steps.append({"do": "sort", "by": [by]})
        steps.append({"do": "distinct", "columns": names})
    elif ask.wanted is None:
        steps.append({"do": "sort", "by": [by]})
    else:
        ties = {"ties": "all"} if ask.ties else {}
        steps.append({"do": "top_k", "k": ask.wanted, "by": column.name, "order": order} | ties)


def _distinct(ask: Ask, steps: list[Step]) -> None:
    if ask.distinct is None:
        return
    if ask.distinct.whole:
        if ask.keys or ask.limited or ask.best is not None:
            # The first before or after sorting are two things.
            raise Refused("It is not plain which row of each is the first.", "Say: the highest … of each.")
        steps.append({"do": "distinct", "columns": [column.name for column in ask.distinct.columns]})
    elif ask.distinct.columns:
        names = [column.name for column in ask.distinct.columns]
        place = next((n for n, one in enumerate(steps) if one["do"] in ("sort", "limit", "top_k")), len(steps))
        steps[place:place] = [{"do": "select", "columns": names}, {"do": "distinct"}]
    elif not ask.columns:
        steps.append({"do": "distinct"})


def _shown(ask: Ask, kept: list[str], helpers: list[str], steps: list[Step]) -> None:
    """Which columns the answer has, and under which names."""
    if ask.dropped:
        gone = {column.name for column in ask.dropped}
        left = [name for name in kept if name not in gone]
        if not left:
            raise Refused("No column would be left.", "Leave out fewer.")
        steps.append({"do": "select", "columns": left})
    elif ask.shown and not ask.grouped:
        _select(ask, steps)
    elif helpers:
        steps.append({"do": "select", "columns": kept})
    if ask.distinct is not None and not ask.distinct.columns and ask.columns:
        steps.append({"do": "distinct"})
    if ask.renamed:
        steps.append({"do": "rename", "columns": dict(ask.renamed)})


def _select(ask: Ask, steps: list[Step]) -> None:
    renamed = {column.name: name for column, name in ask.columns if column.name != name}
    back = {name: column for column, name in renamed.items()}
    shown = list(ask.shown)
    if "" in shown and len(ask.made) == 1 and ask.made[0].name in shown:
        # `loans per copy: title and that figure`
        shown.remove(ask.made[0].name)
        shown[shown.index("")] = ask.made[0].name
    names = [back.get(name, name) for name in shown if name]
    names += [made.name for made in ask.made if made.name not in names]
    if len(set(names)) < len(names):
        raise Unfit
    if {made.name for made in ask.made}.issuperset(names):
        raise Refused(f"It is not said what is to stand beside {names[0]}.", f"Say: name and {names[0]}, for example.")
    steps.append({"do": "select", "columns": names})
    if renamed:
        if set(renamed.values()) & (set(names) - set(renamed)) or len(set(renamed.values())) < len(renamed):
            raise Refused("Two columns would have the same name.", "Choose another name.")
        steps.append({"do": "rename", "columns": renamed})


def _after(ask: Ask, schema: Schema) -> Schema:
    """The table for the clauses that follow."""
    columns = [replace(one, name=ask.renamed.get(one.name, one.name)) for one in schema.columns]
    gone = {column.name for column in ask.dropped}
    return schema.with_columns([column for column in columns if column.name not in gone])
