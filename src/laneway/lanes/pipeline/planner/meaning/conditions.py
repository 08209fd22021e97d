"""All conditions of a clause as one; contradictions and mixtures that could be read in two ways are refused."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from laneway.lanes.pipeline.planner.meaning.ask import Ask
from laneway.lanes.pipeline.planner.parts.bounds import plausible
from laneway.lanes.pipeline.planner.parts.pieces import Test, Where
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Schema


def where_of(ask: Ask) -> Where | None:
    """All conditions as one; Refused if `and` and `or` are mixed so that both readings make sense."""
    groups: list[list[Where]] = []
    ties: set[str] = set()
    for tie, test in ask.tests:
        one = test.where
        same = groups and tie == "or" and column_of(one) is not None and column_of(one) == column_of(groups[-1][-1])
        if same:
            groups[-1].append(one)
        else:
            if groups:
                ties.add(tie or "and")
            groups.append([one])
    parts = [group[0] if len(group) == 1 else {"or": group} for group in groups]
    if len(ties) > 1:
        raise Refused("`and` and `or` are mixed, and it is not plain which belongs together.", "Ask in two steps.")
    tied: list[Where] = [{"or": parts}] if ties == {"or"} else parts
    every = [part for one in (*(test.where for test in ask.before), *tied) for part in one.get("and", [one])]
    every = list({repr(one): one for one in every}.values())
    _refuse_contradictions(every)
    if not every:
        return None
    return every[0] if len(every) == 1 else {"and": every}


def refuse_two_subjects(ask: Ask, schema: Schema) -> None:
    """A number without a column may go on with the column before it; Refused if that is another one."""
    tests = [test for _, test in ask.tests]
    for before, test in pairwise(tests):
        column = schema.column(str(before.where.get("column")))
        value = test.where.get("value")
        if not test.bare or column is None or column.kind != "number" or column.name == test.where.get("column"):
            continue
        if isinstance(value, int | float) and plausible(column, value):
            raise Refused(f"The number may be about {column.name} or {test.where.get('column')}.", "Name the column.")


def _refuse_contradictions(every: list[Where]) -> None:
    """Nobody asks for rows that cannot exist: then the words meant something else."""
    for place, one in enumerate(every):
        for other in every[:place]:
            if one.get("column") == other.get("column") and "column" in one:
                _refuse_contradiction(other, one)


def _refuse_contradiction(other: Where, one: Where) -> None:
    pair = (other, one)
    if {two["is"] for two in pair} & {"null"} and one["is"] != other["is"]:
        raise Refused(f"No row can be both as far as {one['column']} goes.", "Say `or` if either will do.")
    values = [_listed(two.get("value")) for two in pair]
    same = all(two["is"] in ("==", "in") for two in pair) and not set(map(str, values[0])) & set(map(str, values[1]))
    low = next((two["value"] for two in pair if two["is"] in (">", ">=")), None)
    high = next((two["value"] for two in pair if two["is"] in ("<", "<=")), None)
    apart = isinstance(low, int | float) and isinstance(high, int | float) and low > high
    if same or apart or _beyond(other, one) or _beyond(one, other):
        raise Refused(f"No row can be both as far as {one['column']} goes.", "Say `or` if either will do.")


def _beyond(exact: Where, bound: Where) -> bool:
    """Whether the one number that is asked for lies outside the bound: `under 2 hours (120 min)`."""
    value, end = exact.get("value"), bound.get("value")
    if exact["is"] != "==" or not isinstance(value, int | float) or not isinstance(end, int | float):
        return False
    within = {"<": value < end, "<=": value <= end, ">": value > end, ">=": value >= end}
    return not within.get(bound["is"], True)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def doubtful(ask: Ask) -> list[Where]:
    """The conditions that may be meant of one row of a thing or of all: what it is not, lacks, or is measured."""
    found = [test for test in tested(ask) if test.negated or _lacks(test.where)]
    return [test.where for test in found]


def _lacks(where: Where) -> bool:
    value = where.get("value")
    measured = isinstance(value, int | float) and not isinstance(value, bool)
    return where.get("is") == "null" or (measured and where.get("is") != "==") or value == 0


def column_of(where: Where) -> str | None:
    """The one column that a condition is about; None if there are several."""
    if "column" in where:
        return str(where["column"])
    parts: list[Where] = where.get("and") or where.get("or") or ([where["not"]] if "not" in where else [])
    inner = {column_of(part) for part in parts}
    return inner.pop() if len(inner) == 1 else None


def mentioned(where: Where) -> set[str]:
    """Every column the condition looks at."""
    if "column" in where:
        value = where.get("value")
        return {where["column"]} | ({value["column"]} if isinstance(value, dict) and "column" in value else set())
    inner = where.get("and") or where.get("or") or [where["not"]]
    return {name for part in inner for name in mentioned(part)}


def tested(ask: Ask) -> list[Test]:
    """Every condition of the clause."""
    return [*ask.before, *(test for _, test in ask.tests)]
