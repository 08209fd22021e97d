"""Messy tables and plans over them, by chance but from a seed: nulls, late keys, mixed types, odd texts."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from laneway.lanes.pipeline.values import Row

TEXTS = ["", "a", "A", "é", "e\u0301", "Zürich", "日本", "🙂", "null", "true", "1", "1.0", "NaN", 'q"uote',
         "back\\slash", "new\nline", "tab\t", "[x]", "{y}", '"price":5', "a,b", "2026-01-31", " "]  # fmt: skip
DATES = ["2026-01-31", "2026-02-01T10:00:00Z", "2026-01-31T23:30:00-05:00", "2025-12-31T00:00:00.5", "no date", None]

Chance = random.Random
Cell = Callable[[Chance], Any]

PROFILES: dict[str, Cell] = {
    "ints": lambda chance: chance.randint(-5, 5),
    "floats": lambda chance: chance.choice([0.5, -0.0, 1.25, 2.0, 1e15, 1e-7, 3.3]),
    "texts": lambda chance: chance.choice(TEXTS),
    "words": lambda chance: chance.choice(["red", "green", "blue"]),
    "truths": lambda chance: chance.random() < 0.5,
    "dates": lambda chance: chance.choice(DATES),
    "nullable": lambda chance: chance.choice([None, 1, 2, 3]),
    "nulls": lambda chance: None,
    "numbers": lambda chance: chance.choice([1, 1.0, 2, 2.5, None]),
    "truths and numbers": lambda chance: chance.choice([True, 1, False, 0, 1.0]),
    "mixed": lambda chance: chance.choice([1, "1", 2.5, True, None, [1], {"a": 1}]),
    "huge": lambda chance: chance.choice([2**63, 2**64 + 1, -(2**70), 5, 2**53 + 1]),
    "lists": lambda chance: chance.choice([[], [1], [1.0], [True], ["a", None], {"k": [1]}]),
}


def table(chance: Chance, rows: int, profiles: Sequence[str] = tuple(PROFILES)) -> list[Row]:
    """So many rows of a few columns; some columns miss in some rows, or come late."""
    chosen = chance.sample(list(profiles), min(len(profiles), chance.randint(2, 6)))
    habits = {name: chance.choice(["always", "always", "sometimes", "late"]) for name in chosen}
    made = []
    for place in range(rows):
        row: Row = {"id": place}
        for name in chosen:
            habit = habits[name]
            if habit == "always" or (habit == "sometimes" and chance.random() < 0.7) or (habit == "late" and place > 2):
                row[name] = PROFILES[name](chance)
        made.append(row)
    return made


def value(chance: Chance, rows: Sequence[Row], column: str) -> Any:
    """Something to compare the column with, often one of its own cells."""
    own = [row[column] for row in rows if type(row.get(column)) in (int, float, str, bool)]
    return chance.choice([*own[:5], 1, 2.5, "a"])


def condition(chance: Chance, rows: Sequence[Row], columns: Sequence[str], depth: int = 0) -> dict[str, Any]:
    """A condition over the columns."""
    if depth < 2 and chance.random() < 0.3:
        word = chance.choice(["and", "or", "not"])
        parts = [condition(chance, rows, columns, depth + 1) for _ in range(2)]
        return {word: parts[0] if word == "not" else parts}
    column = chance.choice(list(columns))
    by = chance.choice(["<", "<=", ">", ">=", "==", "!=", "in", "not_in", "contains", "between", "null", "not_null"])
    one = value(chance, rows, column)
    if by in ("<", "<=", ">", ">=", "between") and isinstance(one, bool):
        one = 1
    if chance.random() < 0.15 and by in ("<", ">=", "=="):
        one = {"date": "2026-01-31"}
    elif chance.random() < 0.15 and by in ("<", "<=", ">", ">=", "==", "!="):
        one = {"column": chance.choice(list(columns))}
    given = {"in": [one, "red", None], "not_in": [one, 1], "between": [one, one], "contains": "a"}.get(by, one)
    return {"column": column, "is": by, "value": given} if "null" not in by else {"column": column, "is": by}


def step(chance: Chance, rows: Sequence[Row], columns: Sequence[str]) -> dict[str, Any]:
    """A step over the columns."""
    one, two = chance.choice(list(columns)), chance.choice(list(columns))
    aggregate = {"do": chance.choice(["count", "count_distinct", "min", "max", "sum", "mean", "median"]), "column": two}
    return chance.choice([
        {"do": "filter", "where": condition(chance, rows, columns)},
        {"do": "sort", "by": [{"column": one, "order": chance.choice(["asc", "desc"]),
                               "nulls": chance.choice(["first", "last"])}, {"column": two}]},
        {"do": "top_k", "k": chance.randint(1, 5), "by": one, "order": chance.choice(["asc", "desc"])},
        {"do": "top_k", "k": chance.randint(1, 5), "by": one, "ties": "all"},
        {"do": "top_k", "k": 3},
        {"do": "limit", "count": chance.randint(0, 8), "offset": chance.randint(0, 3)},
        {"do": "sample", "count": 5, "seed": chance.randint(0, 9)},
        {"do": "distinct", "columns": sorted({one, two})},
        {"do": "distinct"},
        {"do": "select", "columns": sorted({one, two})},
        {"do": "rename", "columns": {one: "renamed"}},
        {"do": "compute", "column": "made", "expression": f"coalesce(`{one}`, `{two}`)"},
        {"do": "group_by", "by": [one], "values": {"made": aggregate, "rows": {"do": "count"}}},
        {"do": "beside", "by": [one], "values": {"made": aggregate, "rows": {"do": "count"}}},
        {"do": "beside", "by": [], "values": {"made": {"do": "count_distinct", "column": one}}},
        {"do": "pivot", "index": ["id"] if one != "id" else [two], "columns": one, "values": {"do": "count"}},
        {"do": "summarize"},
        {"do": "summarize", "columns": sorted({one, two})},
        {"do": "join", "table": "other", "left_on": [one], "right_on": ["key"],
         "how": chance.choice(["inner", "left", "right", "full", "semi", "anti"])},
        {"do": "union", "tables": ["other"]},
        {"do": "rank", "by": one, "order": chance.choice(["asc", "desc"]), "within": chance.choice([[], [two]])},
    ])  # fmt: skip


def spelled(rows: Sequence[Row]) -> str:
    """The rows so that 1, 1.0 and true differ, and so does the order of columns."""
    return "\n".join(json.dumps(row, ensure_ascii=True) for row in rows)
