"""The engine has fast ways for columns of one type; here each is held to the plainest code there is."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

import pytest

from laneway.errors import BadInput
from laneway.lanes.pipeline.plan import plan_of
from laneway.lanes.pipeline.tables import run
from laneway.lanes.pipeline.values import Row
from tests.lanes.pipeline import messy

KINDS = [type(None), bool, (int, float), str, list, dict]


def kind(value: Any) -> int:
    return next(place for place, of in enumerate(KINDS) if isinstance(value, of))  # type: ignore[arg-type]


def equal(left: Any, right: Any) -> bool:
    if kind(left) != kind(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[name], right[name]) for name in left)
    return bool(left == right)


def order(left: Any, right: Any) -> int:
    """Below 0 if left comes first."""
    if kind(left) != kind(right):
        return kind(left) - kind(right)
    if isinstance(left, list):
        for one, other in zip(left, right, strict=False):
            if (found := order(one, other)) != 0:
                return found
        return len(left) - len(right)
    if isinstance(left, dict):
        return order([[*pair] for pair in sorted(left.items())], [[*pair] for pair in sorted(right.items())])
    return 0 if left is None or left == right else -1 if left < right else 1


def sort(rows: list[Row], column: str, descending: bool, nulls_first: bool) -> list[Row]:
    full = [row for row in rows if row.get(column) is not None]
    empty = [row for row in rows if row.get(column) is None]
    sign = -1 if descending else 1
    full.sort(key=cmp_to_key(lambda one, other: sign * order(one[column], other[column])))
    return empty + full if nulls_first else full + empty


def groups(rows: list[Row], columns: list[str]) -> list[list[Row]]:
    made: list[list[Row]] = []
    for row in rows:
        for one in made:
            if all(equal(row.get(column), one[0].get(column)) for column in columns):
                one.append(row)
                break
        else:
            made.append([row])
    return made


def by_chance(seed: str, times: int = 150) -> list[tuple[random.Random, list[Row], list[str]]]:
    chance = random.Random(seed)
    tables = [messy.table(chance, chance.choice([1, 4, 25])) for _ in range(times)]
    return [(chance, rows, sorted({name for row in rows for name in row})) for rows in tables]


def done(rows: list[Row], *steps: dict[str, Any], **others: list[Row]) -> list[Row]:
    return list(run(plan_of({"from": "table", "steps": list(steps)}), {"table": rows, **others}).rows)


def test_sorting_and_the_best_of_a_sort() -> None:
    for chance, rows, columns in by_chance("sort"):
        column, down, first = chance.choice(columns), chance.random() < 0.5, chance.random() < 0.5
        key = {"column": column, "order": "desc" if down else "asc", "nulls": "first" if first else "last"}
        assert messy.spelled(done(rows, {"do": "sort", "by": [key]})) == messy.spelled(sort(rows, column, down, first))
        best = {"do": "top_k", "k": 4, "by": column, "order": key["order"]}
        assert messy.spelled(done(rows, best)) == messy.spelled(sort(rows, column, down, False)[:4])


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda cell, value: kind(cell) == kind(value) and order(cell, value) < 0,
    "<=": lambda cell, value: kind(cell) == kind(value) and order(cell, value) <= 0,
    ">": lambda cell, value: kind(cell) == kind(value) and order(cell, value) > 0,
    ">=": lambda cell, value: kind(cell) == kind(value) and order(cell, value) >= 0,
    "==": equal,
    "!=": lambda cell, value: not equal(cell, value),
}


@pytest.mark.parametrize("by", COMPARISONS)
def test_filtering(by: str) -> None:
    for chance, rows, columns in by_chance(f"filter{by}", 60):
        column = chance.choice(columns)
        value = messy.value(chance, rows, column)
        if isinstance(value, bool) and by not in ("==", "!="):
            continue
        kept = done(rows, {"do": "filter", "where": {"column": column, "is": by, "value": value}})
        assert kept == [row for row in rows if COMPARISONS[by](row.get(column), value)], (column, by, value)


@pytest.mark.parametrize("by", COMPARISONS)
def test_filtering_by_another_column(by: str) -> None:
    for chance, rows, columns in by_chance(f"beside{by}", 60):
        column, other = chance.choice(columns), chance.choice(columns)
        kept = done(rows, {"do": "filter", "where": {"column": column, "is": by, "value": {"column": other}}})
        assert kept == [row for row in rows if beside(row.get(column), by, row.get(other))], (column, by, other)


def beside(one: Any, by: str, other: Any) -> bool:
    """An empty cell equals none, and lies on no side of any; lists, objects and true or false have no sides."""
    if by in ("==", "!="):
        return (one is not None and equal(one, other)) is (by == "==")
    return isinstance(one, int | float | str) and not isinstance(one, bool) and COMPARISONS[by](one, other)


def test_grouping_and_counting() -> None:
    for chance, rows, columns in by_chance("group"):
        by, of = chance.sample(columns, min(2, len(columns))), chance.choice(columns)
        values = {"#": {"do": "count"}, "#cells": {"do": "count", "column": of},
                  "#different": {"do": "count_distinct", "column": of}}  # fmt: skip
        plain = []
        for one in groups(rows, by):
            full = [row for row in one if row.get(of) is not None]
            key = {column: one[0].get(column) for column in by}
            plain.append({**key, "#": len(one), "#cells": len(full), "#different": len(groups(full, [of]))})
        assert messy.spelled(done(rows, {"do": "group_by", "by": by, "values": values})) == messy.spelled(plain)
        assert messy.spelled(done(rows, {"do": "distinct", "columns": by})) == messy.spelled(
            [one[0] for one in groups(rows, by)]
        )


@pytest.mark.parametrize("profile", ["ints", "floats", "nullable", "numbers", "huge"])
def test_reckoning_is_exact(profile: str) -> None:
    chance = random.Random(profile)
    for _ in range(100):
        rows = messy.table(chance, 15, [profile, "words"])
        if profile not in {name for row in rows for name in row}:
            continue
        cells = [row[profile] for row in rows if row.get(profile) is not None]
        values = {do: {"do": do, "column": profile} for do in ("sum", "mean", "median", "min", "max")}
        try:
            [found] = done(rows, {"do": "group_by", "by": [], "values": values})
        except BadInput:
            assert profile == "huge"
            continue
        if not cells:
            assert set(found.values()) == {None}
            continue
        exact = sum(map(Fraction, cells))
        assert found["sum"] == (exact if float not in set(map(type, cells)) else float(exact))
        assert found["mean"] == pytest.approx(float(exact / len(cells)), rel=1e-15)
        assert found["median"] == statistics.median(cells)
        assert (found["min"], found["max"]) == (min(cells), max(cells))


@pytest.mark.parametrize("how", ["inner", "left", "anti"])
def test_joining(how: str) -> None:
    for chance, rows, columns in by_chance(f"join{how}"):
        column = chance.choice(columns)
        other = [{"key": row.get(column), "more": place} for place, row in enumerate(rows[5:9])]
        other += [{"key": row.get(column), "more": -place} for place, row in enumerate(rows[:4])]
        plain: list[Row] = []
        for row in rows:
            partners = [one for one in other if row.get(column) is not None and equal(one["key"], row.get(column))]
            if how == "anti":
                plain += [] if partners else [row]
            elif how == "left" and not partners:
                plain.append({**row, "key": None, "more": None})
            else:
                plain += [{**row, **one} for one in partners]
        step = {"do": "join", "table": "other", "left_on": [column], "right_on": ["key"], "how": how}
        assert messy.spelled(done(rows, step, other=other)) == messy.spelled(plain)
