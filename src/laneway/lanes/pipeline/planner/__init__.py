"""Plain English about tables becomes a plan, without a model.

tokens → slots (columns by their names, values by what the cells hold, numbers, dates, comparisons) → a checked plan.
Every word has its place, or the request is refused and the word named. docs/asking-tables.md lists the shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import permutations
from typing import Any, Final

from laneway.errors import BadInput
from laneway.lanes.pipeline.plan import Plan, plan_of
from laneway.lanes.pipeline.planner.match import Request
from laneway.lanes.pipeline.planner.schema import Ask, Column, Figure, Item, Schema, find_keys, join, read_schema, widen
from laneway.lanes.pipeline.planner.shapes import read_ask
from laneway.lanes.pipeline.tables import run
from laneway.lanes.pipeline.values import Row
from laneway.language.politeness import strip_politeness
from laneway.language.refusal import NotUnderstood, Refusal
from laneway.language.tokens import LONGEST, singular, tokenize

__all__ = ["Refusal", "planned"]
_RANKS: Final = {"date", "rank", "share", "time", "priority", "severity", "urgency", "level", "size", "month", "day"}
Tables = Mapping[str, Sequence[Row]]
Step = dict[str, Any]


def planned(prompt: str, tables: Tables, today: date | None = None) -> Plan | Refusal:
    """The plan this request means over these tables, or why it is not plain what it means."""
    if not tables:
        return Refusal("There is no table to work on.", "Give rows with the request.")
    try:
        document = _read_plan(strip_politeness(prompt).core if len(prompt) <= LONGEST else "", tables, today)
        _refuse_ties(document, tables)
        return plan_of(document)
    except NotUnderstood as refused:
        return refused.refusal
    except BadInput as error:
        return Refusal(error.message, error.hint or "")


def _read_plan(text: str, tables: Tables, today: date | None) -> dict[str, Any]:
    tokens = tokenize(text)
    if not tokens:
        raise NotUnderstood(f"The request is empty, or over {LONGEST:,} letters.", "Say what you want to see.")
    schemas = {name: read_schema(name, rows) for name, rows in tables.items()}
    found: dict[str, dict[str, Any]] = {}
    named: list[str] = []
    refused: list[tuple[int, NotUnderstood]] = []
    for name, schema in schemas.items():
        whole = widen(schema, (one for one in schemas.values() if one is not schema))
        request = Request(text, tokens, whole, tuple(schemas), today)
        try:
            found[name] = _build_plan(read_ask(request), whole, schemas, request)
            named += [name] if request.noun else []
        except NotUnderstood as why:
            refused.append((request.furthest, why))
    chosen = named or list(found)
    alone = [name for name in chosen if not any(step["do"] == "join" for step in found[name]["steps"])]
    chosen = alone if len(alone) == 1 else chosen
    if len(chosen) > 1:
        raise NotUnderstood("It is not said which table is meant.", f"Name one of: {', '.join(chosen)}.")
    if not chosen:
        raise max(refused, key=lambda one: one[0])[1]
    return found[chosen[0]]


def _refuse_ties(document: dict[str, Any], tables: Tables) -> None:
    for number, step in enumerate(document["steps"]):
        if step["do"] == "top_k" and step["k"] == 1 and "ties" not in step:
            steps = [*document["steps"][:number], {**step, "ties": "all"}]
            equal = len(run(plan_of({**document, "steps": steps}), tables).rows)
            if equal > 1:
                end = "top" if step["order"] == "desc" else "bottom"
                raise NotUnderstood(f"{equal} have the same {step['by']}.", f"Ask for the {end} {equal} to see them.")


def _build_plan(ask: Ask, schema: Schema, schemas: Mapping[str, Schema], request: Request) -> dict[str, Any]:
    _refuse_contradictions(ask)
    steps = _build_joins(ask, schema, schemas)
    if ask.where:
        steps.append({"do": "filter", "where": join(ask.where)})
    figures = [one for one in (*ask.items, *(by for by, _ in ask.order), *(ask.best or ())) if isinstance(one, Figure)]
    steps += _build_groups(ask, figures) if figures or ask.group or ask.having else _build_rows(ask, request.noun)
    bare = not steps or (len(schemas) > 1 and [step["do"] for step in steps] == ["filter"])
    if bare and not (request.noun or ask.items):
        raise NotUnderstood("The request asks for nothing.", "Say what you want to see, like: the 5 cheapest.")
    return {"from": schema.name, "steps": steps}


def _build_joins(ask: Ask, schema: Schema, schemas: Mapping[str, Schema]) -> list[Step]:
    """A look-up for each other table whose columns are used."""
    columns = {one.name: one for one in schema.columns}
    named: list[Item] = [*ask.items, *ask.group, *(by for by, _ in ask.order), *(one for one, _, _ in ask.having)]
    named += [ask.best[0]] if ask.best else []
    used = [one if isinstance(one, Column) else one.column for one in named]
    used += [columns[test["column"]] for condition in ask.where for test in _read_tests(condition)]
    tables = {one.table for one in used if one is not None and one.table}
    tables |= {ask.joined} if ask.joined and not ask.lacking else set()
    keys = {name: schema.joins.get(name) for name in sorted(tables)}
    if ask.lacking:
        own, other = schemas[schema.name], schemas[ask.lacking]
        pairs = find_keys(own, other) or [(there, here) for here, there in find_keys(other, own)]
        keys[ask.lacking] = pairs[0] if len(pairs) == 1 else None
    steps: list[Step] = []
    for name, pair in keys.items():
        if pair is None:
            raise NotUnderstood(f"{schema.name} and {name} have no key of the same name.", "Give them one.")
        on = {"on": [pair[0]]} if pair[0] == pair[1] else {"left_on": [pair[0]], "right_on": [pair[1]]}
        how = "anti" if name == ask.lacking else "inner" if name == ask.joined else "left"
        steps.append({"do": "join", "table": name, **on, "how": how})
    return steps


def _read_tests(condition: Step) -> list[Step]:
    parts = condition.get("and") or condition.get("or") or ([condition["not"]] if "not" in condition else None)
    return [condition] if parts is None else [test for part in parts for test in _read_tests(part)]


def _refuse_contradictions(ask: Ask) -> None:
    """Conditions that no row can meet are never meant: two groups of rows may have been."""
    tests = [test for condition in ask.where if "or" not in condition for test in _read_tests(condition)]
    for one, other in permutations(tests, 2):
        low, high = (test.get("value") for test in (one, other))
        low, high = (value.get("date") if isinstance(value, dict) else value for value in (low, high))
        apart = one["is"][0] == ">" and other["is"][0] == "<" and type(low) is type(high) and bool(low and low >= high)
        if one["column"] == other["column"] and (apart or (one["is"] == other["is"] == "==" and low != high)):
            raise NotUnderstood(f"No row can meet both conditions on `{one['column']}`.", "Say `or`, or ask for one.")


def _build_rows(ask: Ask, noun: str) -> list[Step]:
    items = [one for one in ask.items if isinstance(one, Column)]
    steps = _build_order(ask, items)
    repeated = len(items) == 1 and items[0].kind == "text" and not items[0].is_unique
    if repeated and ((ask.number or 1) > 1 or (ask.best and not noun)):
        raise NotUnderstood(f"Are rows meant, or each `{items[0].name}` once?", "Say `rows`, or `highest average …`.")
    if ask.best is not None:
        if steps and ask.number in (None, 1):
            raise NotUnderstood("A single best row has no order.", "Leave the order out.")
        by, way = ask.best
        # "Latest prices": all of the latest day; "the cheapest flights": in that order.
        several = ask.number is None and singular(noun) != noun
        if several and ask.by_adjective and isinstance(by, Column) and by.kind == "number":
            steps = [{"do": "sort", "by": [{"column": by.name, "order": way}]}]
        else:
            top = {"do": "top_k", "k": ask.number or 1, "by": by.name, "order": way}
            steps.insert(0, {**top, "ties": "all"} if several else top)
    distinct = ask.distinct or (repeated and not noun and not steps and not ask.where)
    steps += [{"do": "select", "columns": [one.name for one in items]}] if items else []
    return [*steps, {"do": "distinct"}] if distinct and items else steps


def _build_order(ask: Ask, items: Sequence[Item]) -> list[Step]:
    if ask.direction and not ask.order:
        if len(items) != 1:
            raise NotUnderstood("It is not said what it is to be ordered by.", "Name a column behind `order of`.")
        ask.order = [(items[0], ask.direction)]
    for by, _ in ask.order:
        texts = isinstance(by, Column) and by.kind == "text" and _RANKS & set(by.words)
        if texts or (isinstance(by, Column) and by.kind in ("numeral", "day")):
            raise NotUnderstood(f"`{by.name}` is text and has the alphabet's order.", "Name another column.")
    keys = [{"column": by.name, "order": direction} for by, direction in ask.order]
    steps: list[Step] = [{"do": "sort", "by": keys}] if keys else []
    if ask.number is None or ask.best is not None:
        return steps
    end = {"from": "end"} if ask.end in ("bottom", "last") else {}
    return [*steps, {"do": "limit", "count": ask.number, **end}]


def _build_groups(ask: Ask, figures: list[Figure]) -> list[Step]:
    """One row for each group, or one for all rows."""
    items = [one for one in ask.items if isinstance(one, Column)]
    shown = [one for one in ask.items if isinstance(one, Figure)]
    each = ask.having or ask.best or ask.distinct or len(shown) < len(figures)
    group = ask.group or (items if each else [])
    if any(one.is_label and one.is_unique for one in group) and (ask.having or ask.best):
        raise NotUnderstood(f"Each `{group[0].name}` stands in one row only.", "Name what is counted for.")
    for one in items:
        if one not in group:
            raise NotUnderstood(f"`{one.name}` and a figure of many rows do not go together.", "Say `for each …`.")
    if not group and (ask.best or ask.having or ask.order or ask.number):
        raise NotUnderstood("It is not said what is counted for.", "Say `for each …`.")
    best = ask.best[0] if ask.best else None
    if isinstance(best, Column):
        best = next((one for one in shown if one.column == best), None)
        if best is None or len(shown) > 1:
            raise NotUnderstood("It is not said which figure shall be the best.", "Say `the highest average …`.")
    every = list(dict.fromkeys([*figures, *(one for one, _, _ in ask.having)])) or [Figure("count")]
    values = {one.name: {"do": one.do} | ({"column": one.column.name} if one.column else {}) for one in every}
    named = [{"column": one.name, "is": "not_null"} for one in group if one.has_empty and (ask.having or ask.best)]
    steps: list[Step] = [{"do": "filter", "where": join(named)}] if named else []
    steps.append({"do": "group_by", "by": [one.name for one in group], "values": values})
    if ask.having:
        tests = [{"column": one.name, "is": by, "value": value} for one, by, value in ask.having]
        steps.append({"do": "filter", "where": join(tests)})
    if ask.best is not None and best is not None:
        steps.append({"do": "top_k", "k": ask.number or 1, "by": best.name, "order": ask.best[1]})
    ask.order = [(next((one for one in shown if one.column == by), by), way) for by, way in ask.order]
    if any(by not in (*every, *group) for by, _ in ask.order) or (ask.number and not (ask.order or ask.best)):
        raise NotUnderstood("It is not said which groups come first.", "Say `… by COLUMN, highest first`.")
    steps += _build_order(ask, shown or group)
    figures_shown = [] if ask.having or ask.best or ask.order else every
    names = [one.name for one in ask.items or [*group, *figures_shown]]
    if ask.group and not any(one in ask.items for one in group):
        names = list(dict.fromkeys([*(one.name for one in group), *names]))
    return steps if names == [*(one.name for one in group), *values] else [*steps, {"do": "select", "columns": names}]
